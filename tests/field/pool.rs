//! One connection, and what a caller's code may do to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use claimstore::core::{ClaimStore, RecoverStore, Verdict, Wait};
use claimstore::{ClaimOn, Job, SettleWithError, TxError};
use diesel::Connection;
use diesel::connection::SimpleConnection;

use crate::support::{Database, Ids, LEASE, TestResult, ask, at_once, note, notes, on_both};

on_both! {
    a_panic_in_the_settling_transaction_leaves_no_trace
    a_panic_in_the_callers_transaction_leaves_no_trace
    no_operation_needs_a_second_connection
    more_threads_than_connections_all_get_through
}

/// H63: the work panics in `settle_with`: its writes and the settlement are undone, the claim is in force,
/// and the pool's only connection serves the next caller.
fn a_panic_in_the_settling_transaction_leaves_no_trace<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    db.run("CREATE TABLE mine (n INTEGER)");
    let store = db.another(1);
    let ids = store.enqueue(&notes(1))?.ids();
    let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let (token, before) = (claim.token(), db.row(ids[0]));
    for _ in 0..3 {
        let claim = store.resume(&token)?;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let work = |conn: &mut _| -> Result<(), diesel::result::Error> {
                insert::<B>(conn)?;
                panic!("the handler");
            };
            drop(store.settle_with(claim, Verdict::complete(), work));
        }));
        assert!(panicked.is_err());
        assert_eq!((db.count("mine"), db.row(ids[0])), (0, before.clone()));
        // The only connection carries no transaction of somebody else.
        let ids = store.enqueue(&[note("next")])?.ids();
        assert_eq!(db.state(ids[0]), "pending");
    }
    // An error in place of the panic leaves as little, and gives the claim back.
    let failing = |conn: &mut _| insert::<B>(conn).and(Err::<(), _>(diesel::result::Error::NotFound));
    let refused = store.settle_with(store.resume(&token)?, Verdict::complete(), failing);
    let Err(SettleWithError::Work { claim, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((db.count("mine"), db.row(ids[0])), (0, before));
    store.settle_with(*claim, Verdict::complete(), |conn| insert::<B>(conn))?;
    assert_eq!((db.count("mine"), db.state(ids[0])), (1, "completed".to_owned()));
    Ok(())
}

fn insert<B: Database>(conn: &mut crate::support::Conn<B>) -> diesel::QueryResult<()> {
    conn.batch_execute("INSERT INTO mine VALUES (1)")
}

/// H63: the same in a transaction of the caller's, on the pool's only connection.
fn a_panic_in_the_callers_transaction_leaves_no_trace<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.another(1);
    let ids = store.enqueue(&notes(2))?.ids();
    let held = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let before = (db.row(ids[0]), db.row(ids[1]));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut conn = store.pool().get().expect("it is free");
        conn.transaction::<(), TxError, _>(|conn| {
            store.on(conn).enqueue(&notes(3))?;
            store.on(conn).settle(&held, &Verdict::complete())?;
            drop(store.on(conn).claim_next(&ask("anna"))?);
            panic!("the caller");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!((db.row(ids[0]), db.row(ids[1])), before);
    assert_eq!(db.count("claimstore_jobs"), 2);
    assert_eq!(store.claim_next(&ask("bert"))?.len(), 1);
    assert!(!store.complete(held)?.already);
    Ok(())
}

/// H64: a pool of one serves every operation, by itself and in the caller's transaction, while that one
/// connection is the caller's.
fn no_operation_needs_a_second_connection<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.another(1);
    store.enqueue(&notes(20))?;
    let take = |wait| -> Result<_, Box<dyn std::error::Error>> {
        let next = store.claim_next(&ask("anna"))?.claimed.remove(0).claim;
        let key = *next.key();
        store.release(next)?;
        Ok(store.claim(&key, &ask("anna").wait(wait))?.claimed().expect("it is free").claim)
    };
    let mut claim = take(Wait::Never)?;
    store.renew(&mut claim, LEASE)?;
    store.complete(store.resume(&claim.token())?)?;
    // A late writer is recorded on the same connection, also after `settle_with`.
    for by_settle_with in [false, true] {
        let late = take(Wait::AtMost(LEASE))?;
        db.expire(&[*late.key()]);
        assert_eq!(store.recover(&at_once(), 5)?.rows.len(), 1);
        let events = db.count("claimstore_events");
        match by_settle_with {
            false => assert!(store.complete(late).is_err()),
            true => assert!(store.settle_with(late, Verdict::complete(), |_| Ok::<_, TxError>(())).is_err()),
        }
        assert_eq!(db.count("claimstore_events"), events + 1);
    }
    let both =
        store.settle_and_claim(vec![(take(Wait::Forever)?, Verdict::complete())], &ask("anna").limit(2));
    let many = both.claimed?.into_iter().map(|one| (one.claim, Verdict::release())).collect();
    assert!(store.settle_all(many).iter().all(Result::is_ok));
    store.preview(&at_once(), 5)?;
    let (_, receipt) =
        store.settle_with(take(Wait::Never)?, Verdict::complete(), |_| Ok::<_, TxError>(()))?;
    assert!(!receipt.already);

    let mut conn = store.pool().get()?;
    conn.transaction::<_, TxError, _>(|conn| {
        let ids = store.on(conn).enqueue(&notes(3))?.ids();
        let held = store.on(conn).claim(&ids[0], &ask("anna"))?.claimed().expect("it is ours to take").claim;
        store.on(conn).guard(&held)?;
        let mut held = store.on(conn).resume(&held.token())?;
        store.on(conn).renew(&mut held, LEASE)?;
        store.on(conn).settle_with(&held, &Verdict::release(), |_| Ok::<_, TxError>(()))?;
        // A lost claim is told without a second connection.
        let late = store.on(conn).settle(&held, &Verdict::complete());
        assert!(matches!(late, Err(TxError::AlreadySettled(_))), "{late:?}");
        let batch = store.on(conn).claim_next(&ask("anna").limit(2))?;
        let many: Vec<_> = batch.into_iter().map(|one| (one.claim, Verdict::complete())).collect();
        let (answers, next) = store.on(conn).settle_and_claim(&many, &ask("anna"))?;
        assert!(answers.iter().all(Result::is_ok));
        let many: Vec<_> = next.into_iter().map(|one| (one.claim, Verdict::complete())).collect();
        store.on(conn).settle_all(&many)?;
        store.on(conn).recover(&at_once(), 5)?;
        Ok(())
    })?;
    Ok(())
}

/// H64: eight threads and a pool of two, each holding a connection in a transaction of its own.
fn more_threads_than_connections_all_get_through<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, start) = (db.another(2), Barrier::new(8));
    store.enqueue(&notes(80))?;
    thread::scope(|scope| {
        for n in 0..8 {
            let (store, start) = (&store, &start);
            scope.spawn(move || {
                start.wait();
                for _ in 0..10 {
                    let mut batch = store.claim_next(&ask(&format!("worker-{n}"))).expect("it claims");
                    let claim = batch.claimed.pop().expect("there is enough").claim;
                    store
                        .settle_with(claim, Verdict::complete(), |_| Ok::<_, TxError>(()))
                        .expect("it settles");
                }
            });
        }
    });
    assert_eq!(db.count("claimstore_jobs WHERE state = 'completed'"), 80);
    Ok(())
}
