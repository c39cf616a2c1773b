//! SQLite: the lock is the file's own.
//!
//! `BEGIN IMMEDIATE` is the lock and the first statement at once, so that nothing is decided on a snapshot
//! which another process has overtaken. The connection's busy timeout is put aside while we wait, because
//! one try would last as long as it says, and put back afterwards.

use std::time::Duration;

use diesel::connection::{AnsiTransactionManager, SimpleConnection};
use diesel::prelude::*;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Integer, Nullable};
use diesel::sqlite::SqliteConnection;

use crate::lock::{Deadline, Lockable, Work};
use crate::{LockHolder, MigrateError, Report, SCHEMA_VERSION, SchemaProblem, apply, lock, schema};

/// Applies the migrations that are pending, waiting for other processes no longer than `wait`.
///
/// # Errors
///
/// [`MigrateError`]; the database is then as it was. Inside a transaction of the caller it is
/// [`MigrateError::InTransaction`].
pub fn run_sqlite(conn: &mut SqliteConnection, wait: Duration) -> Result<Report, MigrateError> {
    run_sqlite_telling(conn, wait, &mut |_| ())
}

/// Like [`run_sqlite`], and calls `tell` when it begins to wait and about every second from then on.
///
/// # Errors
///
/// As [`run_sqlite`].
pub fn run_sqlite_telling(
    conn: &mut SqliteConnection,
    wait: Duration,
    tell: &mut dyn FnMut(&LockHolder),
) -> Result<Report, MigrateError> {
    with_own_timeout(conn, |conn| lock::work(conn, Work::Up, wait, tell))
}

/// Takes down every table of claimstore **with all that is in it**, under the same lock as [`run_sqlite`].
///
/// Only what Diesel's table records as applied is taken down.
///
/// # Errors
///
/// As [`run_sqlite`].
pub fn revert_sqlite(conn: &mut SqliteConnection, wait: Duration) -> Result<Report, MigrateError> {
    with_own_timeout(conn, |conn| lock::work(conn, Work::Down, wait, &mut |_| ()))
}

/// Whether the tables fit this library. Reads only.
///
/// # Errors
///
/// [`SchemaProblem`] says what does not fit and what to do.
pub fn check_sqlite(conn: &mut SqliteConnection) -> Result<(), SchemaProblem> {
    schema::judge(version(conn)?)
}

impl Lockable for SqliteConnection {
    fn attempt(&mut self, work: Work, deadline: &Deadline) -> Result<Option<Vec<String>>, MigrateError> {
        match AnsiTransactionManager::begin_transaction_sql(self, "BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(Error::AlreadyInTransaction) => return Err(MigrateError::InTransaction),
            Err(refused) => return without_lock(self, work, refused),
        }
        let outcome = under_lock(self, work, deadline);
        match apply::finish(self, outcome) {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_busy(&error.to_string()) => {
                // A reader kept the commit from happening until its own time limit was over.
                Err(MigrateError::Locked { waited: deadline.waited(), holder: LockHolder::File })
            }
            Err(error) => Err(error),
        }
    }

    fn holder(&mut self) -> LockHolder {
        LockHolder::File
    }
}

/// What is left to say without the lock: nothing to do, too new, or busy.
fn without_lock(
    conn: &mut SqliteConnection,
    work: Work,
    refused: Error,
) -> Result<Option<Vec<String>>, MigrateError> {
    let found = version(conn);
    if let Ok(Some(found)) = found {
        refuse_newer(Some(found))?;
        if work == Work::Up && found == SCHEMA_VERSION {
            return Ok(Some(Vec::new()));
        }
    }
    if is_busy(&refused.to_string()) {
        return Ok(None);
    }
    Err(MigrateError::database("beginning a transaction")(refused))
}

fn under_lock(
    conn: &mut SqliteConnection,
    work: Work,
    deadline: &Deadline,
) -> Result<Vec<String>, MigrateError> {
    // Readers of a rollback journal may still hold up the commit; SQLite waits for them.
    set_timeout(conn, deadline.left_as_setting().into())?;
    let found = version(conn)?;
    refuse_newer(found)?;
    match work {
        Work::Down => apply::down(conn, crate::sqlite()),
        Work::Up if found == Some(SCHEMA_VERSION) => Ok(Vec::new()),
        Work::Up => {
            let done = apply::up(conn, crate::sqlite())?;
            match version(conn)? {
                Some(SCHEMA_VERSION) => Ok(done),
                found => Err(MigrateError::Inconsistent { found }),
            }
        }
    }
}

fn refuse_newer(found: Option<i32>) -> Result<(), MigrateError> {
    match schema::judge(found) {
        Err(newer @ SchemaProblem::Newer { .. }) => Err(newer.into()),
        _ => Ok(()),
    }
}

/// Keeps the caller's busy timeout out of `body`, and returns it afterwards.
fn with_own_timeout<T>(
    conn: &mut SqliteConnection,
    body: impl FnOnce(&mut SqliteConnection) -> Result<T, MigrateError>,
) -> Result<T, MigrateError> {
    let before = timeout(conn)?;
    set_timeout(conn, 0)?;
    let outcome = body(conn);
    let restored = set_timeout(conn, before);
    let value = outcome?;
    restored.map(|()| value)
}

#[derive(QueryableByName)]
struct Timeout {
    #[diesel(sql_type = BigInt)]
    timeout: i64,
}

fn timeout(conn: &mut SqliteConnection) -> Result<i64, MigrateError> {
    let row: Timeout = diesel::sql_query("PRAGMA busy_timeout")
        .get_result(conn)
        .map_err(MigrateError::database("reading the busy timeout"))?;
    Ok(row.timeout)
}

fn set_timeout(conn: &mut SqliteConnection, millis: i64) -> Result<(), MigrateError> {
    conn.batch_execute(&format!("PRAGMA busy_timeout = {millis}"))
        .map_err(MigrateError::database("setting the busy timeout"))
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Nullable<Integer>)]
    version: Option<i32>,
}

/// What `claimstore_schema` says: `None` without the table, 0 if it is empty.
fn version(conn: &mut SqliteConnection) -> Result<Option<i32>, SchemaProblem> {
    let unreadable = |source| SchemaProblem::Unreadable { source };
    // A row of the catalog first: a statement that names a missing table would be an error.
    let tables: Vec<Version> = diesel::sql_query(
        "SELECT 1 AS version FROM sqlite_master WHERE type = 'table' AND name = 'claimstore_schema'",
    )
    .load(conn)
    .map_err(unreadable)?;
    if tables.is_empty() {
        return Ok(None);
    }
    let row: Version = diesel::sql_query("SELECT max(version) AS version FROM claimstore_schema")
        .get_result(conn)
        .map_err(unreadable)?;
    Ok(Some(row.version.unwrap_or(0)))
}

/// SQLite's busy has no kind in Diesel, only these texts.
fn is_busy(text: &str) -> bool {
    ["database is locked", "database table is locked", "database schema is locked"]
        .iter()
        .any(|busy| text.contains(busy))
}
