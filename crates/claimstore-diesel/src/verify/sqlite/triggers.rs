//! What runs inside each claim.

use diesel::RunQueryDsl;
use diesel::sql_types::Text;
use diesel::sqlite::{Sqlite, SqliteConnection};

use super::Found;
use super::table::Table;
use crate::dialect::Dialect;
use crate::verify::finding::{Check, Finding};
use crate::verify::role::written;
use crate::verify::sql_words::pieces;

#[derive(diesel::QueryableByName)]
struct Trigger {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    sql: String,
}

pub(super) fn look(conn: &mut SqliteConnection, table: &Table<'_>) -> Found {
    let triggers: Vec<Trigger> = diesel::sql_query(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY name",
    )
    .bind::<Text, _>(&table.name)
    .load(conn)?;
    let written: Vec<String> = written(table.text).into_iter().map(str::to_lowercase).collect();
    let judge = |trigger: Trigger| {
        let name = Sqlite::quote(&trigger.name);
        let says = format!(
            "the trigger {name} runs in each claim and each end of one, while the file is locked, and may change \
             what they write"
        );
        let mend = format!(
            "create {name} anew for its own columns only: … UPDATE OF column, column ON {} …",
            table.text.table
        );
        Finding::warning(Check::Triggers, says).mend(mend)
    };
    Ok(triggers.into_iter().filter(|trigger| fires(&trigger.sql, &written)).map(judge).collect())
}

/// Whether an update of one of these columns fires it.
fn fires(sql: &str, written: &[String]) -> bool {
    let pieces = pieces(sql);
    // CREATE TRIGGER name [BEFORE | AFTER | INSTEAD OF] UPDATE [OF a, b] ON t. The name may be any word, and what
    // the trigger does begins after ON.
    let head = pieces.iter().position(|piece| piece.is_word("on")).map_or(&pieces[..], |on| &pieces[..on]);
    let Some(update) = head.iter().rposition(|piece| piece.is_word("update")) else { return false };
    let mut of = head[update + 1..].iter();
    match of.next() {
        Some(first) if first.is_word("of") => {
            of.filter_map(|piece| piece.name()).any(|column| written.iter().any(|one| one == column))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_read_by_its_head() {
        let fires = |sql| fires(sql, &["state".to_owned(), "fence".to_owned()]);
        assert!(fires("CREATE TRIGGER t AFTER UPDATE ON jobs BEGIN SELECT 1; END"));
        assert!(fires("CREATE TRIGGER t UPDATE OF total, \"State\" ON jobs BEGIN SELECT 1; END"));
        assert!(!fires(
            "CREATE TRIGGER t BEFORE UPDATE OF total ON jobs BEGIN UPDATE jobs SET state = 1; END"
        ));
        assert!(!fires("CREATE TRIGGER t AFTER INSERT ON jobs BEGIN UPDATE jobs SET total = 1; END"));
    }
}
