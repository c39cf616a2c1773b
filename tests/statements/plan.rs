//! Reading a plan of PostgreSQL.

use diesel::connection::SimpleConnection;
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
    /// Looked at once, before anything below is read.
    pub(crate) gate: String,
    /// Rows looked at, also those that a filter threw away. Zero where the statement was not run.
    read: u64,
    above: Vec<String>,
}

/// A plan and how it reads in full.
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// Pages looked at.
    pub(crate) pages: u64,
    json: String,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.json)
    }
}

/// Whether the server plans for the values, or once for all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Planned {
    Custom,
    Generic,
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
    explained(conn, text, "", &[])
}

/// The plan of this execution with these values and, where they end, some of the right types, and what it reads.
/// What the statement writes is taken back.
pub(crate) fn measured(conn: &mut PgConnection, planned: Planned, text: &str, values: &[&str]) -> Plan {
    let mode = match planned {
        Planned::Custom => "force_custom_plan",
        Planned::Generic => "force_generic_plan",
    };
    let mut sql = |sql: &str| conn.batch_execute(sql).expect("in a transaction");
    sql(&format!("SAVEPOINT plan; SET plan_cache_mode = {mode}"));
    let plan = explained(conn, text, "ANALYZE, BUFFERS, TIMING OFF, ", values);
    conn.batch_execute("ROLLBACK TO plan; RELEASE plan").expect("in a transaction");
    plan
}

fn explained(conn: &mut PgConnection, text: &str, how: &str, values: &[&str]) -> Plan {
    let prepared: Prepared = diesel::sql_query(
        "SELECT name, parameter_types::text[] AS types FROM pg_prepared_statements WHERE statement = $1",
    )
    .bind::<Text, _>(text)
    .get_result(conn)
    .unwrap_or_else(|error| panic!("prepared once: {error}\n{text}"));
    let given = values.iter().map(|value| (*value).to_owned());
    let rest = prepared.types.iter().skip(values.len()).map(|name| value(name));
    let values: Vec<String> = given.chain(rest).collect();
    let arguments = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    let explain = format!("EXPLAIN ({how}FORMAT JSON) EXECUTE \"{}\"{arguments}", prepared.name);
    let explained: Explained = diesel::sql_query(explain).get_result(conn).expect("a plan");
    let json: Value = serde_json::from_str(&explained.plan).expect("a plan as JSON");
    let top = &json[0]["Plan"];
    let mut steps = Vec::new();
    walk(top, &[], &mut steps);
    let pages =
        ["Shared Hit Blocks", "Shared Read Blocks"].map(|name| top[name].as_u64().unwrap_or_default());
    Plan { steps, pages: pages.iter().sum(), json: format!("{text}\n{}", explained.plan) }
}

/// Something of this type. It decides the plan only where the server plans for the values.
fn value(name: &str) -> String {
    match name {
        "bigint[]" => format!("ARRAY[{}]::bigint[]", list(|n| n.to_string())),
        "integer[]" => format!("ARRAY[{}]", list(|_| "2".to_owned())),
        "timestamp with time zone[]" => format!("ARRAY[{}]::timestamptz[]", list(|_| "NULL".to_owned())),
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
    // What a filter has thrown away is told as an average over the loops.
    let number = |name: &str| node[name].as_f64().unwrap_or_default();
    let each = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"].map(number);
    steps.push(Step {
        kind: kind.clone(),
        read: (each.iter().sum::<f64>() * number("Actual Loops")) as u64,
        relation: read("Relation Name"),
        index: read("Index Name"),
        condition: read("Index Cond"),
        gate: read("One-Time Filter"),
        above: above.to_vec(),
    });
    let below: Vec<String> = [kind].into_iter().chain(above.iter().cloned()).collect();
    for child in node["Plans"].as_array().into_iter().flatten() {
        walk(child, &below, steps);
    }
}

impl Step {
    fn is_of(&self, table: &str) -> bool {
        self.kind.contains("Scan") && self.relation == table
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

    /// Rows of the table that were looked at, however often.
    pub(crate) fn rows_read(&self) -> u64 {
        self.steps.iter().filter(|step| step.is_of("claimstore_jobs")).map(|step| step.read).sum()
    }

    /// No table is read from end to end.
    #[track_caller]
    pub(crate) fn has_no_whole_scan(&self) {
        assert!(self.steps.iter().all(|step| step.kind != "Seq Scan"), "{}", self.json);
    }

    /// It looks at no more rows than this, finds them all by an index, and sorts nothing else.
    #[track_caller]
    pub(crate) fn reads_at_most(&self, rows: u64) {
        let whole =
            self.steps.iter().any(|step| step.kind == "Seq Scan" && step.relation == "claimstore_jobs");
        let sorted = self.steps.iter().filter(|step| step.kind.contains("Sort")).map(|step| step.read).max();
        let most = self.rows_read().max(sorted.unwrap_or_default());
        assert!(!whole && most <= rows, "{most} rows, not {rows}, are read in\n{}", self.json);
    }

    /// Whether a queue is paused is asked once for all of its rows, and what is paused is found by its key.
    #[track_caller]
    pub(crate) fn asks_once(&self) {
        let gate = self.steps.iter().any(|step| step.gate.contains("SubPlan"));
        let settings = self.steps.iter().filter(|step| step.relation == "claimstore_queues");
        let by_key = settings.clone().count() > 0 && settings.into_iter().all(|step| !step.index.is_empty());
        assert!(gate && by_key, "{}", self.json);
    }

    /// The table is read by these indexes and not otherwise.
    #[track_caller]
    pub(crate) fn reads_only(&self, indexes: &[&str]) {
        // The index of a bitmap stands in the step below it.
        let scans = self.steps.iter().filter(|s| s.kind.contains("Scan") && s.kind != "Bitmap Heap Scan");
        for step in scans {
            let of_settings = step.relation == "claimstore_queues" || step.index == "claimstore_queues_pkey";
            let of_table = step.relation == "claimstore_jobs" || (!step.index.is_empty() && !of_settings);
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
