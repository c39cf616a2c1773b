//! From version 1 to version 2 and back, with rows in the tables.

use claimstore_migrations::{SCHEMA_VERSION, SchemaProblem, check_sqlite, run_sqlite};

use crate::support::{Database, PATIENT, TestResult, all_versions};

const ONE_UP: &str = include_str!("../../sqlite/0000claimstore0001_jobs/up.sql");
const TWO_UP: &str = include_str!("../../sqlite/0000claimstore0002_operators/up.sql");
const TWO_DOWN: &str = include_str!("../../sqlite/0000claimstore0002_operators/down.sql");

/// A file as version 1 left it: a job in each of three states, two late writers, and a view of the user's.
fn at_version_one() -> Database {
    let db = Database::empty();
    db.execute(ONE_UP);
    db.execute(
        "CREATE TABLE __diesel_schema_migrations (
             version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
         INSERT INTO __diesel_schema_migrations (version) VALUES ('0000claimstore0001');
         INSERT INTO claimstore_jobs (id, kind, payload, state, due, created_at, worker, lease) VALUES
             (3, 'mail', '{}', 'pending', 1, 1, NULL, NULL),
             (5, 'mail', '{}', 'running', 1, 1, 'w', 9),
             (7, 'mail', '{}', 'completed', 1, 1, 'w', NULL);
         INSERT INTO claimstore_events (id, at, table_name, row_key, kind, worker, fence, detail) VALUES
             (2, 1, 'claimstore_jobs', '5', 'late_writer', 'w', 4, '{}'),
             (9, 2, 'claimstore_jobs', '7', 'late_writer', NULL, 5, '{\"a\": 1}');
         DELETE FROM claimstore_events WHERE id = 9;
         CREATE VIEW late AS SELECT kind, detail FROM claimstore_events WHERE kind = 'late_writer';",
    );
    db
}

fn jobs(db: &Database) -> Vec<String> {
    db.texts(
        "SELECT id || ' ' || state || ' ' || coalesce(worker, '-') AS text FROM claimstore_jobs ORDER BY id",
    )
}

fn events(db: &Database) -> Vec<String> {
    db.texts("SELECT id || ' ' || row_key || ' ' || kind AS text FROM claimstore_events ORDER BY id")
}

#[test]
fn jobs_and_events_of_version_one_are_kept() -> TestResult {
    let db = at_version_one();
    let (jobs_before, events_before) = (jobs(&db), events(&db));
    let mut conn = db.connect();
    let older = check_sqlite(&mut conn).expect_err("version 1");
    assert!(matches!(older, SchemaProblem::Older { found: 1, wanted: SCHEMA_VERSION }), "{older:?}");

    assert_eq!(run_sqlite(&mut conn, PATIENT)?.versions, all_versions()[1..]);
    check_sqlite(&mut conn)?;
    assert_eq!(jobs(&db), jobs_before);
    assert_eq!(events(&db), events_before);
    assert_eq!(db.integrity(), ["ok"]);
    assert_eq!(db.texts("SELECT kind AS text FROM late"), ["late_writer"], "the view still reads the table");

    // No id is given twice, also not that of an event which was deleted before.
    db.execute(
        "INSERT INTO claimstore_events (at, table_name, row_key, kind, fence, detail)
         VALUES (3, 'claimstore_jobs', '3', 'operated', 6, '{}')",
    );
    assert_eq!(events(&db), ["2 5 late_writer", "10 3 operated"]);
    Ok(())
}

#[test]
fn a_file_that_began_at_version_one_has_the_schema_of_a_new_one() -> TestResult {
    let (old, new) = (at_version_one(), Database::empty());
    old.execute("DROP VIEW late");
    run_sqlite(&mut old.connect(), PATIENT)?;
    run_sqlite(&mut new.connect(), PATIENT)?;
    assert_eq!(old.objects(), new.objects());
    Ok(())
}

#[test]
fn the_way_down_keeps_jobs_and_events_and_loses_keys_and_settings() -> TestResult {
    let db = at_version_one();
    run_sqlite(&mut db.connect(), PATIENT)?;
    db.execute(
        "UPDATE claimstore_jobs SET unique_key = 'k' WHERE id = 3;
         INSERT INTO claimstore_events (at, table_name, row_key, kind, fence, detail)
             VALUES (3, 'claimstore_jobs', '3', 'operated', 6, '{}');
         INSERT INTO claimstore_queues VALUES ('claimstore_jobs', 'queue', 'mail', 1, 'anna', 'why', 1);",
    );
    let (jobs_before, events_before) = (jobs(&db), events(&db));

    db.execute(TWO_DOWN);
    assert_eq!(jobs(&db), jobs_before);
    assert_eq!(events(&db), events_before, "those of kinds that version 1 did not know stay too");
    let older = check_sqlite(&mut db.connect()).expect_err("version 1 again");
    assert!(matches!(older, SchemaProblem::Older { found: 1, .. }), "{older:?}");
    // What version 1 writes is still accepted.
    db.execute(
        "INSERT INTO claimstore_events (at, table_name, row_key, kind, fence, detail)
         VALUES (4, 'claimstore_jobs', '5', 'late_writer', 6, '{}')",
    );

    db.execute(TWO_UP);
    check_sqlite(&mut db.connect())?;
    assert_eq!(jobs(&db), jobs_before);
    assert_eq!(events(&db).len(), events_before.len() + 1);
    assert!(
        db.texts("SELECT unique_key AS text FROM claimstore_jobs WHERE unique_key IS NOT NULL").is_empty()
    );
    assert!(db.texts("SELECT name AS text FROM claimstore_queues").is_empty());
    Ok(())
}

#[test]
fn a_key_is_taken_while_its_job_is_not_ended() -> TestResult {
    let db = Database::empty();
    run_sqlite(&mut db.connect(), PATIENT)?;
    let job = |kind: &str, state: &str| {
        let lease = if state == "running" { "'w', 9" } else { "NULL, NULL" };
        format!(
            "INSERT INTO claimstore_jobs (kind, payload, state, due, created_at, worker, lease, unique_key)
             VALUES ('{kind}', '{{}}', '{state}', 1, 1, {lease}, 'k')"
        )
    };
    let mut conn = db.connect();
    for state in ["pending", "running", "uncertain"] {
        db.execute(&job(state, state));
        for again in ["pending", "running", "uncertain"] {
            let twice = diesel::RunQueryDsl::execute(diesel::sql_query(job(state, again)), &mut conn);
            assert!(twice.is_err(), "{again} beside {state}");
        }
        for ended in ["completed", "dead", "cancelled"] {
            db.execute(&job(state, ended));
        }
    }
    Ok(())
}
