//! Inserting jobs on PostgreSQL, any number in one statement.

use diesel::pg::{Pg, PgConnection};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};
use diesel::{QueryResult, RunQueryDsl};

use crate::job::NewJob;
use crate::sql_types::{At, Instant};

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

#[derive(Debug, Default)]
struct Enqueue {
    kinds: Vec<String>,
    payloads: Vec<String>,
    queues: Vec<String>,
    priorities: Vec<i32>,
    delays: Vec<i64>,
    at: Vec<Option<At>>,
    max_failures: Vec<i32>,
    max_crashes: Vec<i32>,
    idempotent: Vec<bool>,
}

pub(super) fn enqueue(conn: &mut PgConnection, jobs: &[NewJob]) -> QueryResult<Vec<i64>> {
    let mut all = Enqueue::default();
    for job in jobs {
        all.kinds.push(job.kind.clone());
        all.payloads.push(job.payload.clone());
        all.queues.push(job.queue.clone());
        all.priorities.push(job.priority);
        all.delays.push(i64::try_from(job.delay.as_micros()).unwrap_or(i64::MAX));
        all.at.push(job.at.map(At));
        all.max_failures.push(job.max_failures);
        all.max_crashes.push(job.max_crashes);
        all.idempotent.push(job.idempotent);
    }
    all.load(conn)
}

impl QueryId for Enqueue {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Enqueue {
    type SqlType = BigInt;
}

impl RunQueryDsl<PgConnection> for Enqueue {}

impl QueryFragment<Pg> for Enqueue {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(HEAD);
        out.push_bind_param::<Array<Text>, _>(&self.kinds)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.payloads)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.queues)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.priorities)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<BigInt>, _>(&self.delays)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Instant>>, _>(&self.at)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.max_failures)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.max_crashes)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Bool>, _>(&self.idempotent)?;
        out.push_sql(TAIL);
        Ok(())
    }
}
