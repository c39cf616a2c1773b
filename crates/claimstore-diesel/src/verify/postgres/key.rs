//! Whether a key names one row.

use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::{Bool, Oid, Text};
use diesel::{QueryResult, RunQueryDsl};

use super::Found;
use super::table::Table;
use crate::dialect::Dialect;
use crate::verify::advice::named;
use crate::verify::finding::{Check, Finding};

#[derive(diesel::QueryableByName)]
struct Unique {
    #[diesel(sql_type = Bool)]
    by_key: bool,
    #[diesel(sql_type = Bool)]
    broken: bool,
    #[diesel(sql_type = Bool)]
    has_primary_key: bool,
}

pub(super) fn look(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    let unique = read(conn, table)?;
    if unique.by_key {
        return Ok(Vec::new());
    }
    let key = Pg::quote(table.text.declaration.columns.key);
    let why = match (unique.broken, table.partitioned) {
        (true, _) => "its unique index is invalid: building it failed",
        (_, true) => "no unique index over all partitions is on it alone",
        _ => "no unique index is on it alone",
    };
    let says = format!("the key {key} does not name one row: {why}. A claim could take several rows as one");
    let mend = if unique.has_primary_key || table.partitioned {
        let (create, name) = (table.create_index(true), named(table.text, "claim_key"));
        format!("{create} {name} ON {} ({key});", table.text.table)
    } else {
        table.alter(format_args!("ADD PRIMARY KEY ({key})"))
    };
    Ok(vec![Finding::error(Check::Key, says).mend(mend)])
}

fn read(conn: &mut PgConnection, table: &Table<'_>) -> QueryResult<Unique> {
    diesel::sql_query(
        "SELECT coalesce(bool_or(ours AND i.indisvalid), false) AS by_key, \
         coalesce(bool_or(ours AND NOT i.indisvalid), false) AS broken, \
         coalesce(bool_or(i.indisprimary), false) AS has_primary_key \
         FROM pg_index AS i CROSS JOIN LATERAL (SELECT i.indisunique AND i.indpred IS NULL \
         AND i.indexprs IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = \
         (SELECT a.attnum FROM pg_attribute AS a WHERE a.attrelid = $1 AND a.attname = $2) AS ours) AS o \
         WHERE i.indrelid = $1",
    )
    .bind::<Oid, _>(table.oid)
    .bind::<Text, _>(table.text.declaration.columns.key)
    .get_result(conn)
}
