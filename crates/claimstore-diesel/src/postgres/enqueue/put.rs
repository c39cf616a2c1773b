//! Inserting what is not there.

use std::collections::HashSet;

use diesel::pg::{Pg, PgConnection};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text};
use diesel::{QueryResult, RunQueryDsl};

use super::columns::Columns;
use super::group::{Found, Group};

/// `given`, in the order of the batch. Due times are taken here, so that they go up in that order.
const HEAD: &str = "WITH given AS MATERIALIZED (\
    SELECT given.*, GREATEST(run_at, clock_timestamp() + delay * interval '1 microsecond') AS due FROM unnest(";
/// * `taken`: a key that can be seen to be taken costs no id (field report H53). `ON CONFLICT` alone would
///   draw one for each row it then leaves out.
/// * `fresh`: ids in the order of the batch, so that the n-th id belongs to the n-th job.
/// * `put`: in key order, so that two batches never wait for each other in a ring. A row that another
///   transaction has inserted meanwhile is waited for and left out; whoever is in none of the answers is
///   looked at again.
const TAIL: &str = ") WITH ORDINALITY AS given(\
    kind, payload, queue, priority, delay, run_at, max_failures, max_crashes, idempotent, unique_key, place)), \
    taken AS MATERIALIZED (SELECT given.place, jobs.\"id\", \
    CASE jobs.\"state\" WHEN 'pending' THEN 1 ELSE 2 END AS found \
    FROM given JOIN \"claimstore_jobs\" AS jobs \
    ON jobs.\"kind\" = given.kind AND jobs.\"unique_key\" = given.unique_key \
    WHERE jobs.\"unique_key\" IS NOT NULL AND jobs.\"state\" IN ('pending', 'running', 'uncertain')), \
    fresh AS MATERIALIZED (SELECT nextval(pg_get_serial_sequence('claimstore_jobs', 'id')) AS id, given.* \
    FROM given WHERE place NOT IN (SELECT taken.place FROM taken) ORDER BY place), \
    put AS (INSERT INTO \"claimstore_jobs\" (\"id\", \"kind\", \"unique_key\", \"payload\", \"queue\", \
    \"priority\", \"due\", \"max_failures\", \"max_crashes\", \"idempotent\") \
    SELECT id, kind, unique_key, payload, queue, priority, due, max_failures, max_crashes, idempotent \
    FROM fresh ORDER BY kind COLLATE \"C\", unique_key COLLATE \"C\" \
    ON CONFLICT (\"kind\", \"unique_key\") \
    WHERE \"unique_key\" IS NOT NULL AND \"state\" IN ('pending', 'running', 'uncertain') \
    DO NOTHING RETURNING \"id\") \
    SELECT place, id, found FROM taken UNION ALL SELECT place, id, 0 FROM fresh \
    UNION ALL SELECT NULL, \"id\", 3 FROM put";

/// The numbers by which `TAIL` tells of a row.
const FRESH: i32 = 0;
const WAITING: i32 = 1;
const PUT: i32 = 3;

#[derive(Debug, Default)]
pub(super) struct Put {
    columns: Columns,
    keys: Vec<Option<String>>,
}

impl Put {
    pub(super) fn of(groups: &[Group<'_>]) -> Put {
        let mut put = Put::default();
        for group in groups {
            let row = group.new_row();
            put.columns.push(row.job, row.due);
            put.keys.push(row.job.unique.clone());
        }
        put
    }

    /// What was found for each group; nothing where another transaction was in the way and what it has made
    /// of the key cannot be seen yet.
    pub(super) fn send(self, conn: &mut PgConnection) -> QueryResult<Vec<Option<Found>>> {
        let mut found = vec![None; self.keys.len()];
        let rows: Vec<(Option<i64>, i64, i32)> = self.load(conn)?;
        // Matched here: a plan made for any number of rows could run through one list for each of the other.
        let put: HashSet<i64> = rows.iter().filter(|(.., how)| *how == PUT).map(|(_, id, _)| *id).collect();
        for (place, id, how) in rows {
            let place = place.and_then(|place| usize::try_from(place - 1).ok());
            let Some(found) = place.and_then(|place| found.get_mut(place)) else { continue };
            *found = match how {
                FRESH => put.contains(&id).then_some(Found::New(id)),
                WAITING => Some(Found::Waiting(id)),
                _ => Some(Found::Busy(id)),
            };
        }
        Ok(found)
    }
}

impl QueryId for Put {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Put {
    type SqlType = (Nullable<BigInt>, BigInt, Integer);
}

impl RunQueryDsl<PgConnection> for Put {}

impl QueryFragment<Pg> for Put {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(HEAD);
        self.columns.walk(&mut out)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Text>>, _>(&self.keys)?;
        out.push_sql(TAIL);
        Ok(())
    }
}
