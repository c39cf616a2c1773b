//! Pausing queues and kinds, and deleting completed rows at once, where it takes real connections: those who pause
//! and those who claim have their own. What every store has to show is in the testkit.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use claimstore::{Dialect, Job, Store, TxError};
use claimstore_core::{
    Claim, ClaimRequest, ClaimStore, Operator, Pausable, QueueSetting, QueueStore, State, Verdict, WorkerId,
};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{Db, PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

/// The job table on either database.
type Jobs<D> = Db<Store<Job, D>, D>;

fn ask() -> ClaimRequest {
    ClaimRequest::new(&WorkerId::new("w").expect("a valid name"))
}

fn anna() -> Operator {
    Operator::new("anna", "the printer is broken").expect("both are given")
}

/// A row of this queue and kind.
fn job<D: TestDialect>(db: &Jobs<D>, queue: &str, kind: &str) -> i64
where
    Job: TestTable<D>,
{
    let key = db.seed(Seed::pending().queue(queue));
    let set = format!("UPDATE claimstore_jobs SET kind = '{kind}' WHERE id = {key}");
    assert_eq!(D::run(&mut db.raw(), &set), Ok(1));
    key
}

fn keys<D: Dialect>(store: &Store<Job, D>, ask: &ClaimRequest) -> Vec<i64>
where
    Job: claimstore::ClaimOn<D>,
{
    let batch = store.claim_next(ask).expect("the store claims");
    let claims: Vec<Claim<i64>> = batch.into_iter().map(|claimed| claimed.claim).collect();
    let mut keys = Vec::new();
    for claim in claims {
        keys.push(*claim.key());
        store.release(claim).expect("it is held");
    }
    keys.sort_unstable();
    keys
}

/// What was recorded, as verb, key and actor.
fn recorded<D: TestDialect>(db: &Jobs<D>) -> Vec<(String, String, String)> {
    let sql =
        "SELECT row_key || ' ' || detail AS value FROM claimstore_events WHERE kind = 'operated' ORDER BY id";
    let lines = D::texts(&mut db.raw(), sql);
    let read = |line: String| {
        let (key, detail) = line.split_once(' ').expect("a key and details");
        let detail: serde_json::Value = serde_json::from_str(detail).expect("details as JSON");
        let text = |name: &str| detail[name].as_str().unwrap_or_default().to_owned();
        (text("verb"), key.to_owned(), text("actor"))
    };
    lines.into_iter().map(read).collect()
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn the_first_pause_stays_and_each_change_is_recorded_once<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let bob = Operator::new("bob", "another reason").expect("both are given");
    let (queue, kind) = (Pausable::queue("a"), Pausable::kind("k"));
    let store = db.store();
    assert!(!store.unpause(&queue, &anna()).expect("an answer"), "it runs");
    assert_eq!(store.queues().expect("an answer"), []);

    let before = db.now();
    assert!(store.pause(&queue, &anna()).expect("an answer"));
    assert!(!db.other().pause(&queue, &bob).expect("an answer"));
    assert!(store.pause(&kind, &bob).expect("an answer"));
    assert!(store.keep_completed("b", false, &bob).expect("an answer"));
    assert!(!store.keep_completed("b", false, &bob).expect("an answer"));

    let set = db.other().queues().expect("an answer");
    let whats: Vec<_> = set.iter().map(|setting| setting.what.clone()).collect();
    assert_eq!(whats, [queue.clone(), Pausable::queue("b"), kind.clone()], "queues first, by name");
    let pause = set[0].pause.as_ref().expect("it is paused");
    assert_eq!((pause.actor.as_str(), pause.reason.as_str()), ("anna", anna().reason()));
    assert!(before <= pause.since && pause.since <= db.now(), "{before} {pause:?}");
    assert_eq!(set[1], QueueSetting { what: Pausable::queue("b"), pause: None, keep_completed: false });

    assert!(store.unpause(&queue, &bob).expect("an answer"));
    assert!(!store.unpause(&queue, &anna()).expect("an answer"));
    assert!(store.keep_completed("b", true, &anna()).expect("an answer"));
    assert_eq!(store.queues().expect("an answer").len(), 1, "what is as if never set is not listed");

    let told = recorded(&db);
    let told: Vec<_> = told.iter().map(|(verb, key, actor)| [verb, key, actor].map(String::as_str)).collect();
    assert_eq!(
        told,
        [
            ["pause", "queue/a", "anna"],
            ["pause", "kind/k", "bob"],
            ["discard_completed", "queue/b", "bob"],
            ["unpause", "queue/a", "bob"],
            ["keep_completed", "queue/b", "anna"],
        ]
    );
}

/// Claimers never stop asking. Those of their claims that begin after the pause has returned get nothing.
#[rstest]
#[case::sqlite_queue(SqliteDb::<Job>::fresh(), Pausable::queue("a"))]
#[case::sqlite_kind(SqliteDb::<Job>::fresh(), Pausable::kind("k"))]
#[case::postgres_queue(PgDb::<Job>::fresh(), Pausable::queue("a"))]
#[case::postgres_kind(PgDb::<Job>::fresh(), Pausable::kind("k"))]
fn a_pause_holds_for_every_claim_that_begins_after_it<D: TestDialect>(
    #[case] db: Jobs<D>,
    #[case] what: Pausable,
) where
    Job: TestTable<D>,
{
    const CLAIMERS: usize = 4;
    const ASKS_AFTER: usize = 20;
    for _ in 0..10 {
        for _ in 0..CLAIMERS {
            job(&db, "a", "k");
        }
        let paused = AtomicBool::new(false);
        thread::scope(|scope| {
            for turn in 0..CLAIMERS {
                let (db, paused) = (&db, &paused);
                scope.spawn(move || {
                    let queues: &[&str] = if turn % 2 == 0 { &["a"] } else { &["a", "b"] };
                    let ask = ask().queues(queues.iter().copied());
                    let mut after = 0;
                    while after < ASKS_AFTER {
                        let begun_after = paused.load(Ordering::SeqCst);
                        let got = keys(db.other(), &ask);
                        assert!(!begun_after || got.is_empty(), "{got:?} after the pause");
                        after += usize::from(begun_after);
                    }
                });
            }
            db.store().pause(&what, &anna()).expect("it is set");
            paused.store(true, Ordering::SeqCst);
        });
        db.store().unpause(&what, &anna()).expect("it is set");
    }
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn settling_and_claiming_deletes_too_and_returns_what_is_next<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    db.store().keep_completed("a", false, &anna()).expect("it is set");
    for mixed in [false, true] {
        let first: Vec<i64> = (0..2).map(|_| job(&db, "a", "k")).collect();
        let ask = ask().queue("a").limit(2);
        let held = db.other().claim_next(&ask).expect("the store claims");
        let next: Vec<i64> = (0..2).map(|_| job(&db, "a", "k")).collect();
        let verdict =
            |key: i64| if mixed && key == first[0] { Verdict::Release } else { Verdict::complete() };
        let settled = held.into_iter().map(|c| (verdict(*c.claim.key()), c.claim)).map(|(v, c)| (c, v));
        let both = db.other().settle_and_claim(settled.collect(), &ask);
        for answer in both.settled {
            assert!(!answer.expect("it was held").already);
        }
        let claimed = both.claimed.expect("it claims");
        let mut got: Vec<i64> = claimed.claimed.iter().map(|claimed| *claimed.claim.key()).collect();
        got.sort_unstable();
        assert_eq!(got, next, "and not the row that was released, mixed: {mixed}");
        assert_eq!(db.read(&first[0]).map(|row| row.state), mixed.then_some(State::Pending));
        assert_eq!(db.read(&first[1]), None);
        for claimed in claimed {
            db.other().complete(claimed.claim).expect("it is held");
        }
        if mixed {
            db.delete(&first[0]);
        }
    }
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn in_the_callers_transaction_the_row_comes_back_with_a_rollback<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    db.store().keep_completed("a", false, &anna()).expect("it is set");
    let key = job(&db, "a", "k");
    let other = job(&db, "b", "k");
    let claimed = db.other().claim_next(&ask().queues(["a", "b"]).limit(2)).expect("the store claims");
    let settled: Vec<_> = claimed.into_iter().map(|c| (c.claim, Verdict::complete())).collect();
    let mut conn = db.connect();
    let outcome = D::begin(&mut conn, |conn| {
        for answer in db.store().on(conn).settle_all(&settled)? {
            answer?;
        }
        Err::<(), TxError>(diesel::result::Error::RollbackTransaction.into())
    });
    assert!(outcome.is_err());
    assert_eq!(db.read(&key).expect("the row").state, State::Running);
    D::begin(&mut conn, |conn| db.store().on(conn).settle_all(&settled)).expect("it commits");
    assert_eq!(db.read(&key), None);
    assert_eq!(db.read(&other).expect("the row").state, State::Completed);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn of_two_who_pause_at_once_one_is_the_first<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    const ROUNDS: usize = 10;
    let queue = Pausable::queue("a");
    for _ in 0..ROUNDS {
        let barrier = Barrier::new(2);
        let paused = |store: &Store<Job, D>| {
            barrier.wait();
            store.pause(&queue, &anna()).expect("it is set")
        };
        let (one, other) = thread::scope(|scope| {
            let one = scope.spawn(|| paused(db.store()));
            (paused(db.other()), one.join().expect("no panic"))
        });
        assert!(one != other, "both say {one}");
        db.store().unpause(&queue, &anna()).expect("it is set");
    }
    assert_eq!(recorded(&db).len(), 2 * ROUNDS, "one event for each pause and each end of one");
}
