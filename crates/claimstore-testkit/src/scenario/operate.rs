//! What each verb of an operator does, and from where.

use std::time::Duration;

use claimstore_core::{
    Action, Backoff, ClaimStore, Fence, InputError, OperateError, OperateStore, RecoveryAction,
    RecoveryPolicy, Refusal, Requeue, Resolution, State, Tally,
};

use super::acting::{act, can, olga, refused, stand, verbs};
use super::step::{LONG, input, refusal, row, take};
use crate::{Harness, Seed, Snapshot};

/// Has failed twice, crashed once and been handed back thrice.
const TALLY: Tally = Tally { failures: 2, crashes: 1, interruptions: 3 };

/// The counts of a row, where they are stored.
fn counts(row: &Snapshot) -> [Option<i32>; 3] {
    [row.failures, row.crashes, row.interruptions]
}

fn stored<H: Harness>(h: &H, tally: Tally) -> [Option<i32>; 3] {
    let columns = h.columns();
    [
        columns.failures.then_some(tally.failures),
        columns.crashes.then_some(tally.crashes),
        columns.interruptions.then_some(tally.interruptions),
    ]
}

/// Each verb begins from the states that it names, raises the fence there, and is refused from the others.
pub fn each_verb_begins_from_its_own_states<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    // What needs a column is refused for want of it, whatever the row's state.
    let asks_too_much =
        |action: &Action| matches!(action, Action::Requeue(_) | Action::Recover(_)) && !can(h, action);
    for action in verbs().into_iter().filter(|action| !asks_too_much(action)) {
        for state in h.columns().words {
            let key = stand(h, state);
            let before = row(h, &key);
            if !action.from().contains(&state) {
                let told = refused(h, &key, before.fence, &action, &olga().force());
                let named = matches!(&told, OperateError::NotFrom { verb, state: from }
                    if *verb == action.verb() && *from == state);
                assert!(named, "{action:?} from {state}: {told}");
            } else if can(h, &action) {
                let done = act(h, &key, &action);
                assert_eq!((&done.key, done.from), (&key, state), "{action:?} from {state}");
                let after = h.read(&key);
                assert_eq!(after.as_ref().map(|row| row.state), done.to, "{action:?} from {state}");
                if let Some(after) = after {
                    let step = after.fence.get() - before.fence.get();
                    assert!((1..=1 << Fence::STEP_BITS).contains(&step), "{action:?} from {state}: {step}");
                    assert_eq!((after.fence, after.lease), (done.fence, None));
                }
            }
        }
    }
}

/// A verb that leads where the table has no word, or needs a column it has not, is refused in words.
pub fn what_the_table_cannot_hold_is_refused<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for action in [Action::Cancel, Action::DeadLetter, Action::Requeue(Requeue::after(LONG))] {
        let key = stand(h, State::Pending);
        if can(h, &action) {
            continue;
        }
        match refused(h, &key, row(h, &key).fence, &action, &olga()) {
            OperateError::Store(error) => match input(&error) {
                InputError::NoWord { .. } | InputError::NoColumn { .. } => {}
                other => panic!("{action:?}: {other}"),
            },
            other => panic!("{action:?}: {other}"),
        }
    }
    let priority = Action::Requeue(Requeue::of_priority(5));
    let key = stand(h, State::Pending);
    if can(h, &priority) {
        act(h, &key, &priority);
    } else {
        assert!(matches!(refused(h, &key, row(h, &key).fence, &priority, &olga()), OperateError::Store(_)));
    }
}

/// A retried row begins anew: pending, due now, all counts at zero, and it can be claimed.
pub fn a_retried_row_begins_anew<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let ended = [State::Completed, State::Dead, State::Cancelled];
    for state in h.columns().words.into_iter().filter(|state| ended.contains(state)) {
        let key = h.seed(Seed::pending().state(state).due_in(LONG));
        h.set_tally(&key, TALLY);
        h.age(&key, LONG);
        let again = if state == State::Completed { Action::Repeat } else { Action::Retry };
        let done = act(h, &key, &again);
        assert_eq!((done.from, done.to, &done.ended), (state, Some(State::Pending), &None));
        let after = row(h, &key);
        assert_eq!((after.state, after.finished, after.lease), (State::Pending, None, None));
        assert_eq!((after.worker.as_deref(), after.claimed_at), (None, None));
        assert_eq!(counts(&after), stored(h, Tally::default()), "{state}");
        let claim = take(h, &key, "berta");
        assert_eq!(claim.tally(), Tally::default());
        h.store().complete(claim).expect("it is hers");
    }
}

