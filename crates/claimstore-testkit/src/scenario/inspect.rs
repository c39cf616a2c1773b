//! Looking at one row: what is shown of it, and why it is not running.

use std::time::Duration;

use claimstore_core::{
    Budget, ClaimStore, Counts, Fence, Filter, InspectStore, PageRequest, Sighting, State, Tally, Why,
};

use super::step::{LONG, row, seed_and_take, take};
use crate::{Harness, Key, Seed};

/// The row as the store shows it.
#[track_caller]
pub(super) fn shown<H: Harness>(h: &H, key: &Key<H>) -> Sighting<Key<H>>
where
    H::Store: InspectStore,
{
    let shown = h.store().show(key).expect("the store looks");
    shown.unwrap_or_else(|| panic!("row {key:?} is not shown"))
}

/// Shown is what is stored, and nothing of what is not.
#[track_caller]
fn is_shown_as_stored<H: Harness>(h: &H, key: &Key<H>)
where
    H::Store: InspectStore,
{
    let (shown, stored, columns) = (shown(h, key), row(h, key), h.columns());
    assert_eq!((&shown.key, shown.state, shown.fence), (key, stored.state, stored.fence));
    assert_eq!(shown.worker.as_ref().map(|worker| worker.as_str()), stored.worker.as_deref());
    assert_eq!((shown.claimed_at, shown.until), (stored.claimed_at, stored.lease));
    assert_eq!((shown.due, shown.priority), (stored.due, stored.priority));
    let count = |count: Option<i32>| count.unwrap_or(0);
    let tally = Tally {
        failures: count(stored.failures),
        crashes: count(stored.crashes),
        interruptions: count(stored.interruptions),
    };
    assert_eq!(shown.tally, tally);
    assert_eq!((shown.last_error, shown.finished_at), (stored.last_error, stored.finished));
    assert_eq!(shown.queue.as_deref(), columns.queue.then_some("side"));
    assert_eq!(shown.kind.as_deref(), columns.kind.then_some("odd"));
    assert_eq!(shown.idempotent, !columns.idempotent);
    assert!(!shown.paused);
    let now = h.now();
    assert!(shown.clock.before(LONG) < now && now < shown.clock.after(LONG), "{} and {now}", shown.clock);
}

/// A row is shown as it stands, through its whole life.
pub fn a_row_is_shown_as_it_stands<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let odd = Seed::pending().queue("side").kind("odd").priority(7).failures(2).crashes(1).not_idempotent();
    let key = h.seed(odd.max_failures(9).max_crashes(8));
    is_shown_as_stored(h, &key);
    let own = Budget { max_failures: Some(9), max_crashes: Some(8) };
    let stored = if h.columns().budgets { own } else { Budget::default() };
    assert_eq!(shown(h, &key).budget, stored);
    let claim = take(h, &key, "anna");
    is_shown_as_stored(h, &key);
    assert!(shown(h, &key).is_live());
    h.store().fail(claim, "no").expect("it is ours");
    is_shown_as_stored(h, &key);
    if h.columns().due {
        h.make_due(&key);
    }
    h.store().complete(take(h, &key, "berta")).expect("it is hers");
    is_shown_as_stored(h, &key);
    assert!(!shown(h, &key).is_live());
}

/// Who had a row that has ended, and since when, stays known; of a row that waits again it does not.
pub fn the_last_holder_of_an_ended_row_is_shown<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let columns = h.columns();
    let (ended, claim) = seed_and_take(h, "anna");
    let since = row(h, &ended).claimed_at;
    h.store().complete(claim).expect("it is ours");
    let seen = shown(h, &ended);
    assert_eq!(seen.worker.as_ref().map(|worker| worker.as_str()), columns.worker.then_some("anna"));
    assert_eq!((seen.claimed_at, seen.claimed_at.is_some()), (since, columns.claimed_at));
    let (waits, claim) = seed_and_take(h, "anna");
    h.store().release(claim).expect("it is ours");
    assert_eq!((shown(h, &waits).worker, shown(h, &waits).claimed_at), (None, None));
}

