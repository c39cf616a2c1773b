//! What stands in a row's way, on both databases.

use std::time::Duration;

use claimstore::core::{
    ClaimStore, InspectStore, OperateStore, Pausable, QueueStore, RecoverStore, Resolution, State, Verdict,
    Why,
};
use claimstore::{ClaimOn, Job};

use crate::bench::{LONG, abandoned, held, olga, one, seen, stand, take};
use crate::support::{Database, TestResult, ask, at_once, note, on_both};

on_both! {
    each_reason_is_told_with_its_cure
    an_uncertain_row_shows_what_its_late_holder_wanted
    the_reason_that_lasts_longest_is_told
    what_is_told_comes_true
}

fn why<B: Database>(db: &B, id: i64) -> Why
where
    Job: ClaimOn<B::D>,
{
    let told = db.store().explain(&id).expect("the store looks");
    assert_eq!(told.lock, None, "nobody has it locked");
    told.why
}

/// Each reason, and the call that is named as its cure exists for it.
fn each_reason_is_told_with_its_cure<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let cure = |why: Why| why.cure().unwrap_or_default();
    assert_eq!((why(db, 9_999), Why::Missing.cure()), (Why::Missing, None));
    assert_eq!((why(db, one(db)), Why::Ready.cure()), (Why::Ready, None));

    let (live, claim) = held(db);
    let told = store.explain(&live)?;
    let row = told.row.as_ref().expect("it is there");
    assert_eq!((told.why, row.worker.as_ref(), row.until), (Why::Held, Some(claim.worker()), claim.until()));
    assert!(row.claimed_at.is_some_and(|since| since <= row.clock));
    assert!(cure(Why::Held).contains("force"));
    assert_eq!(why(db, abandoned(db).0), Why::Abandoned);
    assert!(cure(Why::Abandoned).contains("recover"));

    let later = store.enqueue(&[note("later").delay(LONG)])?[0].id();
    let due = store.show(&later)?.and_then(|row| row.due).expect("it has a time");
    assert_eq!(why(db, later), Why::NotDue(due));
    assert!(cure(Why::NotDue(due)).contains("requeue"));

    let spent = one(db);
    db.run(&format!("UPDATE claimstore_jobs SET failures = max_failures WHERE id = {spent}"));
    assert_eq!(why(db, spent), Why::Exhausted);
    for state in [State::Completed, State::Dead, State::Cancelled] {
        assert_eq!(why(db, stand(db, state)), Why::Ended(state));
    }
    assert_eq!(why(db, stand(db, State::Uncertain)), Why::Uncertain);
    assert!(cure(Why::Uncertain).contains("resolve"));

    let paused = one(db);
    for what in [Pausable::queue("default"), Pausable::kind("note")] {
        store.pause(&what, &olga())?;
        assert_eq!(why(db, paused), Why::Paused, "{what:?}");
        store.unpause(&what, &olga())?;
        assert_eq!(why(db, paused), Why::Ready, "{what:?}");
    }
    Ok(())
}

/// A pause is told rather than a time, a spent budget rather than a pause.
fn the_reason_that_lasts_longest_is_told<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let id = store.enqueue(&[note("later").delay(LONG)])?[0].id();
    store.pause(&Pausable::queue("default"), &olga())?;
    assert_eq!(why(db, id), Why::Paused);
    db.run(&format!("UPDATE claimstore_jobs SET crashes = max_crashes WHERE id = {id}"));
    assert_eq!(why(db, id), Why::Exhausted);
    store.retry(&id, seen(db, id), &olga())?;
    assert_eq!(why(db, id), Why::Paused);
    Ok(())
}

/// The verdicts of a holder that was late, latest first, with whatever it said: for whoever has to decide.
fn an_uncertain_row_shows_what_its_late_holder_wanted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let id = store.enqueue(&[note("once").idempotent(false)])?[0].id();
    let claim = take(db, id, "anna");
    let (first, second) = (claim.token(), claim.token());
    let again = store.resume(&first)?;
    db.expire(&[id]);
    assert_eq!(store.recover(&at_once(), 1)?.count(State::Uncertain), 1);
    assert!(store.fail(claim, "the printer burns").is_err());
    assert!(store.complete(again).is_err());
    let told = store.explain(&id)?;
    assert_eq!(told.why, Why::Uncertain);
    let late: Vec<_> =
        told.late.iter().map(|late| (late.verb.as_str(), late.error.as_deref(), late.held)).collect();
    assert_eq!(late, [("complete", None, second.fence), ("fail", Some("the printer burns"), second.fence)]);
    let said = told.to_string();
    assert!(said.contains("anna wanted to complete it") && said.contains("the printer burns"), "{said}");
    // Decided, it is over; what was said stays to be seen.
    store.resolve(&id, seen(db, id), Resolution::Done, &olga())?;
    let told = store.explain(&id)?;
    assert_eq!((told.why, told.late.len()), (Why::Ended(State::Completed), 2));
    Ok(())
}

/// What is said to happen next does happen.
fn what_is_told_comes_true<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, id) = (db.store(), one(db));
    assert_eq!(why(db, id), Why::Ready);
    let claim = store.claim_next(&ask("anna"))?.into_iter().next().expect("the next claim takes it").claim;
    assert_eq!(why(db, id), Why::Held);
    store.settle(claim, Verdict::snooze(LONG))?;
    assert!(matches!(why(db, id), Why::NotDue(_)));
    assert!(store.claim_next(&ask("anna"))?.is_empty());
    store.requeue(&id, seen(db, id), claimstore::core::Requeue::now(), &olga())?;
    let lease = Duration::from_micros(1);
    assert_eq!(store.claim_next(&ask("anna").lease(lease))?.len(), 1);
    db.expire(&[id]);
    assert_eq!(why(db, id), Why::Abandoned);
    assert_eq!(store.recover(&at_once(), 1)?.rows.len(), 1, "the next recovery takes it");
    assert_eq!(why(db, id), Why::Ready);
    Ok(())
}
