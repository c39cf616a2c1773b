//! PostgreSQL: a transaction-level advisory lock, one per schema.
//!
//! Each try is one short transaction. A session-level lock, or a `SET` that outlives the transaction, would
//! stay with the server connection when a pooler hands that to another client; a blocking lock call would
//! wait without a limit and without a word.

use std::time::Duration;

use diesel::connection::AnsiTransactionManager;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{Bool, Double, Integer, Nullable, Text};

use crate::lock::{Deadline, Lockable, Work};
use crate::{LockHolder, MigrateError, Report, SCHEMA_VERSION, SchemaProblem, apply, lock, schema};

/// The first half of the advisory lock's key, the letters "clai". The second half is a hash of the schema's
/// name, so that two schemas of one database do not wait for each other.
const LOCK_CLASS: i32 = 0x636c_6169;

/// READ COMMITTED, whatever the server's default: each statement must see what others committed while we
/// waited for the lock.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Applies the migrations that are pending in the current schema, waiting for other processes no longer
/// than `wait`.
///
/// The current schema is the first of `search_path` that exists; tables of the same name in later ones are
/// neither read nor changed. Once it has the lock, it waits for locks of tables for the rest of `wait`, but
/// at least a second.
///
/// # Errors
///
/// [`MigrateError`]; the database is then as it was. Inside a transaction of the caller it is
/// [`MigrateError::InTransaction`].
pub fn run_postgres(conn: &mut PgConnection, wait: Duration) -> Result<Report, MigrateError> {
    run_postgres_telling(conn, wait, &mut |_| ())
}

/// Like [`run_postgres`], and calls `tell` when it begins to wait and about every second from then on, with
/// the session that holds the lock.
///
/// # Errors
///
/// As [`run_postgres`].
pub fn run_postgres_telling(
    conn: &mut PgConnection,
    wait: Duration,
    tell: &mut dyn FnMut(&LockHolder),
) -> Result<Report, MigrateError> {
    lock::work(conn, Work::Up, wait, tell)
}

/// Takes down every table of claimstore in the current schema **with all that is in it**, under the same
/// lock as [`run_postgres`].
///
/// Only what Diesel's table in that schema records as applied is taken down.
///
/// # Errors
///
/// As [`run_postgres`].
pub fn revert_postgres(conn: &mut PgConnection, wait: Duration) -> Result<Report, MigrateError> {
    lock::work(conn, Work::Down, wait, &mut |_| ())
}

/// Whether the tables that unqualified names lead to fit this library. Reads only, and leaves a transaction
/// of the caller usable whatever is missing.
///
/// # Errors
///
/// [`SchemaProblem`] says what does not fit and what to do.
pub fn check_postgres(conn: &mut PgConnection) -> Result<(), SchemaProblem> {
    schema::judge(version(conn)?)
}

impl Lockable for PgConnection {
    fn attempt(&mut self, work: Work, deadline: &Deadline) -> Result<Option<Vec<String>>, MigrateError> {
        match AnsiTransactionManager::begin_transaction_sql(self, BEGIN) {
            Ok(()) => {}
            Err(Error::AlreadyInTransaction) => return Err(MigrateError::InTransaction),
            Err(error) => return Err(MigrateError::database("beginning a transaction")(error)),
        }
        let outcome = in_transaction(self, work, deadline);
        match apply::finish(self, outcome) {
            Err(error) if lost_race(&error) && !deadline.left().is_zero() => Ok(None),
            other => other,
        }
    }

    fn holder(&mut self) -> LockHolder {
        diesel::sql_query(
            "SELECT held.pid, coalesce(session.application_name, '') AS application_name, \
             extract(epoch FROM clock_timestamp() - session.xact_start)::float8 AS open_for \
             FROM pg_locks AS held LEFT JOIN pg_stat_activity AS session ON session.pid = held.pid \
             WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 2 \
             AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND held.classid = $1::int4::oid AND held.objid = hashtext(current_schema()::text)::oid",
        )
        .bind::<Integer, _>(LOCK_CLASS)
        .get_result::<Holder>(self)
        .map_or(LockHolder::Unknown, |found| LockHolder::Session {
            pid: found.pid,
            application_name: found.application_name,
            open_for: found.open_for.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        })
    }
}

