//! Up, down and up again; what belongs to others stays, in this schema and in the next.

use claimstore_migrations::{SCHEMA_VERSION, SchemaProblem, check_postgres, revert_postgres, run_postgres};
use claimstore_tests::postgres::{fresh, fresh_database};
use diesel::connection::SimpleConnection;

use crate::support::{PATIENT, TestResult, all_versions, objects, recorded, texts};

#[test]
fn up_down_and_up_again_give_the_same_schema() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    assert!(matches!(check_postgres(&mut conn), Err(SchemaProblem::Missing)));

    assert_eq!(run_postgres(&mut conn, PATIENT)?.versions, all_versions());
    let first = objects(&mut conn);
    assert!(first.iter().any(|object| object.starts_with("r claimstore_jobs ")), "{first:?}");
    assert_eq!(recorded(&mut conn), all_versions());
    let said = texts(&mut conn, "SELECT max(version)::text AS text FROM claimstore_schema");
    assert_eq!(said, [SCHEMA_VERSION.to_string()]);
    check_postgres(&mut conn)?;
    assert!(run_postgres(&mut conn, PATIENT)?.versions.is_empty());

    let mut newest_first = all_versions();
    newest_first.reverse();
    assert_eq!(revert_postgres(&mut conn, PATIENT)?.versions, newest_first);
    assert_eq!(objects(&mut conn), Vec::<String>::new());
    assert_eq!(recorded(&mut conn), Vec::<String>::new());
    assert!(revert_postgres(&mut conn, PATIENT)?.versions.is_empty());

    assert_eq!(run_postgres(&mut conn, PATIENT)?.versions, all_versions());
    assert_eq!(objects(&mut conn), first);
    Ok(())
}

#[test]
fn versions_and_tables_of_others_stay() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    conn.batch_execute(
        "CREATE TABLE __diesel_schema_migrations (
             version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
         INSERT INTO __diesel_schema_migrations (version) VALUES ('20240101000000'), ('00000000000000');
         CREATE TABLE invoices (number TEXT PRIMARY KEY);
         INSERT INTO invoices VALUES ('a');",
    )?;
    let foreign = ["00000000000000", "20240101000000"];

    run_postgres(&mut conn, PATIENT)?;
    let (ours, theirs): (Vec<_>, Vec<_>) =
        recorded(&mut conn).into_iter().partition(|version| version.contains("claimstore"));
    assert_eq!(ours, all_versions());
    assert_eq!(theirs, foreign);

    revert_postgres(&mut conn, PATIENT)?;
    assert_eq!(recorded(&mut conn), foreign);
    assert_eq!(texts(&mut conn, "SELECT number AS text FROM invoices"), ["a"]);
    Ok(())
}

#[test]
fn tables_of_a_later_schema_in_the_search_path_are_neither_read_nor_dropped() -> TestResult {
    let (ours, next) = (fresh(), fresh());
    let mut theirs = next.connect();
    run_postgres(&mut theirs, PATIENT)?;
    theirs.batch_execute("INSERT INTO claimstore_schema VALUES (9999)")?;
    let before = objects(&mut theirs);

    let mut conn = ours.connect();
    conn.batch_execute(&format!("SET search_path TO {}, {}", ours.name(), next.name()))?;
    assert_eq!(run_postgres(&mut conn, PATIENT)?.versions, all_versions());
    check_postgres(&mut conn)?;
    // Moved away by hand here: the table of that name in the next schema must not be taken for it.
    conn.batch_execute("ALTER TABLE claimstore_events RENAME TO moved")?;
    revert_postgres(&mut conn, PATIENT).expect_err("a table of ours is missing");
    conn.batch_execute("ALTER TABLE moved RENAME TO claimstore_events")?;
    let newest_first: Vec<String> = all_versions().into_iter().rev().collect();
    assert_eq!(revert_postgres(&mut conn, PATIENT)?.versions, newest_first);
    assert_eq!(objects(&mut theirs), before);
    Ok(())
}

#[test]
fn a_schema_with_a_name_that_needs_quotes_works() -> TestResult {
    let database = fresh_database();
    let mut conn = database.connect();
    conn.batch_execute(r#"CREATE SCHEMA "Jobs, ""old"" ones"; SET search_path TO "Jobs, ""old"" ones""#)?;
    assert_eq!(run_postgres(&mut conn, PATIENT)?.versions, all_versions());
    check_postgres(&mut conn)?;
    let schemas =
        "SELECT DISTINCT schemaname::text AS text FROM pg_tables WHERE tablename LIKE '%claimstore%'";
    assert_eq!(texts(&mut conn, schemas), [r#"Jobs, "old" ones"#]);
    Ok(())
}

#[test]
fn nothing_of_the_session_is_changed() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    let state = "SELECT name || '=' || setting AS text FROM pg_settings \
                 WHERE name NOT IN ('transaction_isolation', 'transaction_read_only') ORDER BY name";
    let before = texts(&mut conn, state);
    run_postgres(&mut conn, PATIENT)?;
    revert_postgres(&mut conn, PATIENT)?;
    assert_eq!(texts(&mut conn, state), before);
    let locks = "SELECT mode AS text FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'";
    assert!(texts(&mut conn, locks).is_empty());
    Ok(())
}
