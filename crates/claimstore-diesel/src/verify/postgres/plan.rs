//! Whether an index serves the claim, asked of the planner itself with the very statement.

use std::time::Duration;

use claimstore_core::{ClaimRequest, WorkerId};
use diesel::connection::{Connection, SimpleConnection};
use diesel::pg::{Pg, PgConnection};
use diesel::query_builder::QueryFragment;
use diesel::result::Error;
use diesel::sql_types::{Bool, Oid, Text};
use diesel::{QueryResult, RunQueryDsl};
use serde_json::Value;

use super::Found;
use super::table::Table;
use crate::dialect::Dialect;
use crate::query;
use crate::table::ClaimOn;
use crate::verify::advice::{claim_index, lease_index};
use crate::verify::explain::Explain;
use crate::verify::finding::{Check, Finding, Severity};
use crate::verify::sql_words::names;

const EXPLAIN: &str = "EXPLAIN (FORMAT JSON) ";

/// With these the planner takes an index that gives the rows in order wherever there is one, however small the
/// table is and whatever it believes of it. So a sort that is left has no index to do without it.
const WHERE_THERE_IS_ONE: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; \
    SET LOCAL enable_incremental_sort = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexscan = on; \
    SET LOCAL enable_indexonlyscan = on";

#[derive(diesel::QueryableByName)]
struct Explained {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    plan: String,
}

/// How the rows of the table are found by a plan.
#[derive(Debug, Default, Clone)]
struct Way {
    /// The whole table is read.
    reads_all: bool,
    /// What was found is sorted.
    sorts: bool,
    /// The index that is walked, and what it is searched by.
    index: Option<(String, String)>,
}

impl Way {
    fn in_order(&self) -> bool {
        self.index.is_some() && !self.sorts && !self.reads_all
    }
}

/// The claim of one row by readiness.
pub(super) fn claim<T: ClaimOn<Pg>>(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    let worker = WorkerId::generate("verify");
    let ask = ClaimRequest::new(&worker);
    // The update beside it finds its row by the key.
    let candidates = |plan: &Value| below(plan, "CTE picked").cloned().unwrap_or_default();
    let could = candidates(&explain(conn, WHERE_THERE_IS_ONE, query::claim_next::<T>(&ask))?);
    let does = candidates(&explain(conn, "", query::claim_next::<T>(&ask))?);
    let (could, does) = (way(table, &could), way(table, &does));
    let mend = claim_index(table.text, table.create_index(false), &table.text.table);
    let what = "the claim";
    if let Some(finding) = unserved(table, Check::ClaimIndex, what, &could, mend.clone()) {
        return Ok(vec![finding]);
    }
    if let Some(finding) = walks_over_others(conn, table, &could, mend)? {
        return Ok(vec![finding]);
    }
    Ok(unused(table, Check::ClaimIndex, what, &could, &does).into_iter().collect())
}

/// Looking for expired leases.
pub(super) fn lease<T: ClaimOn<Pg>>(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    if table.text.declaration.columns.lease.is_none() {
        return Ok(Vec::new());
    }
    let expired = || query::expiring::<T>(Duration::ZERO, 100, None);
    let could = way(table, &explain(conn, WHERE_THERE_IS_ONE, expired())?);
    let does = way(table, &explain(conn, "", expired())?);
    let mend = lease_index(table.text, table.create_index(false), &table.text.table);
    let what = "recovery";
    let unserved = unserved(table, Check::LeaseIndex, what, &could, mend);
    let finding = unserved.or_else(|| unused(table, Check::LeaseIndex, what, &could, &does));
    Ok(finding.into_iter().collect())
}