/// A retried pending row waits no longer, and its counts are forgotten as well.
pub fn a_retried_pending_row_is_due_at_once<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending().due_in(LONG).failures(2));
    act(h, &key, &Action::Retry);
    assert_eq!(row(h, &key).failures, h.columns().failures.then_some(0));
    let _claim = take(h, &key, "anna");
}

/// A row that was cancelled or given up has ended, keeps its counts, and is never claimed by itself.
pub fn an_ended_row_is_not_claimed_again<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for (action, state) in [(Action::Cancel, State::Cancelled), (Action::DeadLetter, State::Dead)] {
        if !can(h, &action) {
            continue;
        }
        for from in [State::Pending, State::Running] {
            let key = stand(h, from);
            h.set_tally(&key, TALLY);
            let holder = row(h, &key).worker;
            assert_eq!(act(h, &key, &action).to, Some(state));
            let after = row(h, &key);
            assert_eq!((after.state, after.finished.is_some()), (state, h.columns().finished));
            assert_eq!((counts(&after), after.worker), (stored(h, TALLY), holder));
            assert_eq!(refusal(h, &key), Refusal::NotPending(state));
        }
    }
}

/// An uncertain row is decided: it was done, it is tried again from the beginning, or it is given up.
pub fn an_uncertain_row_is_decided<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().has_word(State::Uncertain) {
        return;
    }
    let decisions = [
        (Resolution::Done, State::Completed, TALLY),
        (Resolution::Again, State::Pending, Tally::default()),
        (Resolution::Dead, State::Dead, TALLY),
    ];
    for (resolution, state, tally) in decisions {
        if !can(h, &Action::Resolve(resolution)) {
            continue;
        }
        let key = stand(h, State::Uncertain);
        h.set_tally(&key, TALLY);
        let seen = row(h, &key).fence;
        let done = h.store().resolve(&key, seen, resolution, &olga()).expect("it needs no force");
        assert_eq!((done.from, done.to), (State::Uncertain, Some(state)));
        let after = row(h, &key);
        assert_eq!((after.state, counts(&after)), (state, stored(h, tally)), "{resolution:?}");
        assert_eq!(after.finished.is_some(), state.is_final() && h.columns().finished, "{resolution:?}");
    }
}

/// A requeued row waits for its new time. One that had ended begins anew; the counts of others are kept.
pub fn a_requeued_row_waits_for_its_new_time<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let later = Action::Requeue(Requeue::after(LONG));
    if !can(h, &later) {
        return;
    }
    let states = [(State::Pending, TALLY), (State::Running, TALLY), (State::Dead, Tally::default())];
    for (state, tally) in states.into_iter().filter(|(state, _)| h.columns().has_word(*state)) {
        let key = stand(h, state);
        h.set_tally(&key, TALLY);
        let now = h.now();
        act(h, &key, &later);
        let after = row(h, &key);
        assert_eq!((after.state, after.finished, after.worker.as_deref()), (State::Pending, None, None));
        assert_eq!(counts(&after), stored(h, tally), "{state}");
        assert!(after.due.is_some_and(|due| due >= now.after(LONG)), "{state}: {:?}", after.due);
        assert!(matches!(refusal(h, &key), Refusal::NotDue(_)), "{state}");
        act(h, &key, &Action::Requeue(Requeue::now()));
        h.store().release(take(h, &key, "berta")).expect("it is hers");
    }
    let (key, at) = (stand(h, State::Pending), h.now().after(2 * LONG));
    act(h, &key, &Action::Requeue(Requeue::at(at)));
    assert_eq!(row(h, &key).due, Some(at));
}

