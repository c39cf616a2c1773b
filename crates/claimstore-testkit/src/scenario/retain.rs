//! Deleting what has been kept for long enough.

use std::time::Duration;

use claimstore_core::{ClaimStore, InputError, MAX_BATCH, Pruned, RetainStore, Retention, State, Verdict};

use super::step::{LONG, input, seed_and_take, take};
use crate::{Harness, Key, Seed};

/// The states that retention may take rows of.
const ENDED: [State; 3] = [State::Completed, State::Dead, State::Cancelled];

/// This state's rows are kept so long, all else for ever.
fn keep(state: State, age: Duration) -> Retention {
    match state {
        State::Completed => Retention::keep_all().completed(age),
        State::Dead => Retention::keep_all().dead(age),
        _ => Retention::keep_all().cancelled(age),
    }
}

/// A row in this state that has stood so for this long.
fn stand<H: Harness>(h: &H, state: State, by: Duration) -> Key<H> {
    let running = state == State::Running;
    let key = h.seed(Seed::pending().state(if running { State::Pending } else { state }));
    if running {
        let _held = take(h, &key, "anna");
        h.expire(&key, by);
    }
    h.age(&key, by);
    key
}

#[track_caller]
fn prune<H: Harness>(h: &H, retention: &Retention, limit: usize) -> Pruned
where
    H::Store: RetainStore,
{
    h.store().prune(retention, limit).expect("the store prunes")
}

/// A table that does not know when its rows ended refuses to judge them by it. Says whether that is so.
#[track_caller]
fn refused_for_want_of_times<H: Harness>(h: &H) -> bool
where
    H::Store: RetainStore,
{
    if h.columns().finished {
        return false;
    }
    let key = h.seed(Seed::pending().state(State::Completed));
    for state in ENDED {
        let told = input(&h.store().prune(&keep(state, LONG), 10).expect_err("there are no times"));
        assert!(matches!(told, InputError::NoColumn { .. }), "{told}");
    }
    assert!(h.read(&key).is_some());
    true
}

/// Rows that ended longer ago than their state's age go; younger ones and those of other states stay.
pub fn old_rows_of_the_named_state_go<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    if refused_for_want_of_times(h) {
        return;
    }
    let minute = Duration::from_secs(60);
    let words = h.columns().words;
    let ended: Vec<_> = ENDED.into_iter().filter(|state| words.contains(state)).collect();
    for state in ended.iter().copied() {
        let old = [(); 2].map(|()| stand(h, state, LONG + minute));
        let young = stand(h, state, LONG - minute);
        let others: Vec<_> = ended.iter().filter(|other| **other != state).collect();
        let others: Vec<_> = others.into_iter().map(|other| stand(h, *other, 9 * LONG)).collect();
        let pruned = prune(h, &keep(state, LONG), 10);
        assert_eq!(pruned, Pruned { rows: 2, events: 0, more: false }, "{state}");
        assert!(old.iter().all(|key| h.read(key).is_none()), "{state}");
        assert!(h.read(&young).is_some() && others.iter().all(|key| h.read(key).is_some()), "{state}");
        others.iter().chain([&young]).for_each(|key| h.delete(key));
    }
}

/// Each state has its own age.
pub fn each_state_has_its_own_age<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    if refused_for_want_of_times(h) || !h.columns().has_word(State::Dead) {
        return;
    }
    let [completed, dead] = [State::Completed, State::Dead].map(|state| stand(h, state, 2 * LONG));
    let retention = Retention::keep_all().completed(LONG).dead(3 * LONG);
    assert_eq!(prune(h, &retention, 10).rows, 1);
    assert!(h.read(&completed).is_none() && h.read(&dead).is_some());
}

