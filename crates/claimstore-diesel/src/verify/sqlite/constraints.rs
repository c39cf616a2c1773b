//! What the table's CHECKs say of states: read from how it was created, and asked of SQLite itself.

use diesel::sql_types::Text;
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{QueryResult, RunQueryDsl};

use super::Found;
use super::columns::Column;
use super::table::Table;
use crate::dialect::Dialect;
use crate::verify::advice::{held_condition, literals};
use crate::verify::finding::{Check, Finding};
use crate::verify::role::words;
use crate::verify::sql_words::{may_ask_for_null, names, pieces};

#[derive(diesel::QueryableByName)]
struct Refused {
    #[diesel(sql_type = Text)]
    word: String,
}

pub(super) fn look(conn: &mut SqliteConnection, table: &Table<'_>, columns: &[Column]) -> Found {
    let declared = &table.text.declaration.columns;
    let held: Vec<&str> = [declared.worker, declared.lease].into_iter().flatten().collect();
    let mut found = Vec::new();
    let mut held_is_checked = held.is_empty();
    for condition in checks(&table.sql) {
        let names = names(condition);
        let says = |column: &str| names.contains(&column.to_lowercase());
        if !says(declared.state) {
            continue;
        }
        let refused = refused(conn, table, columns, condition)?;
        let others = columns.iter().filter(|column| !column.name.eq_ignore_ascii_case(declared.state));
        let alone = !others.into_iter().any(|column| says(&column.name));
        // With everything else NULL it is refused: that is what the advice below is about.
        held_is_checked |= held.iter().any(|column| says(column))
            && refused.contains(&table.text.declaration.words.running.to_owned());
        if !refused.is_empty() && (alone || !may_ask_for_null(condition)) {
            found.push(refuses(table, condition, &refused, alone));
        }
    }
    if !held_is_checked {
        let says = "no CHECK says that a running row has a worker and a lease: another program could write one \
                    that nobody recovers";
        let mend = table.rebuild(format_args!("CHECK ({})", held_condition(table.text)));
        found.push(Finding::notice(Check::HeldCheck, says).mend(mend));
    }
    Ok(found)
}

/// The conditions of all CHECKs in a `CREATE TABLE`.
fn checks(sql: &str) -> Vec<&str> {
    let pieces = pieces(sql);
    let mut found = Vec::new();
    for (at, _) in pieces.iter().enumerate().filter(|(_, piece)| piece.is_word("check")) {
        let mut open = 0_usize;
        for piece in &pieces[at + 1..] {
            if piece.is_sign('(') {
                open += 1;
            } else if piece.is_sign(')') {
                open = open.saturating_sub(1);
            }
            if open == 0 {
                if let (true, Some(first)) = (piece.is_sign(')'), pieces.get(at + 1)) {
                    found.push(&sql[first.at.end..piece.at.start]);
                }
                break;
            }
        }
    }
    found
}

/// The declared words for which the condition is false in a row that is NULL otherwise.
fn refused(
    conn: &mut SqliteConnection,
    table: &Table<'_>,
    columns: &[Column],
    condition: &str,
) -> QueryResult<Vec<String>> {
    let state = table.text.declaration.columns.state;
    let row = columns.iter().map(|column| {
        let value = if column.name.eq_ignore_ascii_case(state) { "value" } else { "NULL" };
        format!("{value} AS {}", Sqlite::quote(&column.name))
    });
    let row: Vec<String> = row.collect();
    let words = serde_json::to_string(&words(table.text)).unwrap_or_default();
    let (row, name, state) = (row.join(", "), Sqlite::quote(&table.name), Sqlite::quote(state));
    // Under the table's own name, by which the condition may speak of its columns.
    let refused: Vec<Refused> = diesel::sql_query(format!(
        "SELECT {state} AS word FROM (SELECT {row} FROM json_each(?)) AS {name} WHERE NOT ({condition})"
    ))
    .bind::<Text, _>(words)
    .load(conn)?;
    Ok(refused.into_iter().map(|refused| refused.word).collect())
}

fn refuses(table: &Table<'_>, condition: &str, refused: &[String], alone: bool) -> Finding {
    let list = literals(refused.iter().map(String::as_str));
    let condition = condition.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = format!("a CHECK refuses the declared words {list}: CHECK ({condition})");
    let state = Sqlite::quote(table.text.declaration.columns.state);
    let mend = table.rebuild(format_args!("CHECK (({condition}) OR {state} IN ({list}))"));
    if alone {
        return Finding::error(Check::StateWords, says).mend(mend);
    }
    let says = format!("{says}. It is about other columns too, so look at it");
    Finding::notice(Check::StateWords, says).mend(mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_is_found_whole() {
        let sql = "CREATE TABLE t (\"check\" TEXT, state TEXT CHECK (state IN ('a)', 'b')), -- CHECK (no)
            CONSTRAINT held CHECK ((state = 'r' AND (w > 1)) OR w < length('('))))";
        assert_eq!(checks(sql), ["state IN ('a)', 'b')", "(state = 'r' AND (w > 1)) OR w < length('(')"]);
    }
}
