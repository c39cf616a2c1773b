//! From version 1 to version 2 and back, with rows in the tables.

use claimstore_migrations::{SCHEMA_VERSION, SchemaProblem, check_postgres, run_postgres};
use claimstore_tests::postgres::fresh;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use crate::support::{PATIENT, TestResult, all_versions, objects, texts};

const ONE_UP: &str = include_str!("../../migrations/postgres/0000claimstore0001_jobs/up.sql");
const TWO_UP: &str = include_str!("../../migrations/postgres/0000claimstore0002_operators/up.sql");
const TWO_DOWN: &str = include_str!("../../migrations/postgres/0000claimstore0002_operators/down.sql");

/// A schema as version 1 left it: a job in each of three states, a late writer, and a view of the user's.
fn to_version_one(conn: &mut PgConnection) -> QueryResult<()> {
    conn.batch_execute(ONE_UP)?;
    conn.batch_execute(
        r#"CREATE TABLE __diesel_schema_migrations (
               version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
           INSERT INTO __diesel_schema_migrations (version) VALUES ('0000claimstore0001');
           INSERT INTO claimstore_jobs (kind, payload, state, worker, lease) VALUES
               ('mail', '{}', 'pending', NULL, NULL),
               ('mail', '{}', 'running', 'w', 'infinity'),
               ('mail', '{}', 'completed', 'w', NULL);
           INSERT INTO claimstore_events (table_name, row_key, kind, worker, fence, detail) VALUES
               ('claimstore_jobs', '2', 'late_writer', 'w', 4, '{}');
           CREATE VIEW late AS SELECT kind, detail FROM claimstore_events WHERE kind = 'late_writer';"#,
    )
}

fn jobs(conn: &mut PgConnection) -> Vec<String> {
    texts(
        conn,
        "SELECT id || ' ' || state || ' ' || coalesce(worker, '-') AS text FROM claimstore_jobs ORDER BY id",
    )
}

fn events(conn: &mut PgConnection) -> Vec<String> {
    texts(conn, "SELECT id || ' ' || row_key || ' ' || kind AS text FROM claimstore_events ORDER BY id")
}

/// What is set for autovacuum on the jobs.
fn settings(conn: &mut PgConnection) -> Vec<String> {
    texts(
        conn,
        "SELECT unnest(reloptions) AS text FROM pg_class WHERE oid = 'claimstore_jobs'::regclass ORDER BY 1",
    )
}

#[test]
fn jobs_and_events_of_version_one_are_kept() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    to_version_one(&mut conn)?;
    let (jobs_before, events_before) = (jobs(&mut conn), events(&mut conn));
    let older = check_postgres(&mut conn).expect_err("version 1");
    assert!(matches!(older, SchemaProblem::Older { found: 1, wanted: SCHEMA_VERSION }), "{older:?}");

    assert_eq!(run_postgres(&mut conn, PATIENT)?.versions, all_versions()[1..]);
    check_postgres(&mut conn)?;
    assert_eq!(jobs(&mut conn), jobs_before);
    assert_eq!(events(&mut conn), events_before);
    assert_eq!(texts(&mut conn, "SELECT kind AS text FROM late"), ["late_writer"]);
    assert!(settings(&mut conn).contains(&"vacuum_truncate=false".to_owned()));

    conn.batch_execute(
        "INSERT INTO claimstore_events (table_name, row_key, kind, fence, detail)
         VALUES ('claimstore_jobs', '1', 'operated', 6, '{}')",
    )?;
    assert_eq!(events(&mut conn), ["1 2 late_writer", "2 1 operated"]);
    Ok(())
}

#[test]
fn a_schema_that_began_at_version_one_is_like_a_new_one() -> TestResult {
    let (old, new) = (fresh(), fresh());
    let (mut old, mut new) = (old.connect(), new.connect());
    to_version_one(&mut old)?;
    old.batch_execute("DROP VIEW late")?;
    run_postgres(&mut old, PATIENT)?;
    run_postgres(&mut new, PATIENT)?;
    // The definition of an index names its schema.
    let without_schema = |conn: &mut PgConnection| {
        let schema = texts(conn, "SELECT current_schema()::text AS text").remove(0);
        objects(conn).into_iter().map(|object| object.replace(&schema, "s")).collect::<Vec<_>>()
    };
    assert_eq!(without_schema(&mut old), without_schema(&mut new));
    Ok(())
}

#[test]
fn the_way_down_keeps_jobs_and_events_and_loses_keys_and_settings() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    run_postgres(&mut conn, PATIENT)?;
    conn.batch_execute(
        "INSERT INTO claimstore_jobs (kind, payload, unique_key) VALUES ('mail', '{}', 'k');
         INSERT INTO claimstore_events (table_name, row_key, kind, fence, detail)
             VALUES ('claimstore_jobs', '1', 'operated', 6, '{}');
         INSERT INTO claimstore_queues
             VALUES ('claimstore_jobs', 'queue', 'mail', clock_timestamp(), 'anna', 'why', TRUE);",
    )?;
    let (jobs_before, events_before) = (jobs(&mut conn), events(&mut conn));

    conn.batch_execute(TWO_DOWN)?;
    assert_eq!(jobs(&mut conn), jobs_before);
    assert_eq!(events(&mut conn), events_before, "those of kinds that version 1 did not know stay too");
    assert_eq!(settings(&mut conn), Vec::<String>::new());
    let older = check_postgres(&mut conn).expect_err("version 1 again");
    assert!(matches!(older, SchemaProblem::Older { found: 1, .. }), "{older:?}");
    // What version 1 writes is still accepted.
    conn.batch_execute(
        "INSERT INTO claimstore_events (table_name, row_key, kind, fence, detail)
         VALUES ('claimstore_jobs', '1', 'late_writer', 6, '{}')",
    )?;

    conn.batch_execute(TWO_UP)?;
    check_postgres(&mut conn)?;
    assert_eq!(jobs(&mut conn), jobs_before);
    assert_eq!(events(&mut conn).len(), events_before.len() + 1);
    let keys = "SELECT unique_key AS text FROM claimstore_jobs WHERE unique_key IS NOT NULL";
    assert!(texts(&mut conn, keys).is_empty());
    assert!(texts(&mut conn, "SELECT name AS text FROM claimstore_queues").is_empty());
    Ok(())
}

#[test]
fn a_key_is_taken_while_its_job_is_not_ended() -> TestResult {
    let schema = fresh();
    let mut conn = schema.connect();
    run_postgres(&mut conn, PATIENT)?;
    let job = |kind: &str, state: &str| {
        let lease = if state == "running" { "'w', 'infinity'" } else { "NULL, NULL" };
        format!(
            "INSERT INTO claimstore_jobs (kind, payload, state, worker, lease, unique_key)
             VALUES ('{kind}', '{{}}', '{state}', {lease}, 'k')"
        )
    };
    for state in ["pending", "running", "uncertain"] {
        conn.batch_execute(&job(state, state))?;
        for again in ["pending", "running", "uncertain"] {
            assert!(conn.batch_execute(&job(state, again)).is_err(), "{again} beside {state}");
        }
        for ended in ["completed", "dead", "cancelled"] {
            conn.batch_execute(&job(state, ended))?;
        }
    }
    Ok(())
}
