//! The file: where it lies, and how large its WAL is.

use diesel::sql_types::Text;
use diesel::sqlite::SqliteConnection;
use diesel::{QueryResult, RunQueryDsl};

use super::Found;
use crate::sqlite::network_type;
use crate::verify::finding::{Check, Finding};

/// A WAL is reset at about a thousandth of this where nobody keeps it from that.
const LARGE: u64 = 64 * 1024 * 1024;

#[derive(diesel::QueryableByName)]
struct Main {
    #[diesel(sql_type = Text)]
    file: String,
}

/// The main file; `None` for a database in memory.
pub(super) fn path(conn: &mut SqliteConnection) -> QueryResult<Option<String>> {
    let main: Main =
        diesel::sql_query("SELECT coalesce(file, '') AS file FROM pragma_database_list WHERE name = 'main'")
            .get_result(conn)?;
    Ok(Some(main.file).filter(|file| !file.is_empty()))
}

pub(super) fn look(conn: &mut SqliteConnection) -> Found {
    let Some(path) = path(conn)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    found.extend(network_type(&path).map(|kind| on_a_network(&path, &kind)));
    // Without a WAL there is none to be large.
    if let Ok(wal) = std::fs::metadata(format!("{path}-wal")) {
        found.extend(too_large(wal.len()));
    }
    Ok(found)
}

fn on_a_network(path: &str, kind: &str) -> Finding {
    let says = format!(
        "{path} lies on a network file system ({kind}), where SQLite's locks and WAL are unreliable: two workers \
         can be given one row, and the file can be destroyed"
    );
    Finding::error(Check::FileSystem, says).mend("move the file to a disk of this host")
}

fn too_large(wal: u64) -> Option<Finding> {
    if wal < LARGE {
        return None;
    }
    let says = format!(
        "the WAL has {} MB, and each read looks through it. It is reset as soon as no read transaction is older \
         than what it holds: look for a reader that never ends",
        wal / (1024 * 1024)
    );
    Some(Finding::warning(Check::Journal, says).mend("PRAGMA wal_checkpoint(TRUNCATE);"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_on_a_network_is_no_place() {
        let found = on_a_network("/mnt/share/work.db", "nfs4");
        assert_eq!(found.severity, crate::verify::finding::Severity::Error);
        assert!(found.says.contains("nfs4"));
    }

    #[test]
    fn a_wal_is_large_from_64_megabytes_on() {
        assert_eq!(too_large(LARGE - 1), None);
        assert!(too_large(LARGE).expect("a finding").says.contains("64 MB"));
    }
}
