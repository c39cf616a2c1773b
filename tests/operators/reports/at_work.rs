//! An operator acts on a job that is being worked on.

use std::sync::Barrier;
use std::thread;

use claimstore::core::{Action, ClaimStore, OperateError, OperateStore, State};
use claimstore::{ClaimOn, Job};

use crate::bench::{abandoned, held, left_by, olga, operated, refused, stored, verbs_from};
use crate::support::{Database, TestResult, at_once, on_both};

on_both! {
    a_live_claim_is_refused_in_words_and_ended_by_force
    an_expired_claim_needs_no_force
    acting_while_the_worker_completes_is_decided_one_way
}

/// H88: whose it is and until when, for every verb; force ends it, and the old worker is refused.
fn a_live_claim_is_refused_in_words_and_ended_by_force<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    for action in verbs_from(State::Running) {
        let (id, claim) = held(db);
        let told = refused(db, id, claim.fence(), &action, &olga());
        let until = claim.until().expect("leases are stored");
        assert_eq!(
            told.to_string(),
            format!("the row is held by anna until {until}; use force to end a live claim")
        );
        match told {
            OperateError::Held { worker, until, fence } => {
                assert_eq!((worker.as_ref(), until), (Some(claim.worker()), claim.until()));
                assert_eq!(fence, claim.fence());
            }
            other => panic!("{action:?}: {other}"),
        }
        let done = db.store().operate(&id, claim.fence(), &action, &olga().force())?;
        assert_eq!((done.to, done.ended.as_ref()), (left_by(&action), Some(claim.worker())), "{action:?}");
        let lost = db.store().complete(claim).expect_err("its claim was ended");
        assert!(lost.fenced().is_some(), "{action:?}: {lost}");
        assert_eq!(stored(db, id), left_by(&action).map(|state| state.to_string()));
    }
    Ok(())
}

/// H88: where the lease has run out there is nobody to be asked.
fn an_expired_claim_needs_no_force<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    for action in verbs_from(State::Running) {
        for by in [olga(), olga().force()] {
            let (id, claim) = abandoned(db);
            let done = db.store().operate(&id, claim.fence(), &action, &by)?;
            assert_eq!((done.from, done.to, done.ended), (State::Running, left_by(&action), None));
            assert!(db.store().complete(claim).is_err_and(|error| error.fenced().is_some()), "{action:?}");
        }
    }
    Ok(())
}

/// H88: at the same moment. Either it was completed, and the operator is told, or deletes a completed row; or the
/// operator came first, and the worker is told. Never a raw error, never both.
fn acting_while_the_worker_completes_is_decided_one_way<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let actions =
        [Action::Retry, Action::Cancel, Action::Delete, Action::Recover(at_once()), Action::DeadLetter];
    let (store, other) = (db.store(), db.another(2));
    let mut firsts = [0, 0];
    for round in 0..60 {
        let (forces, is_live) = (round % 2 == 0, round % 3 != 0);
        let action = &actions[round % actions.len()];
        let (id, claim) = if is_live { held(db) } else { abandoned(db) };
        let (seen, start) = (claim.fence(), Barrier::new(2));
        let by = if forces { olga().force() } else { olga() };
        let (completed, acted) = thread::scope(|scope| {
            let worker = scope.spawn(|| {
                start.wait();
                store.complete(claim)
            });
            start.wait();
            let acted = other.operate(&id, seen, action, &by);
            (worker.join().expect("no panic"), acted)
        });
        let now = stored(db, id);
        let left = left_by(action).map(|state| state.to_string());
        match (&completed, &acted) {
            (Err(lost), Ok(done)) => {
                assert!(lost.fenced().is_some(), "{round}: {lost}");
                assert_eq!((done.from, &now), (State::Running, &left), "{round}: {action:?}");
                firsts[0] += 1;
            }
            // What has ended may be deleted: the answer says from where.
            (Ok(_), Ok(done)) => {
                assert_eq!((done.from, &now), (State::Completed, &left), "{round}: {action:?}")
            }
            (Ok(_), Err(OperateError::NotFrom { state: State::Completed, .. })) => {
                assert_eq!(now.as_deref(), Some("completed"), "{round}: {action:?}");
                firsts[1] += 1;
            }
            (Ok(_), Err(OperateError::Held { .. })) => {
                assert!(is_live && !forces, "{round}: {action:?}");
                assert_eq!(now.as_deref(), Some("completed"));
            }
            other => panic!("{round}: {action:?}: {other:?}"),
        }
        assert_eq!(operated(db, id).len(), usize::from(acted.is_ok()), "{round}: {action:?}");
    }
    assert!(firsts.iter().sum::<i32>() > 0, "it was a race: {firsts:?}");
    Ok(())
}
