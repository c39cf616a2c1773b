//! The checks on SQLite.

mod columns;
mod constraints;
mod file;
mod key;
mod plan;
mod pragmas;
mod table;
mod triggers;
mod types;
mod values;

use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{QueryResult, RunQueryDsl};

use self::columns::Column;
use self::table::Table;
use super::Look;
use super::finding::{Check, Finding};
use super::rows::{self, Instants, Met};
use crate::dialect::Dialect;
use crate::query::{TableText, TimeForm};
use crate::table::ClaimOn;

/// Several findings, or why there are none.
type Found = QueryResult<Vec<Finding>>;

/// Everything, by reads that each stand alone: no snapshot is held from one to the next.
pub(crate) fn look<T: ClaimOn<Sqlite>>(conn: &mut SqliteConnection) -> QueryResult<Look> {
    let text = <T as ClaimOn<Sqlite>>::text();
    let mut look = Look { alone: file::path(conn)?.is_none(), ..Look::default() };
    let found = &mut look.findings;
    part(conn, "the pragmas", found, pragmas::look)?;
    part(conn, "the file", found, file::look)?;
    let mut table = None;
    part(conn, "the table", found, |conn| table::find(conn, text, &mut table))?;
    let answer = Sqlite::schema(conn);
    found.extend(super::own_tables(text.declaration, answer, "see that this process may read the file"));
    if let Some(table) = table {
        of_the_table::<T>(conn, &table, found)?;
    }
    Ok(look)
}

/// One check. What cannot be read costs only its own answer.
fn part(
    conn: &mut SqliteConnection,
    what: &str,
    found: &mut Vec<Finding>,
    look: impl FnOnce(&mut SqliteConnection) -> Found,
) -> QueryResult<()> {
    super::take::<Sqlite>(what, found, look(conn))
}

fn of_the_table<T: ClaimOn<Sqlite>>(
    conn: &mut SqliteConnection,
    table: &Table<'_>,
    found: &mut Vec<Finding>,
) -> QueryResult<()> {
    let mut columns: Vec<Column> = Vec::new();
    part(conn, "the table's columns", found, |conn| {
        columns = columns::read(conn, table)?;
        Ok(columns::judge(table, &columns))
    })?;
    if found.iter().any(|found| found.check == Check::Columns) || columns.is_empty() {
        // Each further look would only stumble over what is missing.
        return Ok(());
    }
    found.extend(types::judge(table, &columns));
    part(conn, "the key", found, |conn| key::look(conn, table, &columns))?;
    part(conn, "the CHECKs", found, |conn| constraints::look(conn, table, &columns))?;
    part(conn, "the triggers", found, |conn| triggers::look(conn, table))?;
    part(conn, "the foreign keys", found, |conn| pragmas::foreign_keys(conn, table))?;
    part(conn, "the plan of the claim", found, |conn| plan::claim::<T>(conn, table))?;
    part(conn, "the plan of recovery", found, |conn| plan::lease::<T>(conn, table))?;
    part(conn, "the rows", found, |conn| of_the_rows(conn, table.text))
}

fn of_the_rows(conn: &mut SqliteConnection, text: &TableText<Sqlite>) -> Found {
    let instants = Instants { later, comparable: |_, _| None };
    let mut impossible = rows::impossible(text, instants);
    impossible.extend(values::of_a_wrong_form(text));
    let met: Vec<Met> = diesel::sql_query(rows::count(text, &impossible)).load(conn)?;
    Ok(rows::judge(text, impossible, &met))
}

/// By SQLite's own clock, which is the host's: so that the statement that shows the rows can be run later.
fn later(form: TimeForm, seconds: i64) -> String {
    if types::is_text(form) {
        format!("strftime('%Y-%m-%d %H:%M:%f', 'now', '{seconds} seconds') || '000'")
    } else {
        format!("(CAST(strftime('%s', 'now') AS INTEGER) + {seconds}) * 1000000")
    }
}
