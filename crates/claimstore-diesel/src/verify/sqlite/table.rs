//! Which table it is, and of what kind.

use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{OptionalExtension, RunQueryDsl};

use super::Found;
use crate::query::TableText;
use crate::verify::advice::table_name;
use crate::verify::finding::{Check, Finding};

/// Above so many rows it matters how they are found.
const FEW: i64 = 500;

/// The table that the store's statements meet.
pub(super) struct Table<'a> {
    pub(super) text: &'a TableText<Sqlite>,
    /// Its name in the catalog and in plans.
    pub(super) name: String,
    /// How it was created.
    pub(super) sql: String,
    /// It has more rows than may be read one by one.
    pub(super) large: bool,
}

impl Table<'_> {
    /// What SQLite cannot alter.
    pub(super) fn rebuild(&self, with: impl std::fmt::Display) -> String {
        format!("create {} anew, with {with}, and copy its rows: SQLite cannot alter that", self.text.table)
    }
}

#[derive(diesel::QueryableByName)]
struct Entry {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Nullable<Text>)]
    sql: Option<String>,
}

#[derive(diesel::QueryableByName)]
struct Rows {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// Finds it, and says of what kind it is where that matters. `None` stays where no row of it can be claimed.
pub(super) fn find<'a>(
    conn: &mut SqliteConnection,
    text: &'a TableText<Sqlite>,
    table: &mut Option<Table<'a>>,
) -> Found {
    let entry: Option<Entry> = diesel::sql_query(
        "SELECT name, type AS kind, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
    )
    .bind::<Text, _>(table_name(text))
    .get_result(conn)
    .optional()?;
    let Some(Entry { name, kind, sql }) = entry else {
        let says = format!("there is no table {} in this file", text.table);
        return Ok(vec![Finding::error(Check::Table, says).mend("apply the migration that creates it")]);
    };
    let sql = sql.unwrap_or_default();
    let virtual_one = sql.get(..14).is_some_and(|start| start.eq_ignore_ascii_case("create virtual"));
    if kind == "view" || virtual_one {
        let kind = if virtual_one { "virtual table" } else { "view" };
        let says = format!("{} is a {kind}: its rows cannot be claimed as a table's", text.table);
        return Ok(vec![Finding::error(Check::Table, says).mend("name the table behind it in table!")]);
    }
    let count = format!("SELECT count(*) AS rows FROM (SELECT 1 FROM {} LIMIT {})", text.table, FEW + 1);
    let rows = diesel::sql_query(count).get_result::<Rows>(conn)?.rows;
    *table = Some(Table { text, name, sql, large: rows > FEW });
    Ok(Vec::new())
}
