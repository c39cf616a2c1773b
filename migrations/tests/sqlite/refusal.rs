//! What is refused, in which words, and that it leaves no trace.

use claimstore_migrations::{
    MigrateError, SCHEMA_VERSION, SchemaProblem, check_sqlite, revert_sqlite, run_sqlite,
};
use diesel::Connection;
use diesel::connection::SimpleConnection;

use crate::support::{Database, PATIENT, TestResult};

#[test]
fn a_newer_schema_is_refused_in_words_and_left_alone() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    run_sqlite(&mut conn, PATIENT)?;
    let newer = SCHEMA_VERSION + 1;
    conn.batch_execute(&format!("INSERT INTO claimstore_schema VALUES ({newer})"))?;
    let before = (db.objects(), db.recorded());

    for refused in [run_sqlite(&mut conn, PATIENT), revert_sqlite(&mut conn, PATIENT)] {
        let error = refused.expect_err("too new");
        assert!(
            matches!(error, MigrateError::Newer { found, wanted } if found == newer && wanted == SCHEMA_VERSION)
        );
        assert!(error.to_string().contains("upgrade claimstore"), "{error}");
    }
    let problem = check_sqlite(&mut conn).expect_err("too new");
    assert!(matches!(problem, SchemaProblem::Newer { found, .. } if found == newer));
    assert!(problem.to_string().contains("this library is older than the schema"), "{problem}");
    assert_eq!((db.objects(), db.recorded()), before);
    Ok(())
}

#[test]
fn a_newer_schema_is_refused_although_another_connection_holds_the_lock() -> TestResult {
    let db = Database::empty();
    run_sqlite(&mut db.connect(), PATIENT)?;
    db.execute("INSERT INTO claimstore_schema VALUES (9999)");
    let mut other = db.connect();
    other.batch_execute("BEGIN IMMEDIATE")?;
    let refused = run_sqlite(&mut db.connect(), PATIENT);
    assert!(matches!(refused, Err(MigrateError::Newer { found: 9999, .. })), "{refused:?}");
    Ok(())
}

#[test]
fn an_older_schema_is_told_from_a_missing_one() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    let missing = check_sqlite(&mut conn).expect_err("nothing there");
    assert!(matches!(missing, SchemaProblem::Missing));
    assert!(missing.to_string().contains("run store.migrate() or apply the exported migrations"));

    conn.batch_execute("CREATE TABLE claimstore_schema (version INTEGER NOT NULL PRIMARY KEY)")?;
    let older = check_sqlite(&mut conn).expect_err("an empty table");
    assert!(matches!(older, SchemaProblem::Older { found: 0, wanted: SCHEMA_VERSION }), "{older:?}");
    assert!(older.to_string().contains("run store.migrate() or apply the exported migrations"));
    Ok(())
}

#[test]
fn a_failing_migration_is_named_with_its_first_error_and_leaves_nothing() -> TestResult {
    let db = Database::empty();
    // The last table that the first migration creates: what it did before must go again.
    db.execute("CREATE TABLE claimstore_events (mine TEXT)");
    let before = db.objects();
    let error = run_sqlite(&mut db.connect(), PATIENT).expect_err("the name is taken");
    let MigrateError::Failed { version, source } = &error else { panic!("{error:?}") };
    assert_eq!(version, "0000claimstore0001");
    assert!(source.to_string().contains("claimstore_events already exists"), "{source}");
    assert_eq!(db.objects(), before);
    assert_eq!(db.recorded(), Vec::<String>::new());
    Ok(())
}

#[test]
fn tables_dropped_by_hand_are_not_taken_for_a_schema() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    run_sqlite(&mut conn, PATIENT)?;
    conn.batch_execute(
        "DROP TABLE claimstore_jobs; DROP TABLE claimstore_events; DROP TABLE claimstore_queues;
         DROP TABLE claimstore_schema;",
    )?;
    let error = run_sqlite(&mut conn, PATIENT).expect_err("recorded but not there");
    assert!(matches!(error, MigrateError::Inconsistent { found: None }), "{error:?}");

    conn.batch_execute("DELETE FROM __diesel_schema_migrations WHERE version LIKE '0000claimstore%'")?;
    run_sqlite(&mut conn, PATIENT)?;
    check_sqlite(&mut conn)?;
    Ok(())
}

#[test]
fn a_transaction_of_the_caller_is_refused_and_stays_usable() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    conn.transaction::<_, diesel::result::Error, _>(|conn| {
        let refused = run_sqlite(conn, PATIENT);
        assert!(matches!(refused, Err(MigrateError::InTransaction)), "{refused:?}");
        conn.batch_execute("CREATE TABLE mine (n INTEGER)")
    })?;
    assert_eq!(db.objects(), ["mine CREATE TABLE mine (n INTEGER)"]);
    Ok(())
}
