//! Retention of far more than one statement may delete.

use std::time::Duration;

use claimstore::core::{ClaimStore, RetainStore, Retention, StoreErrorKind};
use claimstore::{ClaimOn, Job, PgStore};
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use super::child::{Process, Reached};
use crate::bench::one;
use crate::support::{Database, OnPostgres, OnSqlite, TestResult, ask, begin, on_both, pg_pool, roll_back};

on_both! {
    what_a_killed_retention_has_deleted_stays_deleted
    nothing_that_is_still_needed_is_pruned
}

/// As many completed rows, in one statement; finished an hour ago and before, none at the same moment.
fn finished<B: Database>(db: &B, rows: usize) {
    let numbers = match B::NAME {
        "SQLite" => format!(
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n)"
        ),
        _ => format!("(SELECT generate_series(1, {rows}) AS i)"),
    };
    let ago = match B::NAME {
        "SQLite" => format!("{} - i * 1000", B::now_plus(-3600)),
        _ => format!("{} - i * interval '1 millisecond'", B::now_plus(-3600)),
    };
    db.run(&format!(
        "INSERT INTO claimstore_jobs (kind, payload, state, fence, due, created_at, finished_at) \
         SELECT 'note', '{{}}', 'completed', 7, {ago}, {ago}, {ago} FROM {numbers} AS numbers"
    ));
}

/// The database's name.
trait Named: Database {
    const NAME: &'static str = <Self::D as claimstore::Dialect>::NAME;
}
impl<B: Database> Named for B {}

fn kept(age: Duration) -> Retention {
    Retention::keep_all().completed(age)
}

/// H85: a hundred thousand rows, and a server that cancels what takes more than a fifth of a second. All of it in one
/// statement would be cancelled for ever; by batches it comes to an end, and claims go on beside it.
#[test]
fn retention_by_batches_finishes_under_a_statement_timeout() -> TestResult {
    const ROWS: usize = 100_000;
    let db = OnPostgres::fresh(1);
    finished(&db, ROWS);
    db.run("ANALYZE claimstore_jobs");
    let hurried = db.schema.server_url().clone().with_setting("statement_timeout", "200ms").in_full();
    let store = PgStore::<Job>::new(pg_pool(&hurried, 1));
    // The limit is one: what takes longer is cancelled.
    let mut conn = <PgConnection as Connection>::establish(&hurried)?;
    assert!(conn.batch_execute("SELECT count(*) FROM generate_series(1, 1000000000)").is_err());
    let (mut rows, mut batches) = (0, 0);
    loop {
        let pruned = match store.prune(&kept(Duration::from_secs(60)), 500) {
            Ok(pruned) => pruned,
            // On a busy machine one batch may be cancelled; what was done before stays done.
            Err(error) if error.kind() == StoreErrorKind::Cancelled => continue,
            Err(error) => return Err(error.into()),
        };
        rows += pruned.rows;
        batches += 1;
        if batches % 50 == 0 {
            let id = one(&db);
            let claimed = db.store().claim_next(&ask("anna"))?.into_iter().next().expect("it is due");
            assert_eq!(claimed.row.id, id);
            db.store().complete(claimed.claim)?;
        }
        if !pruned.more {
            break;
        }
    }
    assert_eq!((rows, batches), (ROWS, ROWS / 500 + 1));
    assert_eq!(db.count("claimstore_jobs"), i64::try_from(batches / 50)?, "what has only just ended is kept");
    Ok(())
}

/// H85: killed between two batches, or in one: each batch that was told of is gone for good, and the next run goes on.
fn what_a_killed_retention_has_deleted_stays_deleted<B: Reached>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    const ROWS: usize = 20_000;
    finished(db, ROWS);
    let mut pruning = Process::start(&db.address(), "retention");
    pruning.line("ready");
    for _ in 0..3 {
        assert_eq!(pruning.line("pruned"), "500");
    }
    pruning.kill();
    let left = usize::try_from(db.count("claimstore_jobs"))?;
    assert!(left <= ROWS - 1_500, "{left}");
    let mut again = Process::start(&db.address(), "retention");
    again.line("ready");
    let mut rows = 0;
    loop {
        let pruned: usize = again.line("pruned").parse()?;
        rows += pruned;
        if pruned < 500 {
            break;
        }
    }
    // The server may have finished a batch that was under way.
    assert!([left, left - 500].contains(&rows), "{rows} of {left}");
    assert_eq!(db.count("claimstore_jobs"), 0);
    Ok(())
}