/// Work that is not over is never taken, however old it is; nor is a row of which nobody knows when it ended.
pub fn what_is_not_over_is_kept<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    if refused_for_want_of_times(h) {
        return;
    }
    let live = [State::Pending, State::Running, State::Uncertain];
    let words = h.columns().words;
    let mut keys: Vec<_> = live
        .into_iter()
        .filter(|state| words.contains(state))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|state| stand(h, state, 9 * LONG))
        .collect();
    keys.push(h.seed(Seed::pending().state(State::Completed)));
    let nothing = Duration::ZERO;
    let all = Retention::keep_all().completed(nothing).dead(nothing).cancelled(nothing);
    assert_eq!(prune(h, &all, 10), Pruned::default());
    assert!(keys.iter().all(|key| h.read(key).is_some()));
}

/// What is not named is kept for ever.
pub fn what_is_not_named_is_kept<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    let key = stand(h, State::Completed, 9 * LONG);
    assert_eq!(prune(h, &Retention::keep_all(), 10), Pruned::default());
    assert!(h.read(&key).is_some());
}

/// No batch is larger than its limit, the oldest rows go first, and the last one says that it is.
pub fn batches_are_bounded_and_oldest_first<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    if refused_for_want_of_times(h) {
        return;
    }
    let minute = Duration::from_secs(60);
    let keys = [3, 7, 1, 6, 2, 5, 4].map(|age| stand(h, State::Completed, LONG + age * minute));
    let retention = keep(State::Completed, LONG);
    let left = || keys.iter().filter(|key| h.read(key).is_some()).collect::<Vec<_>>();
    assert_eq!(prune(h, &retention, 3), Pruned { rows: 3, events: 0, more: true });
    assert_eq!(left(), [&keys[0], &keys[2], &keys[4], &keys[6]]);
    assert_eq!(prune(h, &retention, 3), Pruned { rows: 3, events: 0, more: true });
    assert_eq!(left(), [&keys[2]]);
    assert_eq!(prune(h, &retention, 3), Pruned { rows: 1, events: 0, more: false });
    assert_eq!(prune(h, &retention, 3), Pruned::default());
}

/// Old events go by their own age and limit, and rows are not touched by it; without events it is refused.
pub fn old_events_go<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    let retention = Retention::keep_all().events(LONG);
    if !h.store().guarantees().late_writers {
        let told = input(&h.store().prune(&retention, 10).expect_err("there are no events"));
        assert!(matches!(told, InputError::NoEvents { .. }), "{told}");
        return;
    }
    let fail = || {
        let (key, claim) = seed_and_take(h, "anna");
        h.store().settle(claim, Verdict::fail("no")).expect("it is ours");
        key
    };
    let keys = [(); 5].map(|()| fail());
    h.age_events(LONG + Duration::from_secs(60));
    let young = fail();
    assert_eq!(h.events().len(), 6);
    let ids: Vec<_> = h.events().iter().map(|event| event.id).collect();
    assert_eq!(prune(h, &retention, 3), Pruned { rows: 0, events: 3, more: true });
    assert_eq!(h.events().iter().map(|event| event.id).collect::<Vec<_>>(), ids[3..]);
    assert_eq!(prune(h, &retention, 3), Pruned { rows: 0, events: 2, more: false });
    assert_eq!(prune(h, &retention, 3), Pruned::default());
    assert_eq!(h.events().len(), 1);
    assert!(keys.iter().chain([&young]).all(|key| h.read(key).is_some()));
}

/// A limit of nothing or too much, and an age that no clock can hold, are refused, and nothing is deleted.
pub fn a_bad_retention_is_refused<H: Harness>(h: &H)
where
    H::Store: RetainStore,
{
    let key = stand(h, State::Completed, 9 * LONG);
    let fine = Retention::keep_all().completed(LONG);
    let bad = [(fine, 0), (fine, MAX_BATCH + 1), (fine.completed(Duration::MAX), 10)];
    for (retention, limit) in bad {
        input(&h.store().prune(&retention, limit).expect_err("a bad retention"));
        assert!(h.read(&key).is_some());
    }
}
