//! Ending abandoned claims.

use std::time::Duration;

use claimstore_core::{
    Claim, ClaimStore, Fence, InputError, RecoverStore, Recovered, RecoveryPolicy, Spent, State, Unsafe,
};

use super::step::{LEASE, LONG, ask, at_once, fenced, input, row, seed_and_take, take};
use crate::{Harness, Key, Seed};

/// Seeds a row, claims it, and lets the lease have ended long ago.
#[track_caller]
fn abandon<H: Harness>(h: &H, seed: Seed) -> (Key<H>, Claim<Key<H>>) {
    let key = h.seed(seed);
    let claim = take(h, &key, "anna");
    h.expire(&key, LONG);
    (key, claim)
}

#[track_caller]
fn recover<H: Harness>(h: &H, policy: &RecoveryPolicy) -> Recovered<Key<H>> {
    let done = h.store().recover(policy, 100).expect("the store recovers");
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    done
}

/// Without a lease nothing can be found abandoned: recovery is refused, in words, and writes nothing.
/// Says whether that is so.
#[track_caller]
fn refused_for_want_of_leases<H: Harness>(h: &H) -> bool {
    if h.store().guarantees().leases {
        return false;
    }
    let (key, _claim) = abandon(h, Seed::pending());
    let held = row(h, &key);
    let told = [
        h.store().recover(&at_once(3), 10).map(drop).expect_err("there are no leases"),
        h.store().preview(&at_once(3), 10).map(drop).expect_err("there are no leases"),
    ];
    assert!(told.iter().all(|error| matches!(input(error), InputError::NoColumn { .. })), "{told:?}");
    assert_eq!(row(h, &key), held);
    true
}

/// A lease is left alone until it ended longer ago than the grace.
pub fn nothing_is_recovered_before_the_grace<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (key, _claim) = seed_and_take(h, "anna");
    assert!(recover(h, &at_once(3)).rows.is_empty(), "its lease has not ended");
    h.expire(&key, LONG);
    let held = row(h, &key);
    assert!(recover(h, &at_once(3).grace(2 * LONG)).rows.is_empty(), "the grace has not passed");
    assert_eq!(row(h, &key), held);
    assert_eq!(recover(h, &at_once(3).grace(LONG / 2)).rows.len(), 1);
}

/// The lease end in the row decides, never a setting of the process that looks (H12, H98).
pub fn the_lease_end_in_the_row_decides<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (ended, held) = (h.seed(Seed::pending()), h.seed(Seed::pending()));
    let short = ask("anna").lease(Duration::from_micros(1));
    let _ended = h.store().claim(&ended, &short).expect("it claims").claimed().expect("it is free");
    let _held = take(h, &held, "anna");
    h.expire(&ended, LEASE / 2);
    let before = row(h, &held);
    let done = recover(h, &at_once(3));
    assert_eq!(done.rows.iter().map(|row| &row.key).collect::<Vec<_>>(), [&ended]);
    assert_eq!(row(h, &held), before);
}

/// A recovered row waits again under a new fence, has cost a crash and nothing else, and can be claimed.
pub fn a_recovered_row_waits_under_a_new_fence<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (key, claim) = abandon(h, Seed::pending());
    let (held, now) = (row(h, &key), h.now());
    let done = recover(h, &at_once(3));
    let (stored, said, columns) = (row(h, &key), &done.rows[0], h.columns());
    assert_eq!((done.rows.len(), done.left, done.count(State::Pending)), (1, 0, 1));
    assert_eq!((&said.key, said.fence), (&key, stored.fence));
    assert_eq!(said.worker.as_ref().map(|worker| worker.as_str()), columns.worker.then_some("anna"));
    assert_eq!((stored.state, stored.lease), (State::Pending, None));
    assert!((1..=1 << Fence::STEP_BITS).contains(&(stored.fence.get() - held.fence.get())));
    assert_eq!(stored.crashes, columns.crashes.then_some(1));
    assert_eq!((stored.failures, stored.interruptions), (held.failures, held.interruptions));
    fenced(h.store().complete(claim));
    assert_eq!(row(h, &key), stored);
    if columns.due {
        assert!(stored.due > Some(now), "it waits before the next try");
        h.make_due(&key);
    }
    h.store().complete(take(h, &key, "berta")).expect("it is hers");
}

/// A row that kills its workers is given up after its budget of crashes, failures untouched (H71).
pub fn a_spent_crash_budget_gives_the_row_up<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let key = h.seed(Seed::pending().max_crashes(3));
    let counted = h.store().guarantees().crash_budget;
    for crash in 1..=3 {
        let _claim = take(h, &key, "anna");
        h.expire(&key, LONG);
        let done = recover(h, &at_once(3));
        let expected = if counted && crash == 3 { State::Dead } else { State::Pending };
        assert_eq!(done.count(expected), 1, "crash {crash}: {:?}", done.rows);
        let stored = row(h, &key);
        assert_eq!(stored.state, expected);
        assert_eq!(stored.crashes, counted.then_some(crash));
        assert_eq!(stored.failures.unwrap_or(0), 0, "a crash is no failure");
        if expected == State::Pending && h.columns().due {
            h.make_due(&key);
        }
    }
    assert_eq!(row(h, &key).finished.is_some(), counted && h.columns().finished);
}

