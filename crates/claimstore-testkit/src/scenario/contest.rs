//! Operators against holders, claimers, sweepers and each other, started together. Nothing sleeps.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use claimstore_core::{
    Action, Bulk, ClaimStore, Filter, OperateError, OperateStore, Pausable, QueueStore, RecoverStore, State,
};

use super::acting::{can, olga, records};
use super::step::{LONG, ask, at_once, row, seed_and_take};
use crate::{Harness, Key, Seed};

/// Runs both at the same moment.
fn together<A: Send, B: Send>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B + Send) -> (A, B) {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        let start = &start;
        let one = scope.spawn(move || {
            start.wait();
            one()
        });
        start.wait();
        let other = other();
        (one.join().expect("it did not panic"), other)
    })
}

/// The verbs that end a claim, in turn.
fn verb<H: Harness>(h: &H, round: usize) -> Action {
    let all = [Action::Retry, Action::Cancel, Action::DeadLetter, Action::Delete];
    let fits: Vec<_> = all.into_iter().filter(|action| can(h, action)).collect();
    fits[round % fits.len()].clone()
}

/// Force and completion exclude each other: whoever comes first has its way, and the other is told.
pub fn force_and_completion_exclude_each_other<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for round in 0..h.rounds() {
        let ((key, claim), action) = (seed_and_take(h, "anna"), verb(h, round));
        let seen = claim.fence();
        let act = || h.other().operate(&key, seen, &action, &olga().force());
        let (completed, acted) = together(|| h.store().complete(claim), act);
        let stored = h.read(&key);
        match (completed, acted) {
            (Err(lost), Ok(done)) => {
                assert!(lost.fenced().is_some(), "round {round}: {lost}");
                assert_eq!(stored.map(|row| row.state), done.to, "round {round}: {action:?}");
            }
            (Ok(_), Err(OperateError::NotFrom { state: State::Completed, .. })) => {
                assert_eq!(stored.map(|row| (row.state, row.fence)), Some((State::Completed, seen)));
            }
            // A row that has ended may be begun again, or deleted: then both had their way, one after the other.
            (Ok(_), Ok(done)) => {
                assert_eq!(done.from, State::Completed, "round {round}: {action:?}");
                assert_eq!(stored.map(|row| row.state), done.to, "round {round}: {action:?}");
            }
            (completed, acted) => panic!("round {round}: {completed:?}, {acted:?}"),
        }
    }
}

/// An action and a claim exclude each other: a row that was ended is not claimed, and a claimed one has changed.
pub fn an_action_and_a_claim_exclude_each_other<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let ending: Vec<_> = [Action::Cancel, Action::DeadLetter, Action::Delete]
        .into_iter()
        .filter(|verb| can(h, verb))
        .collect();
    for round in 0..h.rounds() {
        let (key, action) = (h.seed(Seed::pending()), &ending[round % ending.len()]);
        let seen = row(h, &key).fence;
        let act = || h.other().operate(&key, seen, action, &olga().force());
        let (claimed, acted) = together(|| h.store().claim_next(&ask("anna")), act);
        let claimed = claimed.expect("losing is not an error");
        match acted {
            Ok(_) => assert!(claimed.is_empty(), "round {round}: {action:?} came first"),
            Err(OperateError::Changed { now, .. }) => {
                let claim = claimed.into_iter().next().expect("somebody changed it").claim;
                assert_eq!((now.state, now.fence), (State::Running, claim.fence()), "round {round}");
                h.store().complete(claim).expect("it is ours");
            }
            Err(other) => panic!("round {round}: {other}"),
        }
    }
}

/// A sweep and an operator do not both take an abandoned row.
pub fn an_action_and_a_sweep_exclude_each_other<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().lease {
        return;
    }
    for round in 0..h.rounds() {
        let ((key, claim), action) = (seed_and_take(h, "anna"), verb(h, round));
        h.expire(&key, LONG);
        let act = || h.other().operate(&key, claim.fence(), &action, &olga());
        let (swept, acted) = together(|| h.store().recover(&at_once(9), 10), act);
        let swept = swept.expect("losing is not an error");
        assert!(swept.failed.is_empty(), "round {round}: {:?}", swept.failed);
        match acted {
            Ok(done) => {
                assert_eq!(swept.rows.len(), 0, "round {round}: {action:?} came first");
                assert_eq!(h.read(&key).map(|row| row.state), done.to, "round {round}");
            }
            Err(OperateError::Changed { now, .. }) => {
                assert_eq!((swept.rows.len(), now.fence), (1, swept.rows[0].fence), "round {round}");
                assert_eq!(row(h, &key).state, State::Pending, "round {round}");
            }
            Err(other) => panic!("round {round}: {other}"),
        }
        if h.read(&key).is_some() {
            h.delete(&key);
        }
    }
}

/// Two operators that saw the same act once between them, and one action is recorded.
pub fn two_operators_act_once<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for round in 0..h.rounds() {
        let key = h.seed(Seed::pending());
        let (seen, before) = (row(h, &key).fence, records(h).len());
        let (one, other) =
            together(|| h.store().retry(&key, seen, &olga()), || h.other().retry(&key, seen, &olga()));
        let told = [one, other].map(|answer| match answer {
            Ok(done) => Some(done.fence),
            Err(OperateError::Changed { .. }) => None,
            Err(other) => panic!("round {round}: {other}"),
        });
        assert_eq!(told.iter().flatten().collect::<Vec<_>>(), [&row(h, &key).fence], "round {round}");
        assert_eq!(records(h).len(), before + 1, "round {round}");
        h.delete(&key);
    }
}

/// Two that act on the same rows in bulk, while a worker settles some of them: each row is changed once.
pub fn two_operators_in_bulk_change_each_row_once<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let keys: Vec<Key<H>> = h.seed_many(vec![Seed::pending(); 60]);
    let bulk = |store: &H::Store| {
        let (mut done, mut rows) = (0, Bulk::new(Filter::of(State::Pending)).limit(7));
        loop {
            let batch = store.operate_all(&rows, &Action::Delete, &olga()).expect("contention is no error");
            assert!(batch.refused.is_empty(), "{:?}", batch.refused);
            done += batch.done.len();
            assert!(done <= keys.len(), "no end is in sight");
            match batch.next {
                Some(next) => rows = rows.after(next),
                None => return done,
            }
        }
    };
    let (one, other) = together(|| bulk(h.store()), || bulk(h.other()));
    // Rows that one had locked while the other passed by are left to the next round.
    let rest = bulk(h.store());
    assert_eq!(one + other + rest, keys.len());
    assert_eq!((h.count_in(State::Pending), records(h).len()), (0, keys.len()));
}

/// No claim that begins after a pause has returned takes a row of it.
pub fn nothing_is_claimed_once_a_pause_has_returned<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !h.columns().queue {
        return;
    }
    h.seed_many(vec![Seed::pending(); 400]);
    let (has_returned, queue) = (AtomicBool::new(false), Pausable::queue("default"));
    let claim_on = || {
        let mut early = 0;
        loop {
            let late = has_returned.load(Ordering::SeqCst);
            let claimed = h.other().claim_next(&ask("anna")).expect("a pause is no error");
            assert!(!late || claimed.is_empty(), "claimed after the pause had returned");
            early += claimed.len();
            if late {
                return early;
            }
        }
    };
    let pause = || {
        let paused = h.store().pause(&queue, &olga());
        has_returned.store(true, Ordering::SeqCst);
        paused
    };
    let (early, paused) = together(claim_on, pause);
    assert!(paused.expect("the store pauses"));
    assert_eq!(h.count_in(State::Running), early);
}