/// A new priority leaves the time, and a new time the priority.
pub fn a_new_priority_leaves_the_time<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    if !columns.priority {
        return;
    }
    let key = h.seed(Seed::pending().priority(1).due_ago(LONG));
    let before = row(h, &key);
    act(h, &key, &Action::Requeue(Requeue::of_priority(-7)));
    assert_eq!((row(h, &key).priority, row(h, &key).due), (Some(-7), before.due));
    if columns.due {
        act(h, &key, &Action::Requeue(Requeue::now()));
        assert_eq!(row(h, &key).priority, Some(-7));
        assert!(row(h, &key).due > before.due);
        act(h, &key, &Action::Requeue(Requeue::after(LONG).priority(3)));
        assert_eq!(row(h, &key).priority, Some(3));
    }
}

/// Recovery by hand does what a sweep would: it costs a crash, waits, and gives up when the budget is spent.
pub fn a_recovery_by_hand_costs_a_crash<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    let policy = RecoveryPolicy::default().backoff(Backoff::fixed(LONG)).max_crashes(3);
    if !can(h, &Action::Recover(policy)) {
        return;
    }
    let key = stand(h, State::Running);
    h.set_tally(&key, TALLY);
    let now = h.now();
    act(h, &key, &Action::Recover(policy));
    let after = row(h, &key);
    let expected = if columns.crashes { Tally { crashes: 2, ..TALLY } } else { TALLY };
    assert_eq!((after.state, counts(&after)), (State::Pending, stored(h, expected)));
    assert_eq!(after.last_error.as_deref(), columns.last_error.then_some(RecoveryAction::ABANDONED));
    assert!(after.due.is_none_or(|due| due >= now.after(LONG)), "{:?}", after.due);
    if columns.crashes && columns.has_word(State::Dead) {
        let spent = h.seed(Seed::pending().max_crashes(3));
        let _held = take(h, &spent, "anna");
        h.expire(&spent, LONG);
        h.set_tally(&spent, Tally { crashes: 2, ..TALLY });
        assert_eq!(act(h, &spent, &Action::Recover(policy)).to, Some(State::Dead));
        assert_eq!(row(h, &spent).crashes, Some(3));
    }
}

/// Work that must not be repeated is not, by hand either: a policy that leaves it is refused as having no meaning.
pub fn a_recovery_by_hand_keeps_to_its_policy<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().idempotent || !h.columns().lease {
        return;
    }
    let unsafe_row = || {
        let key = h.seed(Seed::pending().not_idempotent());
        let _held = take(h, &key, "anna");
        h.expire(&key, LONG);
        key
    };
    let left = unsafe_row();
    let leave = RecoveryPolicy::default().when_unsafe(claimstore_core::Unsafe::Leave);
    let told = refused(h, &left, row(h, &left).fence, &Action::Recover(leave), &olga().force());
    assert!(matches!(told, OperateError::NotFrom { verb: "recover", .. }), "{told}");
    if h.columns().has_word(State::Uncertain) {
        let parked = unsafe_row();
        act(h, &parked, &Action::Recover(RecoveryPolicy::default()));
        assert_eq!(row(h, &parked).state, State::Uncertain);
    }
}

/// An action that says nothing, or a time that no column can hold, is refused.
pub fn a_bad_action_is_refused<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = stand(h, State::Pending);
    let seen = row(h, &key).fence;
    let bad = [
        Action::Requeue(Requeue::default()),
        Action::Requeue(Requeue::after(Duration::MAX)),
        Action::Requeue(Requeue::at(claimstore_core::Timestamp::MAX)),
        Action::Recover(RecoveryPolicy::default().max_crashes(0)),
    ];
    for action in bad {
        let told = refused(h, &key, seen, &action, &olga().force());
        assert!(matches!(told, OperateError::Store(_)), "{action:?}: {told}");
    }
    let told = refused(h, &key, seen, &Action::Retry, &olga().wait(Duration::MAX));
    assert!(matches!(told, OperateError::Store(_)), "{told}");
}

/// A deleted row is gone; only its events are left.
pub fn a_deleted_row_leaves_only_its_events<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = stand(h, State::Pending);
    let seen = row(h, &key).fence;
    let done = act(h, &key, &Action::Delete);
    assert_eq!((done.to, done.fence >= seen), (None, true));
    assert_eq!((h.read(&key), refusal(h, &key)), (None, Refusal::Missing));
    assert_eq!(h.store().history(&key, 10).expect("its events are left").len(), 1);
}
