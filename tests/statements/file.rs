//! A loaded job table on SQLite, and what a statement costs on it.

use claimstore::core::Timestamp;
use claimstore::{Job, SqliteStore};
use claimstore_tests::sqlite::TestFile;
use diesel::query_builder::QueryFragment;
use diesel::sqlite::Sqlite;
use rusqlite::types::Value;
use rusqlite::{Connection, StatementStatus, params_from_iter};

use crate::mix::Mix;

/// A file of its own, and the instant that was now when it was filled.
pub(crate) struct LoadedFile {
    pub(crate) conn: Connection,
    pub(crate) now: i64,
    _file: TestFile,
}

/// How a statement was run.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) plan: String,
    /// Instructions of SQLite's machine: each row that is looked at takes some.
    pub(crate) steps: i32,
    pub(crate) rows: usize,
}

impl LoadedFile {
    pub(crate) fn with(mix: Mix, analyze: bool) -> LoadedFile {
        let file = TestFile::fresh();
        SqliteStore::<Job>::open(file.url()).expect("a file").migrate().expect("the tables");
        let conn = Connection::open(file.path()).expect("the same file");
        let now = Timestamp::of_this_host().as_micros();
        conn.execute_batch(&mix.sqlite(now)).expect("rows");
        if analyze {
            conn.execute_batch("ANALYZE").expect("statistics");
        }
        LoadedFile { conn, now, _file: file }
    }

    /// Runs the statement with these values, which stand in the order of its text, and takes back what it wrote.
    pub(crate) fn run(&self, node: &impl QueryFragment<Sqlite>, values: Vec<Value>) -> Read {
        let shown = diesel::debug_query::<Sqlite, _>(node).to_string();
        let text = shown.split_once(" -- binds: ").expect("it always shows the values").0;
        let plan = self.plan(text, &values);
        self.conn.execute_batch("SAVEPOINT run").expect("a savepoint");
        let mut statement = self.conn.prepare(text).expect("a statement");
        let mut rows = statement.query(params_from_iter(values)).expect("it runs");
        let mut count = 0;
        while rows.next().unwrap_or_else(|error| panic!("{error} in\n{text}")).is_some() {
            count += 1;
        }
        drop(rows);
        let steps = statement.get_status(StatementStatus::VmStep);
        drop(statement);
        self.conn.execute_batch("ROLLBACK TO run; RELEASE run").expect("as before");
        Read { plan, steps, rows: count }
    }

    fn plan(&self, text: &str, values: &[Value]) -> String {
        let mut explain = self.conn.prepare(&format!("EXPLAIN QUERY PLAN {text}")).expect("a plan");
        let lines = explain.query_map(params_from_iter(values), |row| row.get::<_, String>("detail"));
        lines.expect("a plan").map(|line| line.expect("a line") + "\n").collect()
    }
}

impl Read {
    /// All rows of the table are found by this, none by reading it from end to end, and nothing is sorted.
    #[track_caller]
    pub(crate) fn uses(&self, index: &str) {
        assert!(self.plan.contains(index), "no {index} in\n{}", self.plan);
        assert!(!self.plan.contains("SCAN claimstore_jobs\n"), "{}", self.plan);
        assert!(!self.plan.contains("TEMP B-TREE"), "{}", self.plan);
    }
}
