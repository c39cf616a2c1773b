//! Written over what had moved since it was read.

use std::collections::BTreeSet;
use std::thread;

use claimstore::core::{ClaimStore, RecoverStore, Refusal, State, Verdict, Wait};
use claimstore::{ClaimOn, Job, TxError};
use diesel::Connection;

use crate::support::{
    Database, Gate, Ids, LEASE, OnPostgres, TestResult, ask, at_once, backend_pid, begin, commit, note,
    notes, on_both, until, waits_for,
};

on_both! {
    a_sweep_leaves_alone_what_has_moved_since_it_looked
}

/// H16: the sweep stands still between its look and its write. Rows that were completed, failed, renewed, or
/// released and claimed by another meanwhile keep every column; the truly abandoned ones are recovered.
fn a_sweep_leaves_alone_what_has_moved_since_it_looked<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(10))?.ids();
    let mut claims: Vec<_> =
        store.claim_next(&ask("anna").limit(10))?.into_iter().map(|one| one.claim).collect();
    db.expire(&ids);

    let sweeper = db.another(1);
    assert_eq!(sweeper.preview(&at_once(), 100)?.rows.len(), 10);
    let gate = Gate::after_the_first_statement(&mut *sweeper.pool().get()?);
    let (recovered, moved) = thread::scope(|scope| {
        let sweep = scope.spawn(|| sweeper.recover(&at_once(), 100));
        gate.reached();
        let mut next = || claims.remove(0);
        store.complete(next()).expect("the owner completes");
        store.release(next()).expect("the owner releases");
        let again = store.claim(&ids[1], &ask("bert")).expect("another claims");
        assert!(again.claimed().is_some());
        let mut renewed = next();
        store.renew(&mut renewed, LEASE).expect("the owner renews");
        store.fail(next(), "no").expect("the owner fails");
        // The next holder has vanished too: that is another claim, for the next sweep to judge.
        store.release(next()).expect("the owner releases");
        let again = store.claim(&ids[4], &ask("bert")).expect("another claims");
        assert!(again.claimed().is_some());
        db.expire(&ids[4..5]);
        let moved: Vec<String> = ids[..5].iter().map(|id| db.row(*id)).collect();
        gate.open();
        (sweep.join().expect("no panic"), moved)
    });
    let recovered = recovered?;
    assert_eq!(ids[..5].iter().map(|id| db.row(*id)).collect::<Vec<_>>(), moved);
    let found: BTreeSet<i64> = recovered.rows.iter().map(|row| row.key).collect();
    assert_eq!(found, ids[5..].iter().copied().collect());
    assert_eq!((recovered.rows.len(), recovered.left, recovered.failed.len()), (5, 0, 0));
    assert!(ids[5..].iter().all(|id| db.state(*id) == "pending"));
    // Their former owner is refused, each of them.
    assert!(
        store
            .settle_all(claims.into_iter().map(|claim| (claim, Verdict::complete())).collect())
            .iter()
            .all(|answer| answer.as_ref().is_err_and(|error| error.fenced().is_some()))
    );
    Ok(())
}

/// H20: A locks the row and completes it, B's claim waits for the lock, and decides by what it finds then.
#[test]
fn a_claim_that_waited_decides_by_the_row_under_the_lock() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let ids = store.enqueue(&notes(2))?.ids();
    for (id, wait) in [(ids[0], Wait::Forever), (ids[1], Wait::AtMost(LEASE))] {
        let mut a = db.connect();
        begin(&mut a);
        let pid = backend_pid(&mut a);
        let held = store.on(&mut a).claim(&id, &ask("anna"))?.claimed().expect("it is free").claim;
        let refused = thread::scope(|scope| -> Result<_, TxError> {
            let b = scope.spawn(|| store.claim(&id, &ask("bert").wait(wait)));
            until("B waits for A", || waits_for(&db, &pid));
            store.on(&mut a).settle(&held, &Verdict::complete())?;
            commit(&mut a);
            Ok(b.join().expect("no panic")?)
        })?;
        assert_eq!(refused.refusal(), Some(&Refusal::NotPending(State::Completed)));
        assert_eq!(db.state(id), "completed");
    }
    Ok(())
}

/// H20, the other way round: a settlement and a renewal that meet a lock act on the row as it is afterwards.
#[test]
fn a_settlement_that_waited_does_not_overwrite_the_recovery() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let ids = store.enqueue(&[note("a")])?.ids();
    let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    db.expire(&ids);
    let mut a = db.connect();
    begin(&mut a);
    let pid = backend_pid(&mut a);
    assert_eq!(store.on(&mut a).recover(&at_once(), 10)?.rows.len(), 1);
    // Renewing never waits: it says that the row is busy.
    let busy = store.renew_all(&[claim.token()], LEASE)?;
    assert_eq!(busy, [claimstore::core::Renewal::Busy]);
    let (answer, recovered) = thread::scope(|scope| {
        let b = scope.spawn(|| store.complete(claim));
        until("B waits for A", || waits_for(&db, &pid));
        commit(&mut a);
        let recovered = db.row(ids[0]);
        (b.join().expect("no panic"), recovered)
    });
    assert!(answer.is_err_and(|error| error.fenced().is_some()));
    assert_eq!(db.row(ids[0]), recovered);
    assert!(recovered.starts_with("pending "), "{recovered}");
    Ok(())
}

/// H20: a `guard` that waited is refused too, so that the caller's writes roll back.
#[test]
fn a_guard_that_waited_is_refused() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let ids = store.enqueue(&[note("a")])?.ids();
    let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    db.expire(&ids);
    let mut a = db.connect();
    begin(&mut a);
    let pid = backend_pid(&mut a);
    assert_eq!(store.on(&mut a).recover(&at_once(), 10)?.rows.len(), 1);
    let refused = thread::scope(|scope| {
        let b = scope.spawn(|| {
            let mut conn = db.connect();
            conn.transaction::<_, TxError, _>(|conn| store.on(conn).guard(&claim))
        });
        until("B waits for A", || waits_for(&db, &pid));
        commit(&mut a);
        b.join().expect("no panic")
    });
    assert!(matches!(refused, Err(TxError::Fenced(_))), "{refused:?}");
    Ok(())
}
