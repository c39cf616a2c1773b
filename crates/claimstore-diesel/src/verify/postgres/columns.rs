//! Whether each declared column is there.

use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::{Bool, Integer, Nullable, Oid, SmallInt, Text};
use diesel::{QueryResult, RunQueryDsl};

use super::table::Table;
use crate::dialect::Dialect;
use crate::query::{TimeForm, literal};
use crate::verify::finding::{Check, Finding};
use crate::verify::role::{Holds, Role, roles, usual_budget};

/// A column as the catalog has it.
#[derive(Debug, diesel::QueryableByName)]
pub(super) struct Column {
    #[diesel(sql_type = SmallInt)]
    pub(super) number: i16,
    #[diesel(sql_type = Text)]
    pub(super) name: String,
    /// The type in full, as a cast wants it.
    #[diesel(sql_type = Text)]
    pub(super) written: String,
    /// The type without its length; of a domain the type below it.
    #[diesel(sql_type = Text)]
    pub(super) base: String,
    #[diesel(sql_type = Bool)]
    pub(super) is_enum: bool,
    /// The greatest length of a `varchar(n)`.
    #[diesel(sql_type = Nullable<Integer>)]
    pub(super) length: Option<i32>,
    #[diesel(sql_type = Bool)]
    pub(super) not_null: bool,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) default: Option<String>,
}

/// All columns of the table.
pub(super) fn read(conn: &mut PgConnection, table: &Table<'_>) -> QueryResult<Vec<Column>> {
    diesel::sql_query(
        "SELECT a.attnum AS number, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS written, \
         format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS base, \
         t.typtype = 'e' AS is_enum, \
         CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 END AS length, \
         a.attnotnull OR t.typnotnull AS not_null, pg_get_expr(d.adbin, d.adrelid) AS default \
         FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
         LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
         WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
    )
    .bind::<Oid, _>(table.oid)
    .load(conn)
}

/// The column of a role.
pub(super) fn of<'c>(columns: &'c [Column], role: &Role) -> Option<&'c Column> {
    columns.iter().find(|column| column.name == role.column)
}

pub(super) fn judge(table: &Table<'_>, columns: &[Column]) -> Vec<Finding> {
    let mut found = Vec::new();
    for role in roles(table.text).into_iter().filter(|role| of(columns, role).is_none()) {
        let column = Pg::quote(role.column);
        let says = format!("{} has no column {column}, declared as {}", table.text.table, role.name);
        let finding = Finding::error(Check::Columns, says);
        found.push(match definition(table, &role) {
            Some(definition) => finding.mend(table.alter(format_args!("ADD COLUMN {column} {definition}"))),
            None => finding.mend("correct the declaration"),
        });
    }
    found
}

/// What a missing column would have to be. Of a key or an order column only the user knows that.
fn definition(table: &Table<'_>, role: &Role) -> Option<String> {
    let declaration = table.text.declaration;
    Some(match role.holds {
        Holds::Key | Holds::Sorted => return None,
        Holds::Word => {
            let first = declaration.words.pending.first().copied().unwrap_or_default();
            format!("text NOT NULL DEFAULT {}", literal(first))
        }
        Holds::Fence => "bigint NOT NULL DEFAULT 0".to_owned(),
        Holds::Count => "integer NOT NULL DEFAULT 0".to_owned(),
        Holds::Budget => format!("integer NOT NULL DEFAULT {}", usual_budget(role.name)),
        Holds::Instant(form) if role.name == "due" && !declaration.null_due_is_now => {
            format!("{} NOT NULL DEFAULT {}", time_type(form), Pg::later(form, None))
        }
        Holds::Instant(form) => time_type(form).to_owned(),
        Holds::Text if role.name == "queue" => {
            format!("text NOT NULL DEFAULT {}", literal(claimstore_core::DEFAULT_QUEUE))
        }
        Holds::Text => "text".to_owned(),
        Holds::Flag => "boolean NOT NULL DEFAULT true".to_owned(),
    })
}

/// The type in which a column of this form stores an instant.
pub(super) fn time_type(form: TimeForm) -> &'static str {
    match form {
        TimeForm::Zoned | TimeForm::Text => "timestamp with time zone",
        TimeForm::Plain => "timestamp without time zone",
        TimeForm::Micros => "bigint",
    }
}
