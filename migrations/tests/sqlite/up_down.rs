//! Up, down and up again; what belongs to others stays.

use claimstore_migrations::{SCHEMA_VERSION, SchemaProblem, check_sqlite, revert_sqlite, run_sqlite};

use crate::support::{Database, PATIENT, TestResult, all_versions};

#[test]
fn up_down_and_up_again_give_the_same_schema() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    assert!(matches!(check_sqlite(&mut conn), Err(SchemaProblem::Missing)));

    assert_eq!(run_sqlite(&mut conn, PATIENT)?.versions, all_versions());
    let first = db.objects();
    assert!(first.iter().any(|object| object.starts_with("claimstore_jobs ")), "{first:?}");
    check_sqlite(&mut conn)?;

    let mut newest_first = all_versions();
    newest_first.reverse();
    assert_eq!(revert_sqlite(&mut conn, PATIENT)?.versions, newest_first);
    assert_eq!(db.objects(), Vec::<String>::new());
    assert_eq!(db.recorded(), Vec::<String>::new());
    assert!(matches!(check_sqlite(&mut conn), Err(SchemaProblem::Missing)));

    assert_eq!(run_sqlite(&mut conn, PATIENT)?.versions, all_versions());
    assert_eq!(db.objects(), first);
    Ok(())
}

#[test]
fn the_schema_says_the_version_that_the_library_states() -> TestResult {
    let db = Database::empty();
    run_sqlite(&mut db.connect(), PATIENT)?;
    let said = db.texts("SELECT CAST(max(version) AS TEXT) AS text FROM claimstore_schema");
    assert_eq!(said, [SCHEMA_VERSION.to_string()]);
    assert_eq!(db.recorded(), all_versions());
    Ok(())
}

#[test]
fn running_and_reverting_twice_is_once() -> TestResult {
    let db = Database::empty();
    let mut conn = db.connect();
    run_sqlite(&mut conn, PATIENT)?;
    assert!(run_sqlite(&mut conn, PATIENT)?.versions.is_empty());
    revert_sqlite(&mut conn, PATIENT)?;
    assert!(revert_sqlite(&mut conn, PATIENT)?.versions.is_empty());
    Ok(())
}

#[test]
fn versions_and_tables_of_others_stay() -> TestResult {
    let db = Database::empty();
    db.execute(
        "CREATE TABLE __diesel_schema_migrations (
             version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
         INSERT INTO __diesel_schema_migrations (version) VALUES ('20240101000000'), ('00000000000000');
         CREATE TABLE invoices (number TEXT PRIMARY KEY);
         INSERT INTO invoices VALUES ('a');",
    );
    let foreign = ["00000000000000", "20240101000000"];
    let mut conn = db.connect();

    run_sqlite(&mut conn, PATIENT)?;
    let recorded = db.recorded();
    let (ours, theirs): (Vec<_>, Vec<_>) =
        recorded.into_iter().partition(|version| version.contains("claimstore"));
    assert_eq!(ours, all_versions());
    assert_eq!(theirs, foreign);

    revert_sqlite(&mut conn, PATIENT)?;
    assert_eq!(db.recorded(), foreign);
    assert_eq!(db.texts("SELECT number AS text FROM invoices"), ["a"]);
    Ok(())
}