/// The policy may let a person decide over a row whose budget is spent.
pub fn a_spent_row_may_be_parked_for_a_person<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (key, _claim) = abandon(h, Seed::pending().max_crashes(1));
    recover(h, &at_once(1).when_spent(Spent::Uncertain));
    let columns = h.columns();
    let safest = [State::Uncertain, State::Dead].into_iter().find(|state| columns.has_word(*state));
    assert_eq!(row(h, &key).state, safest.unwrap_or(State::Running));
}

/// Work that must not simply be repeated is never queued again by itself.
pub fn unsafe_work_is_not_repeated<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (key, old) = abandon(h, Seed::pending().not_idempotent());
    let columns = h.columns();
    recover(h, &at_once(3));
    let safest = [State::Uncertain, State::Dead].into_iter().find(|state| columns.has_word(*state));
    let parked = safest.unwrap_or(State::Running);
    let stored = row(h, &key);
    assert_eq!(stored.state, if columns.idempotent { parked } else { State::Pending });
    if stored.state != State::Running {
        assert!(stored.fence > old.fence(), "also a parked row is taken from its holder");
    }
}

/// Rows that the policy leaves alone do not hide those behind them (H11).
pub fn rows_left_alone_hide_nothing<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let left: Vec<_> = (0..10).map(|_| abandon(h, Seed::pending().not_idempotent())).collect();
    let good: Vec<_> = (0..5).map(|_| abandon(h, Seed::pending())).collect();
    for (key, _) in &left {
        h.expire(key, 2 * LONG);
    }
    let before: Vec<_> = left.iter().map(|(key, _)| row(h, key)).collect();
    let done = h.store().recover(&at_once(3).when_unsafe(Unsafe::Leave), 10).expect("it recovers");
    if !h.columns().idempotent {
        assert_eq!(done.rows.len(), 10, "every row may be repeated");
        return;
    }
    assert_eq!((done.rows.len(), done.left), (5, 10));
    assert!(good.iter().all(|(key, _)| row(h, key).state == State::Pending));
    assert!(left.iter().map(|(key, _)| row(h, key)).eq(before), "what is left alone is not touched");
}

/// A limit is a limit here too, and the rest comes with the next call.
pub fn never_more_than_the_limit<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let _claims: Vec<_> = (0..7).map(|_| abandon(h, Seed::pending())).collect();
    for expected in [3, 3, 1, 0] {
        let done = h.store().recover(&at_once(3), 3).expect("it recovers");
        assert_eq!(done.rows.len(), expected);
    }
    assert_eq!(h.count_in(State::Pending), 7);
}

/// Recovery decides from the row alone: a new claim under the same name keeps no old one alive (H8, H9).
pub fn the_name_of_the_holder_keeps_nothing_alive<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (dead, _old) = abandon(h, Seed::pending());
    let (alive, mut new) = seed_and_take(h, "anna");
    h.store().renew(&mut new, LEASE).expect("it is ours");
    let before = row(h, &alive);
    assert_eq!(recover(h, &at_once(3)).rows.len(), 1);
    assert_eq!(row(h, &dead).state, State::Pending);
    assert_eq!(row(h, &alive), before);
}

/// Rows whose owner finished, renewed or let another have them are not touched, and not counted (H16).
pub fn an_owner_that_came_first_is_left_alone<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (done, completed) = abandon(h, Seed::pending());
    let (kept, mut renewed) = abandon(h, Seed::pending());
    let (passed, released) = abandon(h, Seed::pending());
    let (lost, _abandoned) = abandon(h, Seed::pending());
    h.store().complete(completed).expect("it is ours");
    h.store().renew(&mut renewed, LEASE).expect("it is ours");
    h.store().release(released).expect("it is ours");
    let _next = take(h, &passed, "berta");
    let before = [&done, &kept, &passed].map(|key| row(h, key));
    let report = recover(h, &at_once(3));
    assert_eq!(report.rows.iter().map(|row| &row.key).collect::<Vec<_>>(), [&lost]);
    assert_eq!([&done, &kept, &passed].map(|key| row(h, key)), before);
}

/// A preview says what would be done, and does not do it.
pub fn a_preview_writes_nothing<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (key, claim) = abandon(h, Seed::pending());
    let (alive, _held) = seed_and_take(h, "berta");
    let before = (row(h, &key), row(h, &alive));
    let preview = h.store().preview(&at_once(3), 10).expect("it looks");
    assert_eq!((row(h, &key), row(h, &alive)), before);
    let [(expired, action)] = &preview.rows[..] else { panic!("one row is expired: {preview:?}") };
    assert_eq!((&expired.key, expired.fence, Some(expired.until)), (&key, claim.fence(), before.0.lease));
    assert_eq!(action.state(), Some(State::Pending));
    assert_eq!(recover(h, &at_once(3)).rows[0].key, key);
}

/// Completing and recovering one expired claim, in either order: the first wins, alone (H19).
pub fn completing_and_recovering_exclude_each_other<H: Harness>(h: &H) {
    if refused_for_want_of_leases(h) {
        return;
    }
    let (key, claim) = abandon(h, Seed::pending());
    h.store().complete(claim).expect("nobody has recovered it");
    assert!(recover(h, &at_once(3)).rows.is_empty());
    assert_eq!(row(h, &key).state, State::Completed);
    let (key, claim) = abandon(h, Seed::pending());
    assert_eq!(recover(h, &at_once(3)).rows.len(), 1);
    fenced(h.store().complete(claim));
    assert_eq!(row(h, &key).state, State::Pending);
}
