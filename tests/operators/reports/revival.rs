//! A job that was cancelled or deleted, and whose worker was killed, does not come back to life.

use claimstore::core::{
    Action, ClaimStore, InspectStore, OperateError, OperateStore, RecoverStore, Refusal, State,
};
use claimstore::{ClaimOn, Job};

use super::child::{Process, Reached};
use crate::bench::{olga, one, stored};
use crate::support::{Database, TestResult, ask, at_once, on_both};

on_both! {
    cancelled_deleted_killed_and_swept_in_any_order_it_never_runs_again
    a_worker_that_was_not_killed_in_time_is_refused
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Cancel,
    Delete,
    Kill,
    Sweep,
}

const STEPS: [Step; 4] = [Step::Cancel, Step::Delete, Step::Kill, Step::Sweep];

/// All orders of these.
fn orders(steps: &[Step]) -> Vec<Vec<Step>> {
    if steps.is_empty() {
        return vec![Vec::new()];
    }
    let first = |n: usize| {
        let rest: Vec<Step> =
            steps.iter().enumerate().filter(|(at, _)| *at != n).map(|(_, step)| *step).collect();
        orders(&rest).into_iter().map(move |order| [&[steps[n]], order.as_slice()].concat())
    };
    (0..steps.len()).flat_map(first).collect()
}

/// The operator looks, and acts on what there is.
fn act<B: Database>(db: &B, id: i64, action: &Action)
where
    Job: ClaimOn<B::D>,
{
    let Some(row) = db.store().show(&id).expect("the store looks") else { return };
    match db.store().operate(&id, row.fence, action, &olga().force()) {
        Ok(_) => {}
        Err(OperateError::NotFrom { state, .. }) => assert!(state.is_final(), "{action:?}: {state}"),
        Err(other) => panic!("{action:?}: {other}"),
    }
}

/// The worker's lease has run out, where it still has one.
fn sweep<B: Database>(db: &B, id: i64)
where
    Job: ClaimOn<B::D>,
{
    if stored(db, id).as_deref() == Some("running") {
        db.expire(&[id]);
    }
    let swept = db.store().recover(&at_once(), 10).expect("the store sweeps");
    assert!(swept.failed.is_empty());
}

#[track_caller]
fn never_again<B: Database>(db: &B, id: i64)
where
    Job: ClaimOn<B::D>,
{
    for _ in 0..2 {
        assert!(db.store().claim_next(&ask("berta").limit(10)).expect("the store claims").is_empty());
        sweep(db, id);
    }
    let outcome = ClaimStore::claim(db.store(), &id, &ask("berta")).expect("the store claims");
    let refusal = outcome.refusal();
    assert!(matches!(refusal, Some(Refusal::Missing | Refusal::NotPending(State::Cancelled))), "{refusal:?}");
}

/// H87: each order of cancelling, deleting, killing the worker and sweeping; and each without the deletion.
fn cancelled_deleted_killed_and_swept_in_any_order_it_never_runs_again<B: Reached>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let without = [Step::Cancel, Step::Kill, Step::Sweep];
    for order in orders(&STEPS).into_iter().chain(orders(&without)) {
        let id = one(db);
        let mut worker = Process::start(&db.address(), "worker");
        assert_eq!(worker.line("claimed"), id.to_string());
        for step in &order {
            match step {
                Step::Cancel => act(db, id, &Action::Cancel),
                Step::Delete => act(db, id, &Action::Delete),
                Step::Kill => worker.kill(),
                Step::Sweep => sweep(db, id),
            }
        }
        never_again(db, id);
        let left = if order.contains(&Step::Delete) { None } else { Some("cancelled") };
        assert_eq!(stored(db, id).as_deref(), left, "{order:?}");
    }
    Ok(())
}

/// H87: it completes after all that, and changes nothing.
fn a_worker_that_was_not_killed_in_time_is_refused<B: Reached>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let decided = [Step::Cancel, Step::Sweep];
    for order in orders(&decided).into_iter().chain(orders(&[Step::Delete, Step::Sweep])) {
        let id = one(db);
        let mut worker = Process::start(&db.address(), "worker");
        assert_eq!(worker.line("claimed"), id.to_string());
        for step in &order {
            match step {
                Step::Cancel => act(db, id, &Action::Cancel),
                Step::Delete => act(db, id, &Action::Delete),
                _ => sweep(db, id),
            }
        }
        let before = db.row(id);
        worker.tell("complete");
        worker.line("late");
        assert_eq!(db.row(id), before, "{order:?}");
        never_again(db, id);
    }
    Ok(())
}
