//! Servers whose default isolation is stricter than READ COMMITTED.

use std::collections::HashSet;
use std::sync::{Barrier, Mutex};
use std::thread;

use claimstore::core::{ClaimStore, Verdict};
use claimstore::{Job, PgStore};
use claimstore_tests::postgres::{TestDatabase, fresh_database};
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;

use crate::support::{Ids, TestResult, ask, notes, pg_pool};

const JOBS: usize = 500;

/// Eight drain 500 jobs by every way to claim and settle, and meet no error.
fn drain(store: &PgStore<Job>) {
    let ids: HashSet<i64> = store.enqueue(&notes(JOBS)).expect("it enqueues").ids().into_iter().collect();
    let (start, done) = (Barrier::new(8), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for n in 0..8 {
            let (start, done) = (&start, &done);
            scope.spawn(move || {
                let ask = ask(&format!("worker-{n}"));
                start.wait();
                loop {
                    let batch = store.claim_next(&ask.limit(1 + n)).expect("contention is not an error");
                    if batch.is_empty() {
                        return;
                    }
                    let mut claims: Vec<_> = batch.into_iter().map(|one| one.claim).collect();
                    done.lock().expect("not poisoned").extend(claims.iter().map(|claim| *claim.key()));
                    let one = claims.pop().expect("it is not empty");
                    assert!(!store.complete(one).expect("it is ours").already);
                    let rest = claims.into_iter().map(|claim| (claim, Verdict::complete())).collect();
                    for answer in store.settle_all(rest) {
                        assert!(!answer.expect("it is ours").already);
                    }
                }
            });
        }
    });
    let done = done.into_inner().expect("not poisoned");
    assert_eq!(done.len(), JOBS, "each once");
    assert_eq!(done.into_iter().collect::<HashSet<_>>(), ids);
}

fn open(database: &TestDatabase) -> PgStore<Job> {
    let store = PgStore::new(pg_pool(&database.url(), 8));
    store.migrate().expect("it migrates");
    store
}

/// H32.
#[test]
fn a_stricter_default_of_the_database_costs_no_claim() -> TestResult {
    for level in ["repeatable read", "serializable"] {
        let database = fresh_database();
        database.set("default_transaction_isolation", level);
        drain(&open(&database));
    }
    Ok(())
}

/// H32: the same set for the role.
#[test]
fn a_stricter_default_of_the_role_costs_no_claim() -> TestResult {
    let database = fresh_database();
    database.connect().batch_execute(&format!(
        "ALTER ROLE CURRENT_USER IN DATABASE {} SET default_transaction_isolation = 'serializable'",
        database.name()
    ))?;
    drain(&open(&database));
    Ok(())
}

/// H32: the default is asked for once, and may change under a running store.
#[test]
fn a_default_that_becomes_stricter_later_costs_no_claim() -> TestResult {
    let database = fresh_database();
    let store = open(&database);
    assert!(store.claim_next(&ask("anna"))?.is_empty());
    database.set("default_transaction_isolation", "serializable");
    diesel::sql_query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .execute(&mut database.connect())?;
    drain(&store);
    Ok(())
}
