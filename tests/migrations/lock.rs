//! The lock is held elsewhere: who waits, for how long, and what it is told (field report H82).

use std::thread;
use std::time::{Duration, Instant};

use claimstore_migrations::{
    LockHolder, MigrateError, check_postgres, revert_postgres, run_postgres, run_postgres_telling,
};
use claimstore_tests::postgres::fresh;
use diesel::connection::SimpleConnection;

use crate::support::{PATIENT, Standing, TestResult, all_versions, objects, texts, until};

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn the_error_names_who_holds_the_lock_and_nothing_is_changed() -> TestResult {
    let schema = fresh();
    let mut holder = schema.connect();
    holder.batch_execute("SET application_name TO 'the other deploy'")?;
    let pid = texts(&mut holder, "SELECT pg_backend_pid()::text AS text")[0].parse::<i32>()?;
    let standing = Standing::start(holder);

    let mut conn = schema.connect();
    let start = Instant::now();
    for refused in [run_postgres(&mut conn, SHORT), revert_postgres(&mut conn, SHORT)] {
        let error = refused.expect_err("locked");
        let MigrateError::Locked { waited, holder } = &error else { panic!("{error:?}") };
        assert!(*waited >= SHORT);
        assert!(
            matches!(holder, LockHolder::Session { pid: p, application_name, open_for: Some(_) }
                if *p == pid && application_name == "the other deploy"),
            "{holder:?}"
        );
        let text = error.to_string();
        assert!(text.contains(&format!("pid {pid}")) && text.contains("the other deploy"), "{text}");
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(objects(&mut conn), Vec::<String>::new());

    assert_eq!(standing.go_on()?.versions, all_versions());
    check_postgres(&mut conn)?;
    Ok(())
}

#[test]
fn who_waits_is_told_and_goes_on_when_the_lock_is_free() -> TestResult {
    let schema = fresh();
    let mut standing = Some(Standing::start(schema.connect()));
    let mut told = 0;
    let report = run_postgres_telling(&mut schema.connect(), PATIENT, &mut |holder| {
        assert!(matches!(holder, LockHolder::Session { .. }), "{holder:?}");
        told += 1;
        if let Some(standing) = standing.take() {
            standing.go_on().expect("it migrates");
        }
    })?;
    assert_eq!(told, 1);
    assert!(report.versions.is_empty(), "the other did it");
    Ok(())
}

#[test]
fn two_schemas_of_one_database_do_not_wait_for_each_other() -> TestResult {
    let (one, other) = (fresh(), fresh());
    let standing = Standing::start(one.connect());
    assert_eq!(run_postgres(&mut other.connect(), Duration::ZERO)?.versions, all_versions());
    standing.go_on()?;
    Ok(())
}

#[test]
fn a_finished_schema_needs_no_lock() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    run_postgres(&mut conn, PATIENT)?;
    // A lock that leaves readers alone and nobody else.
    let mut other = schema.connect();
    other.batch_execute("BEGIN; LOCK TABLE claimstore_schema, claimstore_jobs IN EXCLUSIVE MODE")?;
    assert!(run_postgres(&mut conn, Duration::ZERO)?.versions.is_empty());
    Ok(())
}

#[test]
fn a_lock_on_a_table_is_not_awaited_for_ever() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    run_postgres(&mut conn, PATIENT)?;
    let before = objects(&mut conn);
    let mut other = schema.connect();
    other.batch_execute("BEGIN; SELECT * FROM claimstore_jobs")?;
    let start = Instant::now();
    let refused = revert_postgres(&mut conn, Duration::ZERO);
    assert!(matches!(refused, Err(MigrateError::Failed { .. })), "{refused:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(objects(&mut conn), before);
    Ok(())
}

#[test]
fn a_runner_that_knows_no_lock_may_create_the_tracking_table_at_the_same_moment() -> TestResult {
    let schema = fresh();
    let mut other = schema.connect();
    other.batch_execute(
        "BEGIN; CREATE TABLE __diesel_schema_migrations (
             version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
    )?;
    let mut conn = schema.connect();
    let thread = thread::spawn(move || run_postgres(&mut conn, PATIENT));
    let waits = format!(
        "SELECT application_name AS text FROM pg_stat_activity
         WHERE application_name = '{}' AND wait_event_type = 'Lock'",
        schema.name()
    );
    until(&mut schema.connect(), "the migration waits for the other's table", &waits);
    other.batch_execute("COMMIT")?;
    assert_eq!(thread.join().expect("no panic")?.versions, all_versions());
    Ok(())
}
