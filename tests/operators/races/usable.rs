//! A refusal in the caller's transaction: nothing was written, and the transaction goes on.

use claimstore::core::{Action, Fence, OperateError, State, StoreErrorKind};
use claimstore::{ClaimOn, Dialect, Job, NewJob, TxError};
use claimstore_tests::harness::TestDialect;

use crate::bench::{give_up, held, olga, one, operated, seen, stand, stored};
use crate::support::{Database, TestResult, note, on_both};

on_both! {
    each_refusal_leaves_the_callers_transaction_usable
    an_action_stands_or_falls_with_the_callers_transaction
    a_refusal_becomes_the_callers_own_error
}

/// Each kind of refusal in one transaction, one after the other; what else it did stands.
fn each_refusal_leaves_the_callers_transaction_usable<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let unique = |text: &str| -> NewJob { note(text).unique("only one") };
    let dead = store.enqueue(&[unique("first")])?[0].id();
    db.run(&format!("UPDATE claimstore_jobs SET state = 'dead' WHERE id = {dead}"));
    let holder = store.enqueue(&[unique("second")])?[0].id();
    let ((live, claim), pending, uncertain) = (held(db), one(db), stand(db, State::Uncertain));
    // The user's own rule, under which this row cannot be cancelled.
    let protected = one(db);
    db.run(&B::forbid(protected));
    let at = |id| seen(db, id);
    let cases = [
        (9_999, Fence::NEVER, Action::Retry),
        (pending, Fence::new(3), Action::Retry),
        (live, claim.fence(), Action::Cancel),
        (uncertain, at(uncertain), Action::Retry),
        (uncertain, at(uncertain), Action::Recover(give_up())),
        (dead, at(dead), Action::Retry),
        (protected, at(protected), Action::Cancel),
    ];
    let before: Vec<String> = cases.iter().map(|(id, ..)| db.row(*id)).collect();
    let told = B::D::begin::<_, TxError>(&mut db.connect(), |conn| {
        let mut told = Vec::new();
        for (id, seen, action) in &cases {
            told.push(store.on(conn).operate(id, *seen, action, &olga()).expect_err("it is refused"));
        }
        let fence = at(pending);
        store.on(conn).operate(&pending, fence, &Action::Cancel, &olga())?;
        Ok(told)
    })?;
    assert!(matches!(told[0], OperateError::Missing), "{}", told[0]);
    assert!(matches!(&told[1], OperateError::Changed { now, .. } if now.key == pending), "{}", told[1]);
    assert!(matches!(told[2], OperateError::Held { .. }), "{}", told[2]);
    assert!(matches!(told[3], OperateError::NotFrom { state: State::Uncertain, .. }), "{}", told[3]);
    assert!(matches!(told[4], OperateError::NotFrom { verb: "recover", .. }), "{}", told[4]);
    assert!(matches!(told[5], OperateError::Duplicate { id } if id == holder), "{}", told[5]);
    assert!(
        matches!(&told[6], OperateError::Store(error) if error.kind() == StoreErrorKind::Constraint),
        "{}",
        told[6]
    );
    for ((id, ..), before) in cases.iter().zip(before) {
        let after = db.row(*id);
        assert!(*id == pending || after == before, "{after}");
        assert_eq!(operated(db, *id).len(), usize::from(*id == pending));
    }
    assert_eq!(stored(db, pending).as_deref(), Some("cancelled"));
    Ok(())
}

/// Rolled back, the action has not been; and its event has not either.
fn an_action_stands_or_falls_with_the_callers_transaction<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let id = one(db);
    let (before, fence) = (db.row(id), seen(db, id));
    let undone: Result<(), TxError> = B::D::begin(&mut db.connect(), |conn| {
        db.store().on(conn).operate(&id, fence, &Action::DeadLetter, &olga())?;
        Err(TxError::Busy)
    });
    assert!(matches!(undone, Err(TxError::Busy)));
    assert_eq!((db.row(id), operated(db, id).len()), (before, 0));
    B::D::begin::<_, TxError>(&mut db.connect(), |conn| {
        let done = db.store().on(conn).operate(&id, fence, &Action::DeadLetter, &olga())?;
        let done = db.store().on(conn).operate(&id, done.fence, &Action::Retry, &olga())?;
        db.store().on(conn).operate(&id, done.fence, &Action::Delete, &olga())?;
        Ok(())
    })?;
    assert_eq!(
        (stored(db, id), operated(db, id)),
        (None, vec!["dead_letter".into(), "retry".into(), "delete".into()])
    );
    Ok(())
}

/// With `?` the transaction rolls back and its error says what was in the way.
fn a_refusal_becomes_the_callers_own_error<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let (free, (live, claim)) = (one(db), held(db));
    let fence = seen(db, free);
    let undone: Result<(), TxError> = B::D::begin(&mut db.connect(), |conn| {
        db.store().on(conn).operate(&free, fence, &Action::Cancel, &olga())?;
        db.store().on(conn).operate(&live, claim.fence(), &Action::Cancel, &olga())?;
        Ok(())
    });
    let Err(TxError::Operate(why)) = undone else { panic!("{undone:?}") };
    assert!(matches!(why.downcast_ref::<OperateError<i64>>(), Some(OperateError::Held { .. })), "{why}");
    assert!(why.to_string().contains("held by anna"), "{why}");
    assert_eq!((stored(db, free).as_deref(), operated(db, free).len()), (Some("pending"), 0));
    Ok(())
}

/// How a user's table forbids something.
trait Forbids: Database {
    /// No update may cancel this row.
    fn forbid(id: i64) -> String {
        let rule = format!("NEW.id = {id} AND NEW.state = 'cancelled'");
        match <Self::D as Dialect>::NAME {
            "SQLite" => format!(
                "CREATE TRIGGER protected BEFORE UPDATE ON claimstore_jobs WHEN {rule} \
                 BEGIN SELECT RAISE(ABORT, 'protected'); END"
            ),
            _ => format!(
                "CREATE FUNCTION protect() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'protected'; END $$; \
                 CREATE TRIGGER protected BEFORE UPDATE ON claimstore_jobs FOR EACH ROW WHEN ({rule}) \
                 EXECUTE FUNCTION protect()"
            ),
        }
    }
}

impl<B: Database> Forbids for B {}
