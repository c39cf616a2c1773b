//! Dead rows, and who keeps them alive (field report H83).

use std::fmt;

use diesel::pg::PgConnection;
use diesel::sql_types::{BigInt, Bool, Double, Integer, Oid, Text};
use diesel::{OptionalExtension, QueryResult, RunQueryDsl};

use super::Found;
use super::table::Table;
use crate::verify::finding::{Check, Finding};

/// Fewer dead rows than this are stepped over in no time.
const MANY: i64 = 10_000;

/// More than this part of the table.
const PART: f64 = 0.2;

/// A transaction as old as this is not one of the library's, and was hardly meant to be.
const OLD: f64 = 600.0;

#[derive(diesel::QueryableByName)]
struct Rows {
    #[diesel(sql_type = BigInt)]
    live: i64,
    #[diesel(sql_type = BigInt)]
    dead: i64,
    #[diesel(sql_type = Bool)]
    switched_off: bool,
}

/// A session that holds a snapshot.
#[derive(Debug, diesel::QueryableByName)]
struct Holder {
    #[diesel(sql_type = Integer)]
    pid: i32,
    #[diesel(sql_type = Text)]
    application: String,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    since: String,
    #[diesel(sql_type = Double)]
    seconds: f64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holder { pid, application, state, since, .. } = self;
        write!(f, "pid {pid}, application {application:?}, {state}, its transaction open since {since}")
    }
}

impl Holder {
    fn end(&self) -> String {
        format!("SELECT pg_terminate_backend({});", self.pid)
    }
}

pub(super) fn look(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    let rows: Rows = diesel::sql_query(
        "SELECT coalesce(pg_stat_get_live_tuples(c.oid), 0) AS live, \
         coalesce(pg_stat_get_dead_tuples(c.oid), 0) AS dead, \
         EXISTS (SELECT FROM pg_options_to_table(c.reloptions) WHERE option_name = 'autovacuum_enabled' \
         AND NOT option_value::boolean) AS switched_off FROM pg_class AS c WHERE c.oid = $1",
    )
    .bind::<Oid, _>(table.oid)
    .get_result(conn)?;
    let name = &table.text.table;
    let mut found = Vec::new();
    if rows.switched_off {
        let says = format!("autovacuum is switched off for {name}: the dead rows of each claim stay");
        let mend = table.alter("RESET (autovacuum_enabled)");
        found.push(Finding::warning(Check::Vacuum, says).mend(mend));
    }
    if is_bloated(rows.live, rows.dead) {
        let says = format!(
            "{name} has about {} dead rows beside {} live ones, and each claim steps over them",
            rows.dead, rows.live
        );
        found.push(
            match oldest(conn)? {
                // Until it ends VACUUM can take nothing that was alive when it began.
                Some(holder) => Finding::warning(
                    Check::Vacuum,
                    format!("{says}. The oldest snapshot, which may keep them, has {holder}"),
                ),
                None => Finding::warning(Check::Vacuum, says),
            }
            .mend(format!("VACUUM (ANALYZE) {name};")),
        );
    }
    Ok(found)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate is compared")]
fn is_bloated(live: i64, dead: i64) -> bool {
    dead > MANY && dead as f64 > PART * (live + dead) as f64
}

pub(super) fn old_transactions(conn: &mut PgConnection) -> Found {
    Ok(oldest(conn)?.and_then(|holder| too_old(&holder)).into_iter().collect())
}

fn too_old(holder: &Holder) -> Option<Finding> {
    if holder.seconds <= OLD {
        return None;
    }
    let says = format!("a snapshot as old as this keeps all rows alive that died since: {holder}");
    Some(Finding::warning(Check::OldTransaction, says).mend(holder.end()))
}

/// Of this database, as far as this role may see: of other roles' sessions the server shows it nothing unless it
/// is a member of `pg_read_all_stats`.
fn oldest(conn: &mut PgConnection) -> QueryResult<Option<Holder>> {
    diesel::sql_query(
        "SELECT pid, coalesce(application_name, '') AS application, coalesce(state, '') AS state, \
         to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC' AS since, \
         extract(epoch FROM clock_timestamp() - xact_start)::double precision AS seconds \
         FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
         AND backend_xmin IS NOT NULL AND xact_start IS NOT NULL AND backend_type = 'client backend' \
         ORDER BY age(backend_xmin) DESC, xact_start LIMIT 1",
    )
    .get_result(conn)
    .optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_and_a_good_part_of_the_table_are_too_many() {
        assert!(is_bloated(40_000, 10_001));
        assert!(!is_bloated(0, 10_000));
        assert!(!is_bloated(1_000_000, 20_000));
    }

    #[test]
    fn a_transaction_is_old_after_ten_minutes() {
        let mut holder = Holder {
            pid: 7,
            application: "psql".to_owned(),
            state: "idle in transaction".to_owned(),
            since: "2026-01-31 12:00:00 UTC".to_owned(),
            seconds: 600.0,
        };
        assert_eq!(too_old(&holder), None);
        holder.seconds = 601.0;
        let found = too_old(&holder).expect("a finding");
        assert!(found.says.contains("pid 7, application \"psql\", idle in transaction"), "{}", found.says);
        assert_eq!(found.mend.as_deref(), Some("SELECT pg_terminate_backend(7);"));
    }
}
