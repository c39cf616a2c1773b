//! Inserting jobs on PostgreSQL, any number in one statement.

mod change;
mod columns;
mod group;
mod put;
mod rounds;

use diesel::pg::{Pg, PgConnection};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::BigInt;
use diesel::{QueryResult, RunQueryDsl};

use crate::job::NewJob;
use crate::protocol::Answer;
use crate::unique::Enqueued;
use columns::Columns;
use group::Due;

/// The ids are drawn first, so that the n-th id belongs to the n-th job: `INSERT … RETURNING` promises no
/// order (field report H25).
const HEAD: &str = "WITH given AS MATERIALIZED (\
    SELECT nextval(pg_get_serial_sequence('claimstore_jobs', 'id')) AS id, given.* FROM unnest(";
const TAIL: &str = ") WITH ORDINALITY AS given(\
    kind, payload, queue, priority, delay, run_at, max_failures, max_crashes, idempotent, place)), \
    put AS (INSERT INTO \"claimstore_jobs\" (\"id\", \"kind\", \"payload\", \"queue\", \"priority\", \"due\", \
    \"max_failures\", \"max_crashes\", \"idempotent\") \
    SELECT id, kind, payload, queue, priority, \
    COALESCE(run_at, clock_timestamp() + delay * interval '1 microsecond'), \
    max_failures, max_crashes, idempotent FROM given ORDER BY place) \
    SELECT id FROM given ORDER BY place";

/// Where no job has a key nothing can be in the way, and one statement does it.
pub(super) fn enqueue(conn: &mut PgConnection, jobs: &[NewJob]) -> Answer<Vec<Enqueued>> {
    if jobs.iter().any(|job| job.unique.is_some()) {
        return rounds::enqueue(conn, jobs);
    }
    let mut all = Columns::default();
    for job in jobs {
        all.push(job, Due::of(job));
    }
    let ids: Vec<i64> = Insert(all).load(conn)?;
    Ok(Ok(ids.into_iter().map(|id| Enqueued::New { id }).collect()))
}

#[derive(Debug)]
struct Insert(Columns);

impl QueryId for Insert {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Insert {
    type SqlType = BigInt;
}

impl RunQueryDsl<PgConnection> for Insert {}

impl QueryFragment<Pg> for Insert {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(HEAD);
        self.0.walk(&mut out)?;
        out.push_sql(TAIL);
        Ok(())
    }
}
