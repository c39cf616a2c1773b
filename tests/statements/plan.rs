//! Reading a plan of PostgreSQL.

use diesel::pg::Pg;
use diesel::query_builder::QueryFragment;
use diesel::sql_types::{Array, Text};
use diesel::{PgConnection, QueryableByName, RunQueryDsl};
use serde_json::Value;

/// One step of a plan, and the kinds of the steps above it, nearest first.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: String,
    pub(crate) relation: String,
    pub(crate) index: String,
    pub(crate) condition: String,
    above: Vec<String>,
}

/// A plan and how it reads in full.
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    json: String,
}

#[derive(QueryableByName)]
struct Prepared {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Array<Text>)]
    types: Vec<String>,
}

#[derive(QueryableByName)]
struct Explained {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    plan: String,
}

/// The text of a node, as it is sent.
pub(crate) fn text(node: &impl QueryFragment<Pg>) -> String {
    let shown = diesel::debug_query::<Pg, _>(node).to_string();
    shown.split_once(" -- binds: ").expect("it always shows the values").0.to_owned()
}

/// The plan of the next execution of the statement that the connection has prepared for this text.
pub(crate) fn of_prepared(conn: &mut PgConnection, text: &str) -> Plan {
    let prepared: Prepared = diesel::sql_query(
        "SELECT name, parameter_types::text[] AS types FROM pg_prepared_statements WHERE statement = $1",
    )
    .bind::<Text, _>(text)
    .get_result(conn)
    .unwrap_or_else(|error| panic!("prepared once: {error}\n{text}"));
    let values: Vec<String> = prepared.types.iter().map(|name| value(name)).collect();
    let arguments = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    let explain = format!("EXPLAIN (FORMAT JSON) EXECUTE \"{}\"{arguments}", prepared.name);
    let explained: Explained = diesel::sql_query(explain).get_result(conn).expect("a plan");
    let json: Value = serde_json::from_str(&explained.plan).expect("a plan as JSON");
    let mut steps = Vec::new();
    walk(&json[0]["Plan"], &[], &mut steps);
    Plan { steps, json: format!("{text}\n{}", explained.plan) }
}

/// Something of this type. It decides the plan only where the server plans for the values.
fn value(name: &str) -> String {
    match name {
        "bigint[]" => format!("ARRAY[{}]::bigint[]", list(|n| n.to_string())),
        "integer[]" => format!("ARRAY[{}]", list(|_| "2".to_owned())),
        "text[]" => "'{a,b,c}'".to_owned(),
        "bigint" | "integer" => "100".to_owned(),
        "interval" => "'1 second'".to_owned(),
        "timestamp with time zone" => "now()".to_owned(),
        "text" => "'a'".to_owned(),
        other => panic!("no value of type {other}"),
    }
}

fn list(one: impl Fn(i32) -> String) -> String {
    (1..=100).map(one).collect::<Vec<_>>().join(",")
}

fn walk(node: &Value, above: &[String], steps: &mut Vec<Step>) {
    let read = |name: &str| node[name].as_str().unwrap_or_default().to_owned();
    let kind = read("Node Type");
    steps.push(Step {
        kind: kind.clone(),
        relation: read("Relation Name"),
        index: read("Index Name"),
        condition: read("Index Cond"),
        above: above.to_vec(),
    });
    let below: Vec<String> = [kind].into_iter().chain(above.iter().cloned()).collect();
    for child in node["Plans"].as_array().into_iter().flatten() {
        walk(child, &below, steps);
    }
}

impl Plan {
    /// The table is read by this index, with all of these in the condition.
    #[track_caller]
    pub(crate) fn reads(&self, index: &str, condition: &[&str]) -> &Step {
        let found = self
            .steps
            .iter()
            .find(|step| step.index == index && condition.iter().all(|part| step.condition.contains(part)));
        found.unwrap_or_else(|| panic!("no scan of {index} by {condition:?} in\n{}", self.json))
    }

    /// The table is read by these indexes and not otherwise.
    #[track_caller]
    pub(crate) fn reads_only(&self, indexes: &[&str]) {
        // The index of a bitmap stands in the step below it.
        let scans = self.steps.iter().filter(|s| s.kind.contains("Scan") && s.kind != "Bitmap Heap Scan");
        for step in scans {
            let of_table = step.relation == "claimstore_jobs" || !step.index.is_empty();
            let known = indexes.contains(&step.index.as_str());
            assert!(!of_table || known, "{} {} in\n{}", step.kind, step.index, self.json);
        }
    }

    /// What this index finds is in order already: nothing sorts it before the limit cuts it.
    #[track_caller]
    pub(crate) fn in_order(&self, index: &str) {
        let step = self.reads(index, &[]);
        let before_the_limit = step.above.iter().take_while(|kind| *kind != "Limit");
        let sorts: Vec<_> = before_the_limit.filter(|kind| kind.contains("Sort")).collect();
        let limited = step.above.iter().any(|kind| kind == "Limit");
        assert!(limited && sorts.is_empty(), "{sorts:?} above {index} in\n{}", self.json);
    }
}
