//! Whether each column can hold what its role writes, and be read.

use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::{Array, Bool, SmallInt, Text};
use diesel::{QueryResult, RunQueryDsl};

use claimstore_core::WorkerId;

use super::Found;
use super::columns::{Column, of, time_type};
use super::table::Table;
use crate::dialect::Dialect;
use crate::query::{TimeForm, literal};
use crate::verify::finding::{Check, Finding};
use crate::verify::role::{Holds, Role, Touch, roles, words};

pub(super) fn judge(table: &Table<'_>, columns: &[Column]) -> Vec<Finding> {
    let mut found = Vec::new();
    for role in roles(table.text) {
        let Some(column) = of(columns, &role) else { continue };
        found.extend(wrong_type(table, &role, column));
        found.extend(too_short(table, &role, column));
        found.extend(nulls(table, &role, column));
        if role.holds == Holds::Fence {
            found.extend(default_of_fence(table, column));
        }
    }
    found
}

fn wrong_type(table: &Table<'_>, role: &Role, column: &Column) -> Option<Finding> {
    let base = column.base.as_str();
    let (wanted, why) = match role.holds {
        Holds::Key | Holds::Sorted => return None,
        Holds::Word if column.is_enum => return None,
        Holds::Fence => ("bigint", "a fence rises by up to a million with each claim and has 64 bits"),
        Holds::Count | Holds::Budget => ("integer", "it is read as 32 bits, and as nothing else"),
        Holds::Instant(form) => (time_type(form), "the declaration says so, and it is read so"),
        Holds::Flag => ("boolean", "it is read as one"),
        Holds::Word | Holds::Text if matches!(base, "text" | "character varying" | "character") => {
            return None;
        }
        Holds::Word | Holds::Text => ("text", "it is compared with texts"),
    };
    if base == wanted {
        return None;
    }
    let name = Pg::quote(role.column);
    let says = format!("column {name}, declared as {}, is {base} and has to be {wanted}: {why}", role.name);
    let using = converted(&name, base, role.holds);
    let mend = table.alter(format_args!("ALTER COLUMN {name} TYPE {wanted}{using}"));
    Some(Finding::error(Check::Types, says).mend(mend))
}

/// How the values that are there become such of the type that is wanted.
fn converted(name: &str, base: &str, holds: Holds) -> String {
    let instant = match base {
        "timestamp with time zone" => name.to_owned(),
        "timestamp without time zone" => format!("({name} AT TIME ZONE 'UTC')"),
        "bigint" => Pg::instant(name, TimeForm::Micros),
        _ => return format!(" USING {name}::{}", wanted_cast(holds)),
    };
    match holds {
        Holds::Instant(TimeForm::Plain) => format!(" USING ({instant} AT TIME ZONE 'UTC')"),
        Holds::Instant(TimeForm::Micros) => {
            format!(" USING (extract(epoch FROM {instant}) * 1000000)::bigint")
        }
        Holds::Instant(_) => format!(" USING {instant}"),
        _ => format!(" USING {name}::{}", wanted_cast(holds)),
    }
}

fn wanted_cast(holds: Holds) -> &'static str {
    match holds {
        Holds::Fence => "bigint",
        Holds::Count | Holds::Budget => "integer",
        Holds::Flag => "boolean",
        Holds::Instant(form) => time_type(form),
        _ => "text",
    }
}

/// A name or error that does not fit is refused by the database, in the middle of a claim or settlement.
fn too_short(table: &Table<'_>, role: &Role, column: &Column) -> Option<Finding> {
    let length = column.length?;
    let so = match role.name {
        "worker" if usize::try_from(length).is_ok_and(|most| most < WorkerId::MAX_LEN) => {
            format!("a worker's name may have {} bytes", WorkerId::MAX_LEN)
        }
        "last_error" => "an error may have any length".to_owned(),
        _ => return None,
    };
    let name = Pg::quote(role.column);
    let says = format!("column {name} is {}, and {so}: the write is refused then", column.written);
    let mend = table.alter(format_args!("ALTER COLUMN {name} TYPE text"));
    Some(Finding::warning(Check::Types, says).mend(mend))
}

