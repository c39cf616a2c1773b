//! Many at once on an empty schema (field report H79).

use std::sync::Barrier;
use std::thread;

use claimstore_migrations::run_postgres;
use claimstore_tests::postgres::{TestSchema, fresh, fresh_database};
use diesel::PgConnection;
use diesel::migration::MigrationConnection;

use crate::child::Migrator;
use crate::support::{PATIENT, Standing, TestResult, all_versions, recorded};

const ROUNDS: usize = 50;
const AT_ONCE: usize = 8;

fn threads_migrate_once(connect: impl Fn() -> PgConnection + Sync) {
    let barrier = Barrier::new(AT_ONCE);
    let applied: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    let mut conn = connect();
                    barrier.wait();
                    run_postgres(&mut conn, PATIENT).expect("all succeed or wait").versions.len()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(applied, all_versions().len());
    assert_eq!(recorded(&mut connect()), all_versions());
}

/// Every second round begins with the tracking table of an application that has migrations of its own:
/// without it the processes already wait for each other where they create it.
fn fresh_for(round: usize) -> TestSchema {
    let schema = fresh();
    if round % 2 == 1 {
        schema.connect().setup().expect("the tracking table");
    }
    schema
}

#[test]
fn eight_threads_migrate_an_empty_schema_once() {
    for round in 0..ROUNDS {
        let schema = fresh_for(round);
        threads_migrate_once(|| schema.connect());
    }
}

#[test]
fn also_where_the_server_makes_every_transaction_serializable() {
    let database = fresh_database();
    database.set("default_transaction_isolation", "serializable");
    threads_migrate_once(|| database.connect());
}

#[test]
fn what_another_process_did_before_we_got_the_lock_is_seen_at_every_isolation_level() -> TestResult {
    for level in ["read committed", "repeatable read", "serializable"] {
        let database = fresh_database();
        database.set("default_transaction_isolation", level);
        database.connect().setup()?;
        // It has looked, and found nothing; now the other is faster.
        let late = Standing::before("pg_try_advisory_xact_lock", database.connect());
        assert_eq!(run_postgres(&mut database.connect(), PATIENT)?.versions, all_versions());
        assert!(late.go_on()?.versions.is_empty(), "{level}");
    }
    Ok(())
}

#[test]
fn eight_processes_migrate_an_empty_schema_once() -> TestResult {
    for round in 0..ROUNDS {
        let schema = fresh_for(round);
        let mut processes: Vec<_> = (0..AT_ONCE).map(|_| Migrator::start(&schema.url(), None)).collect();
        processes.iter_mut().for_each(Migrator::go);
        let applied: usize = processes.into_iter().map(Migrator::migrated).sum();
        assert_eq!(applied, all_versions().len(), "round {round}");
        assert_eq!(recorded(&mut schema.connect()), all_versions(), "round {round}");
    }
    Ok(())
}
