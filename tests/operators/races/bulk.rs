//! Acting on many rows from both ends, beside workers, sweeps and retention: nobody waits in a ring.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use claimstore::core::{
    Action, Bulk, ClaimStore, Filter, OperateStore, RecoverStore, Requeue, SettleCause, State, Verdict,
};
use claimstore::{ClaimOn, Dialect, Job, PgStore, Store};
use claimstore_tests::postgres::{TestDatabase, fresh_database};

use crate::bench::olga;
use crate::support::{Database, OnPostgres, OnSqlite, TestResult, ask, at_once, notes, pg_pool, until};

const ROWS: usize = 120;
const ROUNDS: usize = 25;

/// All rows by batches, from the first one on or from the last one back.
fn act<D: Dialect>(store: &Store<Job, D>, ids: &[i64], backwards: bool)
where
    Job: ClaimOn<D>,
{
    const PART: usize = 30;
    for round in 0..ROUNDS {
        let action = match round % 3 {
            0 => Action::Requeue(Requeue::of_priority(i32::from(backwards))),
            1 => Action::Retry,
            _ => Action::Requeue(Requeue::now()),
        };
        let mut starts: Vec<Option<i64>> =
            (0..ROWS / PART).map(|n| (n > 0).then(|| ids[n * PART - 1])).collect();
        if backwards {
            starts.reverse();
        }
        for start in starts {
            let rows = Bulk::new(Filter::all()).limit(PART);
            let rows = match start {
                Some(key) => rows.after(key),
                None => rows,
            };
            let done = store.operate_all(&rows, &action, &olga().force()).expect("contention is no error");
            assert!(done.refused.is_empty(), "{:?}", done.refused);
        }
    }
}

/// Claims and settles by batches, each in another order than it was claimed in.
fn work<D: Dialect>(store: &Store<Job, D>, name: &str)
where
    Job: ClaimOn<D>,
{
    for round in 0..2 * ROUNDS {
        let batch = store.claim_next(&ask(name).limit(20)).expect("contention is no error");
        let mut held: Vec<_> = batch.into_iter().map(|one| one.claim).collect();
        fastrand::shuffle(&mut held);
        let verdict = |n: usize| match n % 3 {
            0 => Verdict::complete(),
            1 => Verdict::fail_after("no", Duration::ZERO),
            _ => Verdict::release(),
        };
        let held = held.into_iter().enumerate().map(|(n, claim)| (claim, verdict(n + round))).collect();
        for answer in store.settle_all(held) {
            if let Err(error) = answer {
                assert!(matches!(error.cause(), SettleCause::Fenced(_)), "{error}");
            }
        }
    }
}

fn all_at_once<D: Dialect>(store: &Store<Job, D>) -> TestResult
where
    Job: ClaimOn<D>,
{
    let jobs: Vec<_> = notes(ROWS).into_iter().map(|job| job.max_failures(10_000)).collect();
    let ids: Vec<i64> = store.enqueue(&jobs)?.into_iter().map(|job| job.id()).collect();
    let (start, ids) = (&Barrier::new(5), &ids);
    thread::scope(|scope| {
        for backwards in [false, true] {
            scope.spawn(move || {
                start.wait();
                act(store, ids, backwards);
            });
        }
        for name in ["anna", "berta"] {
            scope.spawn(move || {
                start.wait();
                work(store, name);
            });
        }
        start.wait();
        for _ in 0..ROUNDS {
            let swept = store.recover(&at_once(), 50).expect("contention is no error");
            assert!(swept.failed.is_empty(), "{:?}", swept.failed);
        }
    });
    Ok(())
}

/// How many deadlocks the server has broken in this database, once everybody has left it.
fn deadlocks(database: &TestDatabase) -> String {
    let mut conn = database.connect();
    let mut ask = |sql: &str| OnPostgres::texts_on(&mut conn, sql).remove(0);
    // What a connection has counted is certain to be there when it has ended.
    until("the others have left", || {
        ask("SELECT count(*)::text AS text FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()")
            == "0"
    });
    ask("SELECT deadlocks::text AS text FROM pg_stat_database WHERE datname = current_database()")
}

/// A deadlock would be mended by another try and be seen by nobody: the server's own count is looked at.
#[test]
fn two_operators_from_both_ends_and_workers_meet_no_deadlock_on_postgres() -> TestResult {
    let database = fresh_database();
    let store = PgStore::<Job>::new(pg_pool(&database.url(), 8));
    store.migrate()?;
    all_at_once(&store)?;
    let rest = store.operate_all(&Bulk::new(Filter::all()).limit(500), &Action::Delete, &olga().force())?;
    assert_eq!((rest.done.len(), rest.refused.len()), (ROWS, 0), "none is lost");
    drop(store);
    assert_eq!(deadlocks(&database), "0");
    Ok(())
}

#[test]
fn two_operators_from_both_ends_and_workers_all_get_through_on_sqlite() -> TestResult {
    let db = OnSqlite::fresh(8);
    all_at_once(db.store())?;
    assert_eq!(db.count("claimstore_jobs"), i64::try_from(ROWS)?, "none is lost");
    let running = db.count(&format!("claimstore_jobs WHERE state = '{}'", State::Running));
    assert_eq!(running, 0, "each batch was settled or taken away");
    Ok(())
}
