//! Making pending rows into the new jobs.

use diesel::pg::{Pg, PgConnection};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool};
use diesel::{QueryResult, RunQueryDsl};

use super::columns::Columns;
use super::group::Wish;

const HEAD: &str = "WITH given AS MATERIALIZED (\
    SELECT given.*, GREATEST(run_at, clock_timestamp() + delay * interval '1 microsecond') AS due FROM unnest(";
/// Locked in id order, as every other statement over several rows does, and only while they are pending: a
/// row that was claimed meanwhile is left alone. A limit that is used up already would leave a row that nobody
/// may claim and nobody ends, so one more try is left.
///
/// What is given travels along in `mine`: joined once more, it would be run through for each row by a plan made for
/// any number of them.
const TAIL: &str = ") AS given(kind, payload, queue, priority, delay, run_at, max_failures, max_crashes, \
    idempotent, id, put_off)), \
    mine AS MATERIALIZED (SELECT given.* FROM \"claimstore_jobs\" AS jobs \
    JOIN given ON given.id = jobs.\"id\" WHERE jobs.\"state\" = 'pending' \
    ORDER BY jobs.\"id\" FOR NO KEY UPDATE OF jobs) \
    UPDATE \"claimstore_jobs\" AS jobs SET \"payload\" = mine.payload, \"queue\" = mine.queue, \
    \"priority\" = mine.priority, \
    \"due\" = CASE WHEN mine.put_off THEN GREATEST(jobs.\"due\", mine.due) ELSE mine.due END, \
    \"max_failures\" = GREATEST(mine.max_failures, LEAST(jobs.\"failures\", 2147483646) + 1), \
    \"max_crashes\" = GREATEST(mine.max_crashes, LEAST(jobs.\"crashes\", 2147483646) + 1), \
    \"idempotent\" = mine.idempotent \
    FROM mine WHERE jobs.\"id\" = mine.id AND jobs.\"state\" = 'pending' RETURNING jobs.\"id\"";

#[derive(Debug, Default)]
pub(super) struct Change {
    columns: Columns,
    ids: Vec<i64>,
    put_off: Vec<bool>,
}

impl Change {
    /// The row with this id becomes that.
    pub(super) fn push(&mut self, id: i64, wish: &Wish<'_>) {
        self.columns.push(wish.job, wish.due);
        self.ids.push(id);
        self.put_off.push(wish.put_off);
    }

    /// The ids of the rows that were changed.
    pub(super) fn send(self, conn: &mut PgConnection) -> QueryResult<Vec<i64>> {
        if self.columns.is_empty() { Ok(Vec::new()) } else { self.load(conn) }
    }
}

impl QueryId for Change {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Change {
    type SqlType = BigInt;
}

impl RunQueryDsl<PgConnection> for Change {}

impl QueryFragment<Pg> for Change {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(HEAD);
        self.columns.walk(&mut out)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<BigInt>, _>(&self.ids)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Bool>, _>(&self.put_off)?;
        out.push_sql(TAIL);
        Ok(())
    }
}
