//! Whether a key names one row.

use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{QueryResult, RunQueryDsl};

use super::Found;
use super::columns::Column;
use super::table::Table;
use crate::dialect::Dialect;
use crate::verify::advice::named;
use crate::verify::finding::{Check, Finding};

#[derive(diesel::QueryableByName)]
struct Indexes {
    #[diesel(sql_type = BigInt)]
    unique: i64,
}

pub(super) fn look(conn: &mut SqliteConnection, table: &Table<'_>, columns: &[Column]) -> Found {
    let key = table.text.declaration.columns.key;
    let mut primary = columns.iter().filter(|column| column.key_place > 0);
    let alone =
        matches!((primary.next(), primary.next()), (Some(one), None) if one.name.eq_ignore_ascii_case(key));
    if alone || unique_indexes(conn, table, key)? > 0 {
        return Ok(Vec::new());
    }
    let quoted = Sqlite::quote(key);
    let says = format!(
        "the key {quoted} does not name one row: no unique index is on it alone. A claim could take several rows \
         as one"
    );
    let (name, of_table) = (named(table.text, "claim_key"), Sqlite::quote(&table.name));
    let mend = format!("CREATE UNIQUE INDEX {name} ON {of_table} ({quoted});");
    Ok(vec![Finding::error(Check::Key, says).mend(mend)])
}

fn unique_indexes(conn: &mut SqliteConnection, table: &Table<'_>, key: &str) -> QueryResult<i64> {
    let indexes: Indexes = diesel::sql_query(
        "SELECT count(*) AS \"unique\" FROM pragma_index_list(?) AS i WHERE i.\"unique\" = 1 AND i.partial = 0 \
         AND (SELECT count(*) FROM pragma_index_info(i.name)) = 1 \
         AND (SELECT c.name FROM pragma_index_info(i.name) AS c) = ? COLLATE NOCASE",
    )
    .bind::<Text, _>(&table.name)
    .bind::<Text, _>(key)
    .get_result(conn)?;
    Ok(indexes.unique)
}
