//! Jobs that take no time at all, and retention that keeps nothing.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use claimstore::core::{ClaimStore, RetainStore, Retention, Verdict};
use claimstore::{ClaimOn, Dialect, Job, PgStore, Store};
use claimstore_tests::postgres::fresh_database;

use crate::support::{Database, OnPostgres, OnSqlite, TestResult, ask, notes, pg_pool, until};

const WORKERS: usize = 8;

/// Eight workers complete by batches, two retentions of age zero run beside them in loops. What was completed; each
/// job once.
fn drain<D: Dialect>(store: &Store<Job, D>, jobs: usize) -> HashSet<i64>
where
    Job: ClaimOn<D>,
{
    let mut ids = HashSet::new();
    for part in notes(jobs).chunks(500) {
        ids.extend(store.enqueue(part).expect("it enqueues").into_iter().map(|job| job.id()));
    }
    let (start, is_over, done) =
        (&Barrier::new(WORKERS + 2), &AtomicBool::new(false), &Mutex::new(Vec::new()));
    let work = |n: usize| {
        let ask = ask(&format!("worker-{n}")).limit(10 + 5 * n);
        start.wait();
        loop {
            let batch = store.claim_next(&ask).expect("contention is not an error");
            if batch.is_empty() {
                return;
            }
            let mut held: Vec<_> = batch.into_iter().map(|one| one.claim).collect();
            done.lock().expect("not poisoned").extend(held.iter().map(|claim| *claim.key()));
            fastrand::shuffle(&mut held);
            let held = held.into_iter().map(|claim| (claim, Verdict::complete())).collect();
            for answer in store.settle_all(held) {
                assert!(!answer.expect("it is ours").already);
            }
        }
    };
    let retention = Retention::keep_all().completed(Duration::ZERO);
    let prune = |limit| {
        start.wait();
        let mut rows = 0;
        loop {
            let was_over = is_over.load(Ordering::SeqCst);
            let pruned = store.prune(&retention, limit).expect("a row that is gone is no error");
            rows += pruned.rows;
            if was_over && !pruned.more {
                return rows;
            }
        }
    };
    let pruned: usize = thread::scope(|scope| {
        let pruners = [7, 100].map(|limit| scope.spawn(move || prune(limit)));
        let workers: Vec<_> = (0..WORKERS).map(|n| scope.spawn(move || work(n))).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
        is_over.store(true, Ordering::SeqCst);
        pruners.into_iter().map(|pruner| pruner.join().expect("no panic")).sum()
    });
    let done = done.lock().expect("not poisoned");
    assert_eq!(done.len(), jobs, "none is run twice");
    assert_eq!(done.iter().copied().collect::<HashSet<_>>(), ids, "none is lost");
    // What one of the two had locked the other has passed over.
    let rest = store.prune(&retention, 1_000).expect("a row that is gone is no error").rows;
    assert_eq!(pruned + rest, jobs, "each was deleted once");
    ids
}

/// H31: a deadlock would be mended by another try and be seen by nobody, so the server's own count is looked at.
#[test]
fn short_jobs_and_retention_meet_no_deadlock_on_postgres() -> TestResult {
    let database = fresh_database();
    let store = PgStore::<Job>::new(pg_pool(&database.url(), 12));
    store.migrate()?;
    drain(&store, 4_000);
    drop(store);
    let mut conn = database.connect();
    let mut told = |sql: &str| OnPostgres::texts_on(&mut conn, sql).remove(0);
    until("the others have left", || {
        told(
            "SELECT count(*)::text AS text FROM pg_stat_activity \
              WHERE datname = current_database() AND pid <> pg_backend_pid()",
        ) == "0"
    });
    let rest = told("SELECT count(*)::text AS text FROM claimstore_jobs");
    let broken =
        told("SELECT deadlocks::text AS text FROM pg_stat_database WHERE datname = current_database()");
    assert_eq!((rest.as_str(), broken.as_str()), ("0", "0"));
    Ok(())
}

/// H31: one writer at a time, so everybody is served in turn.
#[test]
fn short_jobs_and_retention_all_get_through_on_sqlite() -> TestResult {
    let db = OnSqlite::fresh(12);
    drain(db.store(), 2_000);
    assert_eq!(db.count("claimstore_jobs"), 0);
    Ok(())
}
