//! The lock is held elsewhere: who waits, for how long, and what it is told.

use std::time::{Duration, Instant};

use claimstore_migrations::{
    LockHolder, MigrateError, check_sqlite, revert_sqlite, run_sqlite, run_sqlite_telling,
};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use crate::support::{Database, PATIENT, TestResult, all_versions};

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_lock_held_elsewhere_ends_in_the_typed_error_and_changes_nothing() -> TestResult {
    let db = Database::empty();
    let mut other = db.connect();
    other.batch_execute("CREATE TABLE mine (n INTEGER); BEGIN IMMEDIATE;")?;

    let mut conn = db.connect();
    let start = Instant::now();
    let error = run_sqlite(&mut conn, SHORT).expect_err("locked");
    let took = start.elapsed();
    assert!(matches!(&error, MigrateError::Locked { waited, holder: LockHolder::File } if *waited >= SHORT));
    assert!(error.to_string().contains("another connection holds the lock of the database file"), "{error}");
    // The connection's own busy timeout is a minute; it must not count.
    assert!(took >= SHORT && took < SHORT + Duration::from_secs(10), "{took:?}");

    other.batch_execute("ROLLBACK")?;
    assert_eq!(db.objects(), ["mine CREATE TABLE mine (n INTEGER)"]);
    assert_eq!(run_sqlite(&mut conn, PATIENT)?.versions, all_versions());
    Ok(())
}

#[test]
fn no_time_means_one_try() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    run_sqlite(&mut conn, Duration::ZERO)?;
    let mut other = db.connect();
    other.batch_execute("BEGIN IMMEDIATE")?;
    let refused = revert_sqlite(&mut conn, Duration::ZERO);
    assert!(matches!(refused, Err(MigrateError::Locked { .. })), "{refused:?}");
    Ok(())
}

#[test]
fn a_finished_schema_needs_no_lock() -> TestResult {
    let db = Database::empty();
    run_sqlite(&mut db.connect(), PATIENT)?;
    let mut other = db.connect();
    other.batch_execute("BEGIN IMMEDIATE")?;
    assert!(run_sqlite(&mut db.connect(), Duration::ZERO)?.versions.is_empty());
    Ok(())
}

#[test]
fn a_reader_that_holds_up_the_commit_ends_in_the_typed_error_too() -> TestResult {
    let db = Database::empty();
    db.execute("CREATE TABLE mine (n INTEGER)");
    let mut reader = db.connect();
    // A rollback journal cannot commit while somebody reads.
    reader.batch_execute("BEGIN; SELECT * FROM mine;")?;
    let mut conn = db.connect();
    let refused = run_sqlite(&mut conn, SHORT);
    assert!(matches!(refused, Err(MigrateError::Locked { holder: LockHolder::File, .. })), "{refused:?}");
    reader.batch_execute("ROLLBACK")?;
    assert_eq!(db.objects().len(), 1);
    run_sqlite(&mut conn, PATIENT)?;
    check_sqlite(&mut conn)?;
    Ok(())
}

#[test]
fn who_waits_is_told_and_goes_on_when_the_lock_is_free() -> TestResult {
    let db = Database::empty();
    let mut other = db.connect();
    other.batch_execute("BEGIN IMMEDIATE")?;
    let mut told = Vec::new();
    let report = run_sqlite_telling(&mut db.connect(), PATIENT, &mut |holder| {
        told.push(holder.clone());
        other.batch_execute("ROLLBACK").expect("it ends");
    })?;
    assert_eq!(told, [LockHolder::File]);
    assert_eq!(report.versions, all_versions());
    Ok(())
}

#[test]
fn the_busy_timeout_of_the_connection_comes_back() -> TestResult {
    #[derive(QueryableByName)]
    struct Setting {
        #[diesel(sql_type = diesel::sql_types::Integer)]
        timeout: i32,
    }
    let db = Database::empty();
    let mut other = db.connect();
    let mut conn = db.connect();
    conn.batch_execute("PRAGMA busy_timeout = 1234")?;
    let setting = |conn: &mut SqliteConnection| {
        diesel::sql_query("PRAGMA busy_timeout").get_result::<Setting>(conn).map(|row| row.timeout)
    };

    other.batch_execute("BEGIN IMMEDIATE")?;
    run_sqlite(&mut conn, Duration::ZERO).expect_err("locked");
    assert_eq!(setting(&mut conn)?, 1234);

    other.batch_execute("ROLLBACK")?;
    run_sqlite(&mut conn, PATIENT)?;
    assert_eq!(setting(&mut conn)?, 1234);
    Ok(())
}
