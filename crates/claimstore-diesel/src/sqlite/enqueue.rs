//! Inserting jobs on SQLite, one after the other in the transaction of the caller.

use claimstore_core::Timestamp;
use diesel::prelude::*;

use super::unique;
use crate::job::NewJob;
use crate::protocol::Answer;
use crate::schema::claimstore_jobs::dsl;
use crate::sql_types::At;
use crate::unique::Enqueued;

pub(super) fn enqueue(conn: &mut SqliteConnection, jobs: &[NewJob]) -> Answer<Vec<Enqueued>> {
    let now = Timestamp::of_this_host();
    let enqueue = |job: &NewJob| match &job.unique {
        Some(key) => unique::enqueue(conn, job, key, now),
        None => insert(conn, job, now).map(|id| Enqueued::New { id }),
    };
    jobs.iter().map(enqueue).collect::<QueryResult<_>>().map(Ok)
}

/// When a job is due.
pub(super) fn due(job: &NewJob, now: Timestamp) -> Timestamp {
    job.at.unwrap_or_else(|| now.after(job.delay))
}

/// One cached statement.
fn insert(conn: &mut SqliteConnection, job: &NewJob, now: Timestamp) -> QueryResult<i64> {
    diesel::insert_into(dsl::claimstore_jobs)
        .values((
            dsl::kind.eq(&job.kind),
            dsl::payload.eq(&job.payload),
            dsl::queue.eq(&job.queue),
            dsl::priority.eq(job.priority),
            dsl::due.eq(At(due(job, now))),
            dsl::max_failures.eq(job.max_failures),
            dsl::max_crashes.eq(job.max_crashes),
            dsl::idempotent.eq(job.idempotent),
            dsl::created_at.eq(At(now)),
        ))
        .returning(dsl::id)
        .get_result(conn)
}