fn nulls(table: &Table<'_>, role: &Role, column: &Column) -> Option<Finding> {
    let (name, of_table) = (Pg::quote(role.column), &table.text.table);
    if column.not_null {
        if role.touch != Touch::Empties {
            return None;
        }
        let says =
            format!("column {name} is NOT NULL, and what ends a claim empties it: that write is refused");
        let mend = table.alter(format_args!("ALTER COLUMN {name} DROP NOT NULL"));
        return Some(Finding::error(Check::Nulls, says).mend(mend));
    }
    let filled = |value: &str| {
        format!(
            "UPDATE {of_table} SET {name} = {value} WHERE {name} IS NULL; {}",
            table.alter(format_args!("ALTER COLUMN {name} SET NOT NULL"))
        )
    };
    let declaration = table.text.declaration;
    match role.holds {
        Holds::Fence => {
            let says = format!("column {name} may be NULL: a row without a fence can be claimed by nobody");
            Some(Finding::error(Check::Nulls, says).mend(filled("0")))
        }
        Holds::Word => {
            let first = declaration.words.pending.first().copied().unwrap_or_default();
            let says =
                format!("column {name} may be NULL: a row without a state is in none, and stays there");
            Some(Finding::error(Check::Nulls, says).mend(filled(&literal(first))))
        }
        Holds::Budget => {
            let says = format!("column {name} may be NULL: a row without a budget is never claimed");
            let value = crate::verify::role::usual_budget(role.name).to_string();
            Some(Finding::warning(Check::Nulls, says).mend(filled(&value)))
        }
        Holds::Count if has_budget(table, role) => {
            let says = format!("column {name} may be NULL: a row without this count is never claimed");
            Some(Finding::warning(Check::Nulls, says).mend(filled("0")))
        }
        Holds::Instant(form) if role.name == "due" && !declaration.null_due_is_now => {
            let says = format!(
                "column {name} may be NULL: such a row is never due, unless null_due_is_now is declared"
            );
            Some(Finding::notice(Check::Nulls, says).mend(filled(&Pg::later(form, None))))
        }
        _ => None,
    }
}

fn has_budget(table: &Table<'_>, role: &Role) -> bool {
    let columns = &table.text.declaration.columns;
    match role.name {
        "failures" => columns.max_failures.is_some(),
        "crashes" => columns.max_crashes.is_some(),
        _ => false,
    }
}

fn default_of_fence(table: &Table<'_>, column: &Column) -> Option<Finding> {
    let plain =
        column.default.as_deref().map(|default| default.replace("::bigint", "").replace(['\'', '('], ""));
    if plain.as_deref().map(|default| default.trim_end_matches(')')) == Some("0") {
        return None;
    }
    let name = Pg::quote(&column.name);
    let says = format!("column {name} has no default of 0: each insert has to bring a fence");
    let mend = table.alter(format_args!("ALTER COLUMN {name} SET DEFAULT 0"));
    Some(Finding::warning(Check::FenceDefault, says).mend(mend))
}

#[derive(diesel::QueryableByName)]
struct Enum {
    #[diesel(sql_type = Array<Text>)]
    labels: Vec<String>,
    #[diesel(sql_type = Bool)]
    takes_text: bool,
}

/// A state of an enum type: whether it has all words, and takes them from an expression.
pub(super) fn state_enum(conn: &mut PgConnection, table: &Table<'_>, columns: &[Column]) -> Found {
    let Some((role, column)) = roles(table.text)
        .into_iter()
        .find(|role| role.holds == Holds::Word)
        .and_then(|role| Some((role, of(columns, &role)?)))
        .filter(|(_, column)| column.is_enum)
    else {
        return Ok(Vec::new());
    };
    let known = read_enum(conn, table, column)?;
    let (name, kind) = (Pg::quote(role.column), &column.written);
    let mut found = Vec::new();
    for word in words(table.text).into_iter().filter(|word| known.labels.iter().all(|label| label != word)) {
        let word = literal(word);
        let says = format!("the type {kind} of column {name} has no value {word}, which is declared");
        let mend = format!("ALTER TYPE {kind} ADD VALUE {word};");
        found.push(Finding::error(Check::StateWords, says).mend(mend));
    }
    if !known.takes_text {
        let says = format!(
            "column {name} is of the enum type {kind}, which takes no text from an expression: settling several \
             at once, and recovery, fail"
        );
        let mend = format!("CREATE CAST (text AS {kind}) WITH INOUT AS ASSIGNMENT;");
        found.push(Finding::error(Check::Types, says).mend(mend));
    }
    Ok(found)
}

fn read_enum(conn: &mut PgConnection, table: &Table<'_>, column: &Column) -> QueryResult<Enum> {
    diesel::sql_query(
        "SELECT ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = a.atttypid) AS labels, \
         EXISTS (SELECT FROM pg_cast AS c WHERE c.castsource = 'text'::regtype AND c.casttarget = a.atttypid \
         AND c.castcontext IN ('a', 'i')) AS takes_text \
         FROM pg_attribute AS a WHERE a.attrelid = $1 AND a.attnum = $2",
    )
    .bind::<diesel::sql_types::Oid, _>(table.oid)
    .bind::<SmallInt, _>(column.number)
    .get_result(conn)
}