/// A row that is not there is not shown and not read.
pub fn a_missing_row_is_not_shown<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let key = h.seed(Seed::pending());
    h.delete(&key);
    assert_eq!(h.store().show(&key).expect("the store looks"), None);
    assert!(h.store().read(&key).expect("the store looks").is_none());
    let told = h.store().explain(&key).expect("the store looks");
    assert_eq!((told.why, told.row, told.why.cure()), (Why::Missing, None, None));
}

/// Looking writes nothing and keeps nobody from claiming.
pub fn looking_changes_nothing<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let waiting = h.seed(Seed::pending());
    let (held, claim) = seed_and_take(h, "anna");
    let (ended, done) = seed_and_take(h, "anna");
    h.store().complete(done).expect("it is ours");
    let keys = [waiting.clone(), held, ended];
    let before = keys.each_ref().map(|key| row(h, key));
    for key in &keys {
        shown(h, key);
        assert!(h.store().read(key).expect("the store looks").is_some());
        h.store().explain(key).expect("the store looks");
    }
    h.store().page(&PageRequest::new(Filter::any())).expect("the store looks");
    h.store().counts(Counts::MAX_CAP).expect("the store looks");
    assert_eq!(keys.each_ref().map(|key| row(h, key)), before);
    assert_eq!(h.events(), []);
    let _next = take(h, &waiting, "berta");
    h.store().complete(claim).expect("it is ours");
}

/// Says why this row is not running.
#[track_caller]
pub(super) fn why<H: Harness>(h: &H, key: &Key<H>) -> Why
where
    H::Store: InspectStore,
{
    let told = h.store().explain(key).expect("the store looks");
    assert_eq!(told.row.as_ref().map(|row| &row.key), Some(key));
    assert!(!told.to_string().is_empty() && told.lock.is_none());
    told.why
}

/// Nothing stands in the way of a row that is pending and due.
pub fn a_ready_row_is_explained<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let key = h.seed(Seed::pending());
    assert_eq!(why(h, &key), Why::Ready);
}

/// A row that is not due yet says when it is.
pub fn a_row_due_later_is_explained<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let key = h.seed(Seed::pending().due_in(LONG));
    let told = why(h, &key);
    match row(h, &key).due {
        Some(due) => assert_eq!(told, Why::NotDue(due)),
        None => assert_eq!(told, Why::Ready, "without due times it is due"),
    }
}

/// A row whose budget is spent, or whose fence cannot rise, is exhausted.
pub fn an_exhausted_row_is_explained<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let key = h.seed(Seed::pending());
    h.set_fence(&key, Fence::new(Fence::LAST.get() + 1));
    assert_eq!(why(h, &key), Why::Exhausted);
    let columns = h.columns();
    if columns.budgets && columns.failures {
        let key = h.seed(Seed::pending().failures(3).max_failures(3));
        assert_eq!(why(h, &key), Why::Exhausted);
    }
}

/// A held row says by whom.
pub fn a_held_row_is_explained<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let (key, _claim) = seed_and_take(h, "anna");
    assert_eq!(why(h, &key), Why::Held);
    let told = h.store().explain(&key).expect("the store looks").to_string();
    assert_eq!(told.contains("anna"), h.columns().worker, "{told}");
    let until = row(h, &key).lease.map(|until| until.to_string());
    assert!(until.is_none_or(|until| told.contains(&until)), "{told}");
}

/// A row whose lease has run out is abandoned; without leases nobody can tell.
pub fn an_abandoned_row_is_explained<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let (key, _claim) = seed_and_take(h, "anna");
    h.expire(&key, Duration::from_secs(1));
    assert_eq!(why(h, &key), if h.columns().lease { Why::Abandoned } else { Why::Held });
}

/// A row that has ended says how; an uncertain one waits for a decision.
pub fn an_ended_row_is_explained<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    for state in h.columns().words {
        let expected = match state {
            State::Pending | State::Running => continue,
            State::Uncertain => Why::Uncertain,
            ended => Why::Ended(ended),
        };
        let key = h.seed(Seed::pending().state(state));
        assert_eq!(why(h, &key), expected);
    }
}