#[derive(QueryableByName)]
struct Holder {
    #[diesel(sql_type = Integer)]
    pid: i32,
    #[diesel(sql_type = Text)]
    application_name: String,
    #[diesel(sql_type = Nullable<Double>)]
    open_for: Option<f64>,
}

fn in_transaction(
    conn: &mut PgConnection,
    work: Work,
    deadline: &Deadline,
) -> Result<Option<Vec<String>>, MigrateError> {
    pin(conn, deadline)?;
    // Before the lock: a process that finds everything done waits for nobody.
    if let Some(nothing_to_do) = already_done(conn, work)? {
        return Ok(Some(nothing_to_do));
    }
    if !try_lock(conn)? {
        return Ok(None);
    }
    // And again: what was true before the lock may be another process's work by now.
    if let Some(nothing_to_do) = already_done(conn, work)? {
        return Ok(Some(nothing_to_do));
    }
    match work {
        Work::Down => apply::down(conn, crate::postgres()).map(Some),
        Work::Up => {
            let done = apply::up(conn, crate::postgres())?;
            match version(conn)? {
                Some(SCHEMA_VERSION) => Ok(Some(done)),
                found => Err(MigrateError::Inconsistent { found }),
            }
        }
    }
}

fn already_done(conn: &mut PgConnection, work: Work) -> Result<Option<Vec<String>>, MigrateError> {
    let found = version(conn)?;
    match schema::judge(found) {
        Err(newer @ SchemaProblem::Newer { .. }) => Err(newer.into()),
        Ok(()) if work == Work::Up => Ok(Some(Vec::new())),
        _ => Ok(None),
    }
}

#[derive(QueryableByName)]
struct Schema {
    #[diesel(sql_type = Nullable<Text>)]
    schema: Option<String>,
}

/// Narrows this transaction to the schema in which tables are created. Otherwise reading and dropping could
/// meet tables of the same name further down `search_path`.
fn pin(conn: &mut PgConnection, deadline: &Deadline) -> Result<(), MigrateError> {
    let current: Schema = diesel::sql_query("SELECT current_schema()::text AS schema")
        .get_result(conn)
        .map_err(MigrateError::database("reading the current schema"))?;
    let schema = current.schema.ok_or(MigrateError::NoSchema)?;
    diesel::sql_query(
        "SELECT set_config('search_path', quote_ident($1) || ', pg_temp', true), \
         set_config('lock_timeout', $2, true)",
    )
    .bind::<Text, _>(schema)
    .bind::<Text, _>(deadline.left_as_setting().to_string())
    .execute(conn)
    .map_err(MigrateError::database("narrowing the transaction to its schema"))?;
    Ok(())
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Nullable<Bool>)]
    answer: Option<bool>,
}

fn try_lock(conn: &mut PgConnection) -> Result<bool, MigrateError> {
    let got: Answer =
        diesel::sql_query("SELECT pg_try_advisory_xact_lock($1, hashtext(current_schema()::text)) AS answer")
            .bind::<Integer, _>(LOCK_CLASS)
            .get_result(conn)
            .map_err(MigrateError::database("trying the migration lock"))?;
    Ok(got.answer == Some(true))
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Nullable<Integer>)]
    version: Option<i32>,
}

/// What `claimstore_schema` says: `None` without the table, 0 if it is empty.
fn version(conn: &mut PgConnection) -> Result<Option<i32>, SchemaProblem> {
    let unreadable = |source| SchemaProblem::Unreadable { source };
    // Asked first, because naming a missing or forbidden table would abort a transaction of the caller.
    let readable: Answer =
        diesel::sql_query("SELECT has_table_privilege(to_regclass('claimstore_schema'), 'SELECT') AS answer")
            .get_result(conn)
            .map_err(unreadable)?;
    match readable.answer {
        None => return Ok(None),
        Some(false) => return Err(SchemaProblem::Denied),
        Some(true) => {}
    }
    let row: Version = diesel::sql_query("SELECT max(version) AS version FROM claimstore_schema")
        .get_result(conn)
        .map_err(unreadable)?;
    Ok(Some(row.version.unwrap_or(0)))
}

/// Whether a runner that does not know our lock created Diesel's table at the same moment:
/// `CREATE TABLE IF NOT EXISTS` then fails with a unique violation in the catalog.
fn lost_race(error: &MigrateError) -> bool {
    let MigrateError::Database { source, .. } = error else { return false };
    matches!(
        source.downcast_ref::<Error>(),
        Some(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _))
    )
}
