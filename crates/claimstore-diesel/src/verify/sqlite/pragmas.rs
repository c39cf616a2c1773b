//! The connection's pragmas, and the library itself.

use diesel::sql_types::{BigInt, Bool, Integer, Text};
use diesel::sqlite::SqliteConnection;
use diesel::{QueryResult, RunQueryDsl};

use super::Found;
use super::table::Table;
use crate::verify::finding::{Check, Finding};

/// The first with `RETURNING`.
const OLDEST: (u32, u32) = (3, 35);

/// What sets the pragmas on each connection of a pool.
const EACH: &str = "on each connection, as SqliteOptions does";

#[derive(diesel::QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

#[derive(diesel::QueryableByName)]
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

#[derive(diesel::QueryableByName)]
struct Synchronous {
    #[diesel(sql_type = Integer)]
    synchronous: i32,
}

#[derive(diesel::QueryableByName)]
struct BusyTimeout {
    #[diesel(sql_type = Integer)]
    timeout: i32,
}

#[derive(diesel::QueryableByName)]
struct QueryOnly {
    #[diesel(sql_type = Bool)]
    query_only: bool,
}

#[derive(diesel::QueryableByName)]
struct ForeignKeys {
    #[diesel(sql_type = Bool)]
    foreign_keys: bool,
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

pub(super) fn look(conn: &mut SqliteConnection) -> Found {
    let mut found = Vec::new();
    let version: Version = diesel::sql_query("SELECT sqlite_version() AS version").get_result(conn)?;
    found.extend(too_old(&version.version));
    let mode: JournalMode = diesel::sql_query("PRAGMA journal_mode").get_result(conn)?;
    let mode = mode.journal_mode;
    if mode != "wal" && mode != "memory" {
        let says =
            format!("the journal mode is {mode}: a reader holds up each claim, and each claim the readers");
        found.push(Finding::warning(Check::Journal, says).mend("PRAGMA journal_mode = WAL;"));
    }
    let in_memory = super::file::path(conn)?.is_none();
    let sync: Synchronous = diesel::sql_query("PRAGMA synchronous").get_result(conn)?;
    if !in_memory {
        found.extend(synchronous(sync.synchronous, &mode));
        found.extend(busy_timeout(conn)?);
    }
    let only: QueryOnly = diesel::sql_query("PRAGMA query_only").get_result(conn)?;
    if only.query_only {
        let says = format!("query_only is on: nothing can be claimed. Set it {EACH}");
        found.push(Finding::error(Check::ReadOnly, says).mend("PRAGMA query_only = OFF;"));
    }
    Ok(found)
}

/// 0 is OFF, 1 NORMAL, 2 FULL, 3 EXTRA.
fn synchronous(level: i32, mode: &str) -> Option<Finding> {
    let finding = match (level, mode) {
        (0, _) => Finding::warning(
            Check::Durability,
            format!("synchronous is OFF: a power cut can destroy the file. Set it {EACH}"),
        ),
        (1, "wal") => Finding::notice(
            Check::Durability,
            format!(
                "synchronous is NORMAL: a power cut takes back the last commits, also claims and settlements that \
                 were acknowledged. Set it {EACH}"
            ),
        ),
        _ => return None,
    };
    Some(finding.mend("PRAGMA synchronous = FULL;"))
}

fn busy_timeout(conn: &mut SqliteConnection) -> QueryResult<Option<Finding>> {
    let busy: BusyTimeout = diesel::sql_query("PRAGMA busy_timeout").get_result(conn)?;
    if busy.timeout > 0 {
        return Ok(None);
    }
    let says = format!(
        "busy_timeout is 0: each call that meets another writer ends in Contended at once. Set it {EACH}, before \
         all other pragmas"
    );
    Ok(Some(Finding::error(Check::Timeouts, says).mend("PRAGMA busy_timeout = 5000;")))
}

fn too_old(version: &str) -> Option<Finding> {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let found = (parts.next()?, parts.next()?);
    if found >= OLDEST {
        return None;
    }
    let says = format!("SQLite is {version}, and no claim runs before 3.35, the first with RETURNING");
    Some(
        Finding::error(Check::Version, says)
            .mend("link a newer SQLite: the feature sqlite-bundled brings one"),
    )
}

/// Only where the table has some, or others have some to it.
pub(super) fn foreign_keys(conn: &mut SqliteConnection, table: &Table<'_>) -> Found {
    let on: ForeignKeys = diesel::sql_query("PRAGMA foreign_keys").get_result(conn)?;
    if on.foreign_keys {
        return Ok(Vec::new());
    }
    let keys: Count = diesel::sql_query(
        "SELECT count(*) AS count FROM sqlite_master AS t JOIN pragma_foreign_key_list(t.name) AS f \
         WHERE t.type = 'table' AND (t.name = ?1 COLLATE NOCASE OR f.\"table\" = ?1 COLLATE NOCASE)",
    )
    .bind::<Text, _>(&table.name)
    .get_result(conn)?;
    if keys.count == 0 {
        return Ok(Vec::new());
    }
    let says = format!(
        "foreign_keys is off, and {} has foreign keys or is referenced by some: they are not enforced. Set it {EACH}",
        table.text.table
    );
    Ok(vec![Finding::notice(Check::ForeignKeys, says).mend("PRAGMA foreign_keys = ON;")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_library_is_refused_in_words() {
        assert_eq!(too_old("3.35.0"), None);
        assert_eq!(too_old("4.0.1"), None);
        assert!(too_old("3.34.1").expect("a finding").says.contains("RETURNING"));
    }
}
