//! Whether an index serves the claim, by SQLite's plan of the very statement. It does not depend on values, and
//! hardly on the number of rows.

use std::time::Duration;

use claimstore_core::{ClaimRequest, WorkerId};

use diesel::query_builder::QueryFragment;
use diesel::sql_types::{Bool, Integer, Text};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{OptionalExtension, QueryResult, RunQueryDsl};

use super::Found;
use super::table::Table;
use crate::dialect::Dialect;
use crate::query;
use crate::table::ClaimOn;
use crate::verify::advice::{claim_index, lease_index};
use crate::verify::explain::Explain;
use crate::verify::finding::{Check, Finding, Severity};
use crate::verify::sql_words::names;

/// One line of a plan.
#[derive(Debug, Clone, diesel::QueryableByName)]
struct Step {
    #[diesel(sql_type = Integer)]
    parent: i32,
    #[diesel(sql_type = Text)]
    detail: String,
}

/// How the rows of the table are found by a plan.
#[derive(Debug, Default)]
struct Way {
    reads_all: bool,
    sorts: bool,
    /// The index that is walked, and what it is searched by.
    index: Option<(String, String)>,
}

fn explained(conn: &mut SqliteConnection, statement: impl QueryFragment<Sqlite>) -> QueryResult<Vec<Step>> {
    Explain { how: "EXPLAIN QUERY PLAN ", statement }.load(conn)
}

/// The claim of one row by readiness.
pub(super) fn claim<T: ClaimOn<Sqlite>>(conn: &mut SqliteConnection, table: &Table<'_>) -> Found {
    let worker = WorkerId::generate("verify");
    let plan = explained(conn, query::claim_next::<T>(&ClaimRequest::new(&worker)))?;
    // At the top the update finds its rows by their keys; the candidates come from below.
    let way = way(table, plan.iter().filter(|step| step.parent != 0));
    let mend = claim_index(table.text, "CREATE INDEX", &Sqlite::quote(&table.name));
    let says = match not_in_order(&way, "the claim") {
        Some(says) => Some(says),
        None => walks_over_others(conn, table, &way)?,
    };
    Ok(says.map(|says| by_size(table, Check::ClaimIndex, says).mend(mend)).into_iter().collect())
}

/// Looking for expired leases.
pub(super) fn lease<T: ClaimOn<Sqlite>>(conn: &mut SqliteConnection, table: &Table<'_>) -> Found {
    if table.text.declaration.columns.lease.is_none() {
        return Ok(Vec::new());
    }
    let plan = explained(conn, query::expiring::<T>(Duration::ZERO, 100, None))?;
    let way = way(table, plan.iter());
    let mend = lease_index(table.text, "CREATE INDEX", &Sqlite::quote(&table.name));
    let says = not_in_order(&way, "recovery");
    Ok(says.map(|says| by_size(table, Check::LeaseIndex, says).mend(mend)).into_iter().collect())
}

/// No index has the rows in order: each call reads or sorts all of them.
fn not_in_order(way: &Way, what: &str) -> Option<String> {
    let does = match way {
        Way { reads_all: true, .. } => "reads the whole table",
        Way { sorts: true, .. } => "sorts all rows that it may take",
        _ => return None,
    };
    Some(format!("no index has the rows for {what} in order: each call {does}"))
}

/// The index that is there holds finished rows, or rows of other queues, that each claim walks over.
fn walks_over_others(
    conn: &mut SqliteConnection,
    table: &Table<'_>,
    way: &Way,
) -> QueryResult<Option<String>> {
    #[derive(diesel::QueryableByName)]
    struct Index {
        #[diesel(sql_type = Bool)]
        partial: bool,
    }
    let columns = &table.text.declaration.columns;
    let (index, condition) = way.index.clone().unwrap_or_default();
    let found: Option<Index> =
        diesel::sql_query("SELECT partial <> 0 AS partial FROM pragma_index_list(?) WHERE name = ?")
            .bind::<Text, _>(&table.name)
            .bind::<Text, _>(&index)
            .get_result(conn)
            .optional()?;
    let partial = found.is_some_and(|found| found.partial);
    let searched = names(&condition);
    let over = match columns.queue {
        _ if !partial && !searched.contains(&columns.state.to_lowercase()) => "rows that are not pending",
        Some(queue) if !searched.contains(&queue.to_lowercase()) => "rows of other queues",
        _ => return Ok(None),
    };
    let along = if index.is_empty() {
        "the table".to_owned()
    } else {
        format!("the index {}", Sqlite::quote(&index))
    };
    Ok(Some(format!("the claim walks along {along}, over {over}, however many there are")))
}

/// It is a matter of size: the first few hundred rows are read faster than an index.
fn by_size(table: &Table<'_>, check: Check, says: String) -> Finding {
    match table.large {
        true => Finding::new(Severity::Warning, check, says),
        false => {
            Finding::new(Severity::Notice, check, format!("{says}. It does not matter until there are more"))
        }
    }
}

/// `SCAN t`, `SCAN t USING [COVERING] INDEX i`, `SEARCH t USING [COVERING] INDEX i (a=? AND b<?)`,
/// `USE TEMP B-TREE FOR ORDER BY`.
fn way<'s>(table: &Table<'_>, plan: impl Iterator<Item = &'s Step>) -> Way {
    let mut way = Way::default();
    let mut ours_before = false;
    for Step { detail, .. } in plan {
        let found = ["SCAN ", "SEARCH "].iter().find_map(|verb| detail.strip_prefix(verb));
        let ours = found.and_then(|rest| rest.strip_prefix(table.name.as_str()));
        let ours = ours.filter(|rest| rest.is_empty() || rest.starts_with(' '));
        match ours {
            Some(how) => {
                let index =
                    how.split_once("INDEX ").map(|(_, index)| index.split_once(' ').unwrap_or((index, "")));
                match index {
                    Some((index, condition)) => way.index = Some((index.to_owned(), condition.to_owned())),
                    // The rows in the order of their ids, or all of them.
                    None => way.reads_all |= detail.starts_with("SCAN "),
                }
                ours_before = true;
            }
            None if found.is_some() => ours_before = false,
            // What is sorted is what was found before.
            None => {
                way.sorts |= ours_before && detail.contains("TEMP B-TREE FOR") && detail.contains("ORDER BY")
            }
        }
    }
    way
}
