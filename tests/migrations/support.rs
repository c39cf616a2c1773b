//! Reading what is there without the library, and a migration that stands still where one wants it to.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use claimstore_migrations::{MigrateError, Report, SCHEMA_VERSION, run_postgres};
use diesel::connection::{Connection, InstrumentationEvent};
use diesel::prelude::*;
use diesel::sql_types::Text;

pub(crate) type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Long enough for everything that is expected to come.
pub(crate) const PATIENT: Duration = Duration::from_secs(60);

/// What the versions of a schema that is complete are called.
pub(crate) fn all_versions() -> Vec<String> {
    (1..=SCHEMA_VERSION).map(|n| format!("0000claimstore{n:04}")).collect()
}

/// The column `text` of a query.
pub(crate) fn texts(conn: &mut PgConnection, sql: &str) -> Vec<String> {
    #[derive(QueryableByName)]
    struct Line {
        #[diesel(sql_type = Text)]
        text: String,
    }
    let lines: Vec<Line> = diesel::sql_query(sql).load(conn).expect("a sound query");
    lines.into_iter().map(|line| line.text).collect()
}

/// Tables, indexes, columns and constraints of the current schema, except those of Diesel's table.
pub(crate) fn objects(conn: &mut PgConnection) -> Vec<String> {
    texts(
        conn,
        "SELECT c.relkind::text || ' ' || c.relname || ' ' || coalesce(pg_get_indexdef(c.oid), '') AS text
           FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relname !~ '^__diesel'
         UNION ALL
         SELECT a.attrelid::regclass || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                || ' ' || a.attnotnull || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
           FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
           LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
          WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND c.relname !~ '^__diesel'
         UNION ALL
         SELECT conname || ' ' || pg_get_constraintdef(oid)
           FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND conname !~ '^__diesel'
         ORDER BY 1",
    )
}

/// What Diesel's table in the current schema records, oldest first; nothing without the table.
pub(crate) fn recorded(conn: &mut PgConnection) -> Vec<String> {
    let there = "SELECT tablename AS text FROM pg_tables
                 WHERE schemaname = current_schema() AND tablename = '__diesel_schema_migrations'";
    if texts(conn, there).is_empty() {
        return Vec::new();
    }
    texts(conn, "SELECT version AS text FROM __diesel_schema_migrations ORDER BY version COLLATE \"C\"")
}

/// Polls until a query returns rows.
pub(crate) fn until(conn: &mut PgConnection, what: &str, sql: &str) {
    let deadline = Instant::now() + PATIENT;
    while texts(conn, sql).is_empty() {
        assert!(Instant::now() < deadline, "never seen: {what}");
        thread::yield_now();
    }
}

/// A migration in a thread of its own that stands still before one of its statements.
pub(crate) struct Standing {
    go: Sender<()>,
    thread: JoinHandle<Result<Report, MigrateError>>,
}

impl Standing {
    /// It holds the lock and has changed nothing yet.
    pub(crate) fn start(conn: PgConnection) -> Standing {
        Standing::before("CREATE TABLE claimstore_schema", conn)
    }

    /// It stands before the first statement that contains this text.
    pub(crate) fn before(text: &'static str, mut conn: PgConnection) -> Standing {
        let (reached, is_reached): (Sender<()>, Receiver<()>) = channel();
        let (go, may_go): (Sender<()>, Receiver<()>) = channel();
        let gate = std::sync::Mutex::new(Some((reached, may_go)));
        let thread = thread::spawn(move || {
            conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
                let InstrumentationEvent::StartQuery { query, .. } = event else { return };
                if query.to_string().contains(text)
                    && let Some((reached, may_go)) = gate.lock().expect("one thread").take()
                {
                    reached.send(()).expect("somebody waits for this");
                    may_go.recv().expect("somebody lets it go on");
                }
            });
            run_postgres(&mut conn, PATIENT)
        });
        is_reached.recv().expect("it gets as far as that");
        Standing { go, thread }
    }

    pub(crate) fn go_on(self) -> Result<Report, MigrateError> {
        self.go.send(()).expect("it stands there");
        self.thread.join().expect("no panic")
    }
}
