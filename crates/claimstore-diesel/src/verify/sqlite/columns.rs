//! Whether each declared column is there.

use diesel::sql_types::{Bool, Integer, Nullable, Text};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{QueryResult, RunQueryDsl};

use super::table::Table;
use super::types::is_text;
use crate::dialect::Dialect;
use crate::query::literal;
use crate::verify::finding::{Check, Finding};
use crate::verify::role::{Holds, Role, roles, usual_budget};

/// A column as the catalog has it.
#[derive(Debug, diesel::QueryableByName)]
pub(super) struct Column {
    #[diesel(sql_type = Text)]
    pub(super) name: String,
    /// The type as it was written, perhaps nothing.
    #[diesel(sql_type = Text)]
    pub(super) written: String,
    #[diesel(sql_type = Bool)]
    pub(super) not_null: bool,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) default: Option<String>,
    /// Its place in the primary key, from 1; 0 outside.
    #[diesel(sql_type = Integer)]
    pub(super) key_place: i32,
}

/// All columns of the table.
pub(super) fn read(conn: &mut SqliteConnection, table: &Table<'_>) -> QueryResult<Vec<Column>> {
    diesel::sql_query(
        "SELECT name, type AS written, \"notnull\" <> 0 AS not_null, dflt_value AS \"default\", pk AS key_place \
         FROM pragma_table_xinfo(?)",
    )
    .bind::<Text, _>(&table.name)
    .load(conn)
}

/// The column of a role. Names do not differ by case here.
pub(super) fn of<'c>(columns: &'c [Column], role: &Role) -> Option<&'c Column> {
    columns.iter().find(|column| column.name.eq_ignore_ascii_case(role.column))
}

pub(super) fn judge(table: &Table<'_>, columns: &[Column]) -> Vec<Finding> {
    let mut found = Vec::new();
    for role in roles(table.text).into_iter().filter(|role| of(columns, role).is_none()) {
        let (name, column) = (&table.text.table, Sqlite::quote(role.column));
        let says = format!("{name} has no column {column}, declared as {}", role.name);
        let finding = Finding::error(Check::Columns, says);
        found.push(match definition(table, &role) {
            Some(definition) => finding.mend(format!("ALTER TABLE {name} ADD COLUMN {column} {definition};")),
            None => finding.mend("correct the declaration"),
        });
    }
    found
}

/// What a column has to be. Of a key or an order column only the user knows that.
pub(super) fn definition(table: &Table<'_>, role: &Role) -> Option<String> {
    let declaration = table.text.declaration;
    Some(match role.holds {
        Holds::Key | Holds::Sorted => return None,
        Holds::Word => {
            let first = declaration.words.pending.first().copied().unwrap_or_default();
            format!("TEXT NOT NULL DEFAULT {}", literal(first))
        }
        Holds::Fence => "BIGINT NOT NULL DEFAULT 0".to_owned(),
        Holds::Count => "INTEGER NOT NULL DEFAULT 0".to_owned(),
        Holds::Budget => format!("INTEGER NOT NULL DEFAULT {}", usual_budget(role.name)),
        // A column that is added can have no computed default, so what is there is due since 1970.
        Holds::Instant(form) if role.name == "due" && !declaration.null_due_is_now => match is_text(form) {
            true => "TEXT NOT NULL DEFAULT '1970-01-01 00:00:00.000000'".to_owned(),
            false => "INTEGER NOT NULL DEFAULT 0".to_owned(),
        },
        Holds::Instant(form) if is_text(form) => "TEXT".to_owned(),
        Holds::Instant(_) => "INTEGER".to_owned(),
        Holds::Text if role.name == "queue" => {
            format!("TEXT NOT NULL DEFAULT {}", literal(claimstore_core::DEFAULT_QUEUE))
        }
        Holds::Text => "TEXT".to_owned(),
        Holds::Flag => "BOOLEAN NOT NULL DEFAULT TRUE".to_owned(),
    })
}
