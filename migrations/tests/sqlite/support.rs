//! A file of its own per test, and a reader that does not go through the library.

use std::path::PathBuf;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use tempfile::TempDir;

pub(crate) type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Long enough for everything that is expected to come.
pub(crate) const PATIENT: Duration = Duration::from_secs(60);

pub(crate) struct Database {
    dir: TempDir,
}

impl Database {
    pub(crate) fn empty() -> Database {
        Database { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("work.db")
    }

    pub(crate) fn connect(&self) -> SqliteConnection {
        connect(self.path().to_str().expect("a plain path"))
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.connect().batch_execute(sql).expect("a sound statement");
    }

    /// Names and statements of everything in the file except Diesel's table.
    pub(crate) fn objects(&self) -> Vec<String> {
        self.texts(
            "SELECT name || ' ' || coalesce(sql, '') AS text FROM sqlite_master \
             WHERE tbl_name NOT LIKE '\\_\\_diesel%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             ORDER BY name",
        )
    }

    /// What Diesel's table records, oldest first; nothing without the table.
    pub(crate) fn recorded(&self) -> Vec<String> {
        let there = "SELECT name AS text FROM sqlite_master WHERE name = '__diesel_schema_migrations'";
        if self.texts(there).is_empty() {
            return Vec::new();
        }
        self.texts("SELECT version AS text FROM __diesel_schema_migrations ORDER BY version")
    }

    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        #[derive(QueryableByName)]
        struct Line {
            #[diesel(sql_type = Text)]
            text: String,
        }
        let mut conn = self.connect();
        let lines: Vec<Line> = diesel::sql_query(sql).load(&mut conn).expect("a sound query");
        lines.into_iter().map(|line| line.text).collect()
    }

    pub(crate) fn integrity(&self) -> Vec<String> {
        self.texts("SELECT integrity_check AS text FROM pragma_integrity_check")
    }
}

pub(crate) fn connect(path: &str) -> SqliteConnection {
    let mut conn = SqliteConnection::establish(path).expect("the file opens");
    conn.batch_execute("PRAGMA busy_timeout = 60000").expect("a setting");
    conn
}

/// What the versions of a schema that is complete are called.
pub(crate) fn all_versions() -> Vec<String> {
    (1..=claimstore_migrations::SCHEMA_VERSION).map(|n| format!("0000claimstore{n:04}")).collect()
}
