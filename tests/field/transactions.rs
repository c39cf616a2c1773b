//! Enqueueing, claiming and settling in the caller's transaction.

use claimstore::core::{ClaimStore, RecoverStore, SettleCause, State, Verdict};
use claimstore::{ClaimOn, Job, TxError};
use diesel::Connection;
use diesel::connection::SimpleConnection;

use crate::support::{Database, Ids, OnPostgres, TestResult, ask, at_once, notes, on_both};

on_both! {
    a_job_is_there_when_its_transaction_is
    what_the_transaction_decided_is_what_the_row_says
    a_claim_holds_with_and_without_a_transaction
    a_claim_in_a_transaction_is_void_without_its_commit
}

/// H68: a job enqueued in the caller's transaction is seen by nobody before the commit, and by nobody ever
/// after a rollback.
fn a_job_is_there_when_its_transaction_is<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    db.run("CREATE TABLE mine (n INTEGER)");
    let mut conn = store.pool().get()?;
    for commits in [false, true] {
        let done = conn.transaction::<_, TxError, _>(|conn| {
            conn.batch_execute("INSERT INTO mine VALUES (1)")?;
            let ids = store.on(conn).enqueue(&notes(2))?.ids();
            assert_eq!((db.count("claimstore_jobs"), db.count("mine")), (0, 0));
            let looked = db.another(1).preview(&at_once(), 10)?;
            assert!(looked.rows.is_empty());
            if commits { Ok(ids) } else { Err(TxError::Busy) }
        });
        assert_eq!(done.is_ok(), commits);
        assert_eq!(db.count("claimstore_jobs"), if commits { 2 } else { 0 });
        assert_eq!(db.count("mine"), i64::from(commits));
    }
    assert_eq!(store.claim_next(&ask("anna").limit(9))?.len(), 2);
    Ok(())
}

/// H68: an eager worker on PostgreSQL, between the enqueue and its commit, finds nothing and does not wait.
#[test]
fn an_eager_worker_finds_no_uncommitted_job() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let mut conn = db.connect();
    let ids = conn.transaction::<_, TxError, _>(|conn| {
        let ids = store.on(conn).enqueue(&notes(1))?.ids();
        for _ in 0..20 {
            let batch = store.claim_next(&ask("eager"))?;
            assert!(batch.is_empty() && batch.next_due.is_none());
        }
        assert_eq!(store.claim(&ids[0], &ask("eager"))?.refusal(), Some(&claimstore::core::Refusal::Missing));
        Ok(ids)
    })?;
    assert_eq!(*store.claim_next(&ask("eager"))?.claimed[0].claim.key(), ids[0]);
    Ok(())
}

/// H69: whatever the handler returns afterwards, it is told what the row says.
fn what_the_transaction_decided_is_what_the_row_says<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(3))?.ids();
    let take = |id: i64| store.claim(&id, &ask("anna")).map(|c| c.claimed().expect("it is free").claim);
    let mut conn = store.pool().get()?;

    // Completed in the transaction, then the handler fails: the row is completed, and failing it says so.
    let claim = take(ids[0])?;
    conn.immediately(|conn| store.on(conn).settle(&claim, &Verdict::complete()).map(drop))?;
    let completed = db.row(ids[0]);
    let error = store.fail(claim, "after all").expect_err("it is completed");
    let SettleCause::AlreadySettled(settled) = error.cause() else { panic!("{error}") };
    assert_eq!(settled.state, State::Completed);
    assert_eq!(db.row(ids[0]), completed);

    // Completed and rolled back, then the handler is content: the runtime's completion is the first one.
    let claim = take(ids[1])?;
    let running = db.row(ids[1]);
    let undone = conn.immediately(|conn| {
        store.on(conn).settle(&claim, &Verdict::complete())?;
        Err(TxError::Busy)
    });
    assert!(undone.is_err());
    assert_eq!(db.row(ids[1]), running);
    assert!(!store.complete(claim)?.already);

    // Completed in the transaction, and by the runtime once more: a success that says so.
    let claim = take(ids[2])?;
    conn.immediately(|conn| store.on(conn).settle(&claim, &Verdict::complete()).map(drop))?;
    assert!(store.complete(claim)?.already);
    assert_eq!(db.count("claimstore_events"), 0, "none of these is a late writer");
    Ok(())
}