/// No index has the rows in order: each call reads or sorts all of them.
fn unserved(table: &Table<'_>, check: Check, what: &str, could: &Way, mend: String) -> Option<Finding> {
    if could.in_order() {
        return None;
    }
    let does = if could.reads_all { "reads the whole table" } else { "sorts all rows that it may take" };
    let says = format!("no index has the rows for {what} in order: each call {does}");
    Some(by_size(table, check, says).mend(mend))
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

/// The index that is there holds finished rows, or rows of other queues, that each claim walks over.
fn walks_over_others(
    conn: &mut PgConnection,
    table: &Table<'_>,
    could: &Way,
    mend: String,
) -> QueryResult<Option<Finding>> {
    #[derive(diesel::QueryableByName)]
    struct Index {
        #[diesel(sql_type = Bool)]
        partial: bool,
    }
    let Some((index, condition)) = &could.index else { return Ok(None) };
    let columns = &table.text.declaration.columns;
    let indexes: Vec<Index> = diesel::sql_query(
        "SELECT i.indpred IS NOT NULL AS partial FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
         WHERE c.relname = $2 AND (i.indrelid = $1 OR i.indrelid IN \
         (SELECT h.inhrelid FROM pg_inherits AS h WHERE h.inhparent = $1))",
    )
    .bind::<Oid, _>(table.oid)
    .bind::<Text, _>(index)
    .load(conn)?;
    let partial = indexes.iter().any(|index| index.partial);
    let searched = names(condition);
    let over = match columns.queue {
        _ if !partial && !searched.contains(&columns.state.to_lowercase()) => "rows that are not pending",
        Some(queue) if !searched.contains(&queue.to_lowercase()) => "rows of other queues",
        _ => return Ok(None),
    };
    let says =
        format!("the claim walks along the index {}, over {over}, however many there are", Pg::quote(index));
    Ok(Some(by_size(table, Check::ClaimIndex, says).mend(mend)))
}

/// There is an index, and the planner leaves it.
fn unused(table: &Table<'_>, check: Check, what: &str, could: &Way, does: &Way) -> Option<Finding> {
    if !table.very_large || !does.reads_all {
        return None;
    }
    let index = could.index.as_ref().map_or("", |(index, _)| index);
    let says = format!(
        "{what} reads the whole table though the index {} serves it: the planner knows the table as it was, or \
         its cost settings (enable_indexscan, random_page_cost) are unusual",
        Pg::quote(index)
    );
    Some(Finding::warning(check, says).mend(format!("ANALYZE {};", table.text.table)))
}

/// Settings and all are undone with the savepoint.
fn explain(conn: &mut PgConnection, settings: &str, node: impl QueryFragment<Pg>) -> QueryResult<Value> {
    let mut explained = None;
    let undone = conn.transaction(|conn| {
        if !settings.is_empty() {
            conn.batch_execute(settings)?;
        }
        explained = Some(Explain { how: EXPLAIN, statement: node }.get_result::<Explained>(conn)?.plan);
        Err::<(), _>(Error::RollbackTransaction)
    });
    match (undone, explained) {
        (Err(Error::RollbackTransaction), Some(plan)) => {
            let plan: Value =
                serde_json::from_str(&plan).map_err(|why| Error::DeserializationError(why.into()))?;
            Ok(plan[0]["Plan"].clone())
        }
        (Err(error), _) => Err(error),
        (Ok(()), _) => Ok(Value::Null),
    }
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node["Plans"].as_array().into_iter().flatten()
}

/// The part of the plan with this name.
fn below<'p>(node: &'p Value, name: &str) -> Option<&'p Value> {
    if node["Subplan Name"] == name {
        Some(node)
    } else {
        children(node).find_map(|child| below(child, name))
    }
}

fn way(table: &Table<'_>, plan: &Value) -> Way {
    let mut way = Way::default();
    walk(table, plan, &mut way);
    way
}

/// Whether this step finds rows of the table, itself or below it. Of a partitioned table the partitions are
/// what is read; the other tables that a claim looks at are claimstore's own.
fn walk(table: &Table<'_>, node: &Value, way: &mut Way) -> bool {
    let read = |name: &str| node[name].as_str().unwrap_or_default();
    let relation = read("Relation Name");
    let ours = match relation {
        "" => false,
        name if table.partitioned => !name.starts_with("claimstore_"),
        name => name == table.name,
    };
    // Sub-plans look at other tables, and are not what is put in order.
    let apart = |child: &&Value| {
        child["Parent Relationship"] == "InitPlan" || child["Parent Relationship"] == "SubPlan"
    };
    let mut found = ours;
    for child in children(node).filter(|child| !apart(child)) {
        found |= walk(table, child, way);
    }
    match read("Node Type") {
        "Seq Scan" if ours => way.reads_all = true,
        "Index Scan" | "Index Only Scan" if ours => {
            way.index = Some((read("Index Name").to_owned(), read("Index Cond").to_owned()));
        }
        "Sort" | "Incremental Sort" if found => way.sorts = true,
        _ => {}
    }
    found
}
