//! What is refused, in which words, and that it leaves no trace.

use claimstore_migrations::{
    MigrateError, SCHEMA_VERSION, SchemaProblem, check_postgres, revert_postgres, run_postgres,
};
use claimstore_tests::postgres::fresh;
use diesel::Connection;
use diesel::connection::SimpleConnection;
use diesel::result::Error;

use crate::support::{PATIENT, Standing, TestResult, objects, recorded, texts};

#[test]
fn a_newer_schema_is_refused_in_words_and_left_alone() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    run_postgres(&mut conn, PATIENT)?;
    let newer = SCHEMA_VERSION + 1;
    conn.batch_execute(&format!("INSERT INTO claimstore_schema VALUES ({newer})"))?;
    let before = (objects(&mut conn), recorded(&mut conn));

    for refused in [run_postgres(&mut conn, PATIENT), revert_postgres(&mut conn, PATIENT)] {
        let error = refused.expect_err("too new");
        assert!(matches!(error, MigrateError::Newer { found, wanted: SCHEMA_VERSION } if found == newer));
        assert!(error.to_string().contains("upgrade claimstore"), "{error}");
    }
    let problem = check_postgres(&mut conn).expect_err("too new");
    assert!(matches!(problem, SchemaProblem::Newer { found, .. } if found == newer));
    assert!(problem.to_string().contains("this library is older than the schema"), "{problem}");
    assert_eq!((objects(&mut conn), recorded(&mut conn)), before);
    Ok(())
}

#[test]
fn what_is_missing_is_told_without_aborting_the_callers_transaction() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    conn.transaction::<_, Error, _>(|conn| {
        let missing = check_postgres(conn).expect_err("nothing there");
        assert!(matches!(missing, SchemaProblem::Missing));
        assert!(missing.to_string().contains("run store.migrate() or apply the exported migrations"));

        conn.batch_execute("CREATE TABLE claimstore_schema (version INTEGER NOT NULL PRIMARY KEY)")?;
        let older = check_postgres(conn).expect_err("an empty table");
        assert!(matches!(older, SchemaProblem::Older { found: 0, wanted: SCHEMA_VERSION }), "{older:?}");

        // A role that every server has, and that may do nothing here.
        conn.batch_execute(&format!(
            "GRANT USAGE ON SCHEMA {} TO pg_read_all_settings; SET LOCAL ROLE pg_read_all_settings",
            schema.name()
        ))?;
        let denied = check_postgres(conn).expect_err("no right to read");
        assert!(matches!(denied, SchemaProblem::Denied), "{denied:?}");
        assert!(denied.to_string().contains("grant it SELECT"), "{denied}");
        assert_eq!(texts(conn, "SELECT 'still usable' AS text"), ["still usable"]);
        Ok(())
    })?;
    Ok(())
}

#[test]
fn a_failing_migration_is_named_with_its_first_error_and_leaves_nothing() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    conn.batch_execute("CREATE TABLE claimstore_events (mine TEXT)")?;
    let before = objects(&mut conn);
    let error = run_postgres(&mut conn, PATIENT).expect_err("the name is taken");
    let MigrateError::Failed { version, source } = &error else { panic!("{error:?}") };
    assert_eq!(version, "0000claimstore0001");
    assert!(source.to_string().contains("claimstore_events"), "{source}");
    assert_eq!(objects(&mut conn), before);
    assert_eq!(recorded(&mut conn), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_connection_lost_midway_gives_its_own_error_and_leaves_nothing() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    let standing = Standing::start(schema.connect());
    conn.batch_execute(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = '{}' AND pid <> pg_backend_pid()",
        schema.name()
    ))?;
    let error = standing.go_on().expect_err("its server process is gone");
    // The rollback fails as well, and its error is not the one to tell.
    assert!(
        matches!(&error, MigrateError::Failed { version, .. } if version == "0000claimstore0001"),
        "{error:?}"
    );
    assert_eq!(objects(&mut conn), Vec::<String>::new());
    run_postgres(&mut conn, PATIENT)?;
    check_postgres(&mut conn)?;
    Ok(())
}

#[test]
fn tables_dropped_by_hand_are_not_taken_for_a_schema() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    run_postgres(&mut conn, PATIENT)?;
    conn.batch_execute(
        "DROP TABLE claimstore_jobs, claimstore_events, claimstore_queues, claimstore_schema",
    )?;
    let error = run_postgres(&mut conn, PATIENT).expect_err("recorded but not there");
    assert!(matches!(error, MigrateError::Inconsistent { found: None }), "{error:?}");

    conn.batch_execute("DELETE FROM __diesel_schema_migrations WHERE version LIKE '0000claimstore%'")?;
    run_postgres(&mut conn, PATIENT)?;
    check_postgres(&mut conn)?;
    Ok(())
}

#[test]
fn a_transaction_of_the_caller_is_refused_and_stays_usable() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    conn.transaction::<_, Error, _>(|conn| {
        let refused = run_postgres(conn, PATIENT);
        assert!(matches!(refused, Err(MigrateError::InTransaction)), "{refused:?}");
        conn.batch_execute("CREATE TABLE mine (n INT)")
    })?;
    assert!(objects(&mut conn).iter().any(|object| object.starts_with("r mine ")));
    Ok(())
}

#[test]
fn a_search_path_without_a_schema_is_refused_in_words() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    conn.batch_execute("SET search_path TO no_such_schema")?;
    let refused = run_postgres(&mut conn, PATIENT).expect_err("nowhere to create tables");
    assert!(matches!(refused, MigrateError::NoSchema), "{refused:?}");
    assert!(refused.to_string().contains("search_path"), "{refused}");
    Ok(())
}