/// Rows that wait, are held, or must be decided, whatever their age; and those of a state that was not named.
fn nothing_that_is_still_needed_is_pruned<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    finished(db, 6);
    let states = ["pending", "running", "uncertain", "dead", "cancelled", "completed"];
    let ids = db.texts("SELECT CAST(id AS TEXT) AS text FROM claimstore_jobs ORDER BY id");
    for (id, state) in ids.iter().zip(states) {
        let held = if state == "running" {
            format!("'anna', {}", B::now_plus(-3600))
        } else {
            "NULL, NULL".to_owned()
        };
        let (worker, lease) = held.split_once(", ").expect("two values");
        db.run(&format!(
            "UPDATE claimstore_jobs SET state = '{state}', worker = {worker}, lease = {lease} WHERE id = {id}"
        ));
    }
    let pruned = db.store().prune(&kept(Duration::ZERO), 100)?;
    assert_eq!((pruned.rows, pruned.more), (1, false));
    let pruned =
        db.store().prune(&Retention::keep_all().dead(Duration::ZERO).cancelled(Duration::ZERO), 1)?;
    assert_eq!((pruned.rows, pruned.more), (2, true), "a batch of each state");
    let left = db.texts("SELECT state AS text FROM claimstore_jobs ORDER BY id");
    assert_eq!(left, states[..3]);
    Ok(())
}

/// Passing over what somebody has locked, and neither waiting for it nor being waited for (PostgreSQL).
#[test]
fn retention_waits_for_nobody() -> TestResult {
    let db = OnPostgres::fresh(1);
    finished(&db, 5);
    let ids = db.texts("SELECT id::text AS text FROM claimstore_jobs ORDER BY id");
    let (mut a, hurried) = (db.connect(), crate::support::impatient(&db.schema));
    let store = PgStore::<Job>::new(pg_pool(&hurried, 1));
    begin(&mut a);
    a.batch_execute(&format!(
        "SELECT 1 FROM claimstore_jobs WHERE id IN ({}, {}) FOR UPDATE",
        ids[4], ids[2]
    ))?;
    assert_eq!(store.prune(&kept(Duration::ZERO), 2)?.rows, 2, "the oldest ones that are free");
    assert_eq!(store.prune(&kept(Duration::ZERO), 2)?.rows, 1);
    let left = db.texts("SELECT id::text AS text FROM claimstore_jobs ORDER BY id");
    assert_eq!(left, [ids[2].clone(), ids[4].clone()]);
    roll_back(&mut a);
    let pruned = store.prune(&kept(Duration::ZERO), 2)?;
    assert_eq!((pruned.rows, pruned.more), (2, true));
    Ok(())
}

/// SQLite has one writer: a batch is over soon enough for a worker beside it, which is not refused.
#[test]
fn a_worker_beside_retention_is_served_on_sqlite() -> TestResult {
    let db = OnSqlite::fresh(4);
    finished(&db, 10_000);
    let ids = crate::bench::due(&db, 100);
    let store = db.store();
    std::thread::scope(|scope| -> TestResult {
        let pruning = scope.spawn(|| {
            let mut rows = 0;
            loop {
                let pruned = store.prune(&kept(Duration::from_secs(60)), 200).expect("the file is shared");
                rows += pruned.rows;
                if !pruned.more {
                    return rows;
                }
            }
        });
        for _ in &ids {
            let claimed = store.claim_next(&ask("anna"))?.into_iter().next().expect("it is due");
            store.complete(claimed.claim)?;
        }
        assert_eq!(pruning.join().expect("no panic"), 10_000);
        Ok(())
    })?;
    assert_eq!(db.count("claimstore_jobs"), 100);
    Ok(())
}
