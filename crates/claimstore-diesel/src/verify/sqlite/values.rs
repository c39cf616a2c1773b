//! Stored values of a form that compares wrongly. SQLite keeps what it is given.

use diesel::sqlite::Sqlite;

use super::types::is_text;
use crate::dialect::Dialect;
use crate::query::TableText;
use crate::verify::finding::{Check, Severity};
use crate::verify::role::{Holds, roles};
use crate::verify::rows::Impossible;

/// `2026-01-31 12:00:00.000000`.
const WIDTH: &str = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]\
    .[0-9][0-9][0-9][0-9][0-9][0-9]";

/// Values that a statement cannot compare, with the statement that converts those it can read.
pub(super) fn of_a_wrong_form(text: &TableText<Sqlite>) -> Vec<Impossible> {
    let mut list = Vec::new();
    for role in roles(text) {
        let column = Sqlite::quote(role.column);
        let (condition, value, so) = match role.holds {
            Holds::Fence => (
                not_integer(&column),
                format!("CAST({column} AS INTEGER)"),
                "a fence that is no whole number of 64 bits".to_owned(),
            ),
            Holds::Instant(form) if is_text(form) => (
                format!("{column} IS NOT NULL AND (typeof({column}) <> 'text' OR {column} NOT GLOB '{WIDTH}')"),
                text_of(&column),
                "an instant that has not the one width of 'YYYY-MM-DD HH:MM:SS.ffffff', and so does not sort as \
                 time does,"
                    .to_owned(),
            ),
            Holds::Instant(_) => (
                not_integer(&column),
                micros_of(&column),
                "an instant that is no whole number of microseconds".to_owned(),
            ),
            _ => continue,
        };
        let table = &text.table;
        let mend =
            format!("UPDATE {table} SET {column} = {value} WHERE {condition} AND {value} IS NOT NULL;");
        list.push(Impossible {
            check: Check::StoredForm,
            severity: Severity::Error,
            are: format!("hold {so} in {column}"),
            condition,
            mend: Some(mend),
        });
    }
    list
}

fn not_integer(column: &str) -> String {
    format!("typeof({column}) NOT IN ('integer', 'null')")
}

/// From any text that SQLite can read as a time; NULL from what it cannot. A number, which a column of texts keeps
/// as its digits, is taken for microseconds.
fn text_of(column: &str) -> String {
    const FORM: &str = "'%Y-%m-%d %H:%M:%f'";
    format!(
        "CASE WHEN {column} NOT GLOB '*[^0-9]*' \
         THEN strftime({FORM}, CAST({column} AS INTEGER) / 1000000.0, 'unixepoch') || '000' \
         WHEN typeof({column}) = 'text' THEN strftime({FORM}, {column}) || '000' END"
    )
}

fn micros_of(column: &str) -> String {
    format!(
        "CASE typeof({column}) WHEN 'text' THEN CAST(strftime('%s', {column}) AS INTEGER) * 1000000 \
         WHEN 'real' THEN CAST({column} AS INTEGER) END"
    )
}
