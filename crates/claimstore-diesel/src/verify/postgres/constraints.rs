//! What the table's CHECKs say of states, asked of the server itself.

use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::{Array, Oid, SmallInt, Text};
use diesel::{QueryResult, RunQueryDsl};

use super::Found;
use super::columns::Column;
use super::table::Table;
use crate::dialect::Dialect;
use crate::verify::advice::{held_condition, literals, named};
use crate::verify::finding::{Check, Finding};
use crate::verify::role::words;
use crate::verify::sql_words::may_ask_for_null;

#[derive(diesel::QueryableByName)]
struct Constraint {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    condition: String,
    #[diesel(sql_type = Array<SmallInt>)]
    columns: Vec<i16>,
}

#[derive(diesel::QueryableByName)]
struct Refused {
    #[diesel(sql_type = Text)]
    word: String,
}

pub(super) fn look(conn: &mut PgConnection, table: &Table<'_>, columns: &[Column]) -> Found {
    let declared = &table.text.declaration.columns;
    let number = |name: &str| columns.iter().find(|column| column.name == name).map(|column| column.number);
    let state = number(declared.state);
    let held: Vec<i16> = [declared.worker, declared.lease].into_iter().flatten().filter_map(number).collect();
    let mut found = Vec::new();
    let mut held_is_checked = held.is_empty();
    for constraint in read(conn, table)? {
        if !constraint.columns.iter().any(|column| Some(*column) == state) {
            continue;
        }
        let refused = refused(conn, table, columns, &constraint.condition)?;
        let alone = constraint.columns.iter().all(|column| Some(*column) == state);
        let names_holder = constraint.columns.iter().any(|column| held.contains(column));
        // With everything else NULL it is refused: that is what the advice below is about.
        held_is_checked |= names_holder && refused.contains(&table.text.declaration.words.running.to_owned());
        if !refused.is_empty() && (alone || !may_ask_for_null(&constraint.condition)) {
            found.push(refuses(table, &constraint, &refused, alone));
        }
    }
    if !held_is_checked {
        let says = "no CHECK says that a running row has a worker and a lease: another program could write one \
                    that nobody recovers";
        let mend = table.alter(format_args!(
            "ADD CONSTRAINT {} CHECK ({})",
            named(table.text, "held"),
            held_condition(table.text)
        ));
        found.push(Finding::notice(Check::HeldCheck, says).mend(mend));
    }
    Ok(found)
}

fn read(conn: &mut PgConnection, table: &Table<'_>) -> QueryResult<Vec<Constraint>> {
    diesel::sql_query(
        "SELECT quote_ident(conname) AS name, pg_get_expr(conbin, conrelid) AS condition, conkey AS columns \
         FROM pg_constraint WHERE conrelid = $1 AND contype = 'c' AND conkey IS NOT NULL ORDER BY conname",
    )
    .bind::<Oid, _>(table.oid)
    .load(conn)
}

/// The declared words for which the condition is FALSE in a row that is NULL otherwise.
fn refused(
    conn: &mut PgConnection,
    table: &Table<'_>,
    columns: &[Column],
    condition: &str,
) -> QueryResult<Vec<String>> {
    let state = table.text.declaration.columns.state;
    let row = columns.iter().map(|column| {
        let value = if column.name == state { "claimstore_word" } else { "NULL" };
        format!("{value}::{} AS {}", column.written, Pg::quote(&column.name))
    });
    let row: Vec<String> = row.collect();
    let refused: Vec<Refused> = diesel::sql_query(format!(
        "SELECT claimstore_word AS word FROM (SELECT claimstore_word, {} FROM unnest($1) AS claimstore_word) AS row \
         WHERE ({condition}) IS FALSE",
        row.join(", ")
    ))
    .bind::<Array<Text>, _>(words(table.text))
    .load(conn)?;
    Ok(refused.into_iter().map(|refused| refused.word).collect())
}

fn refuses(table: &Table<'_>, constraint: &Constraint, refused: &[String], alone: bool) -> Finding {
    let (name, condition) = (&constraint.name, &constraint.condition);
    let list = literals(refused.iter().map(String::as_str));
    let state = Pg::quote(table.text.declaration.columns.state);
    let says = format!("the CHECK {name} refuses the declared words {list}: CHECK ({condition})");
    let mend = table.alter(format_args!(
        "DROP CONSTRAINT {name}, ADD CONSTRAINT {name} CHECK (({condition}) OR {state} IN ({list}))"
    ));
    if alone {
        return Finding::error(Check::StateWords, says).mend(mend);
    }
    let says = format!("{says}. It is about other columns too, so look at it");
    Finding::notice(Check::StateWords, says).mend(mend)
}
