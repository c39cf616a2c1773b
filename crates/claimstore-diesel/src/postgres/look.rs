//! What PostgreSQL's own catalogs tell of a table and a row.

use claimstore_core::{Blocker, Timestamp};
use diesel::deserialize::{self, QueryableByName};
use diesel::pg::{Pg, PgConnection};
use diesel::row::NamedRow;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{QueryResult, RunQueryDsl};

use crate::dialect::Dialect;
use crate::query::{Reader, blockers};
use crate::table::ClaimOn;

#[derive(diesel::QueryableByName)]
struct Estimate {
    #[diesel(sql_type = Nullable<BigInt>)]
    rows: Option<i64>,
}

/// From the statistics that ANALYZE has left; none before its first run.
pub(super) fn estimate(
    conn: &mut PgConnection,
    table: &str,
    state: &str,
    word: &str,
) -> QueryResult<Option<u64>> {
    let estimate: Option<Estimate> = diesel::sql_query(
        "SELECT (c.reltuples * f.part)::bigint AS rows \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = $2 \
         CROSS JOIN LATERAL (SELECT freq AS part FROM \
             unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS common(val, freq) \
             WHERE val = $3) AS f \
         WHERE c.oid = to_regclass($1) AND c.reltuples >= 0",
    )
    .bind::<Text, _>(table)
    .bind::<Text, _>(state)
    .bind::<Text, _>(word)
    .load(conn)?
    .pop();
    Ok(estimate.and_then(|found| found.rows).and_then(|rows| u64::try_from(rows).ok()))
}

/// The transaction that has the row locked; of several the one that began first.
pub(super) fn blocker<T: ClaimOn<Pg>>(conn: &mut PgConnection, key: &T::Key) -> QueryResult<Option<Blocker>> {
    let mut found: Vec<Found> = Pg::load(conn, blockers::<T>(key))?;
    Ok(found.pop().map(|Found(blocker)| blocker))
}

struct Found(Blocker);

impl QueryableByName<Pg> for Found {
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> deserialize::Result<Self> {
        let mut reader = Reader { row, at: 0 };
        let pid = reader.next(Pg::read_i32)?.unwrap_or_default();
        let application = reader.next(Pg::read_text)?;
        let role = reader.next(Pg::read_text)?;
        let since: Option<Timestamp> = reader.next(Pg::read_instant)?;
        let state = reader.next(Pg::read_text)?;
        // What a role may not see reads so.
        let query = reader.next(Pg::read_text)?.filter(|query| query != "<insufficient privilege>");
        Ok(Found(Blocker { pid, application, role, since, state, query }))
    }
}