/// H70: a claim made without a transaction holds as well as one made in a transaction that has committed:
/// a second session gets nothing, and a recovery finds nothing to recover.
fn a_claim_holds_with_and_without_a_transaction<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, other) = (db.store(), db.another(1));
    let ids = store.enqueue(&notes(4))?.ids();
    let mut conn = store.pool().get()?;
    // By the store, by the same connection in autocommit, and by a transaction; by key and by readiness.
    let first = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let second = store.on(&mut *conn).claim(&ids[1], &ask("anna"))?.claimed().expect("it is free").claim;
    let third = store.on(&mut *conn).claim_next(&ask("anna"))?.claimed.remove(0).claim;
    let mut fourth = None;
    conn.immediately(|conn| {
        fourth = store.on(conn).claim(&ids[3], &ask("anna"))?.claimed();
        Ok(())
    })?;
    for id in &ids {
        let refused = other.claim(id, &ask("bert"))?;
        assert!(matches!(refused.refusal(), Some(claimstore::core::Refusal::Held { .. })), "{refused:?}");
    }
    assert!(other.claim_next(&ask("bert").limit(9))?.is_empty());
    assert!(other.recover(&at_once(), 9)?.rows.is_empty());
    // `guard` outside a transaction tells the truth of that moment.
    store.on(&mut *conn).guard(&second)?;
    for claim in [first, second, third, fourth.expect("it was free").claim] {
        assert!(!store.complete(claim)?.already);
    }
    Ok(())
}

/// H70: what was claimed in a transaction is nobody's after its rollback, and its fence is worth nothing.
fn a_claim_in_a_transaction_is_void_without_its_commit<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(1))?.ids();
    let mut conn = store.pool().get()?;
    let mut void = None;
    let undone = conn.immediately(|conn| {
        void = store.on(conn).claim(&ids[0], &ask("anna"))?.claimed();
        Err(TxError::Busy)
    });
    assert!(undone.is_err());
    assert_eq!(db.state(ids[0]), "pending");
    let held = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let row = db.row(ids[0]);
    let late = store.complete(void.expect("it was claimed").claim);
    assert!(late.is_err_and(|error| error.fenced().is_some()));
    assert_eq!(db.row(ids[0]), row);
    assert!(!store.complete(held)?.already);
    Ok(())
}

/// A guard in a transaction keeps the row from being recovered until that ends.
#[test]
fn a_guarded_row_is_not_recovered_meanwhile() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let ids = store.enqueue(&notes(1))?.ids();
    let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    db.expire(&ids);
    let mut conn = db.connect();
    conn.transaction::<_, TxError, _>(|conn| {
        store.on(conn).guard(&claim)?;
        assert!(store.recover(&at_once(), 9)?.rows.is_empty());
        store.on(conn).settle(&claim, &Verdict::complete()).map(drop)
    })?;
    assert_eq!(db.state(ids[0]), "completed");
    Ok(())
}

/// A transaction as the documentation advises for either database.
trait Immediately: Connection {
    fn immediately(&mut self, work: impl FnOnce(&mut Self) -> Result<(), TxError>) -> Result<(), TxError>;
}

impl<C: Connection> Immediately for C {
    fn immediately(&mut self, work: impl FnOnce(&mut Self) -> Result<(), TxError>) -> Result<(), TxError> {
        // Each begins with a guarded write, so that a deferred one is a writer from its first statement on.
        self.transaction(work)
    }
}
