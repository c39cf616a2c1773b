//! Inserting jobs on SQLite: one cached statement a row, in the transaction of the caller.

use claimstore_core::Timestamp;
use diesel::prelude::*;

use crate::job::NewJob;
use crate::schema::claimstore_jobs::dsl;
use crate::sql_types::At;

pub(super) fn enqueue(conn: &mut SqliteConnection, jobs: &[NewJob]) -> QueryResult<Vec<i64>> {
    let now = Timestamp::of_this_host();
    let insert = |job: &NewJob| {
        diesel::insert_into(dsl::claimstore_jobs)
            .values((
                dsl::kind.eq(&job.kind),
                dsl::payload.eq(&job.payload),
                dsl::queue.eq(&job.queue),
                dsl::priority.eq(job.priority),
                dsl::due.eq(At(job.at.unwrap_or_else(|| now.after(job.delay)))),
                dsl::max_failures.eq(job.max_failures),
                dsl::max_crashes.eq(job.max_crashes),
                dsl::idempotent.eq(job.idempotent),
                dsl::created_at.eq(At(now)),
            ))
            .returning(dsl::id)
            .get_result(conn)
    };
    jobs.iter().map(insert).collect()
}
