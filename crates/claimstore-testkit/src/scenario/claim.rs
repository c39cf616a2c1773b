//! Claiming one row by its key.

use std::time::Duration;

use claimstore_core::{ClaimStore, Fence, Refusal, State, Wait};

use super::step::{LEASE, LONG, ask, refusal, row, seed_and_take, take};
use crate::{Harness, Seed};

/// The store's promises are those that the table's columns allow.
pub fn guarantees_fit_the_table<H: Harness>(h: &H) {
    let (said, columns) = (h.store().guarantees(), h.columns());
    assert_eq!(said.leases, columns.lease, "leases");
    assert_eq!(said.holders, columns.worker, "holders");
    assert_eq!(said.due_times, columns.due, "due times");
    assert_eq!(said.failure_budget, columns.failures, "failure budget");
    assert_eq!(said.crash_budget, columns.crashes, "crash budget");
    assert_eq!(said.late_writers, columns.late_writers, "late writers");
}

/// A row that waits is claimed, and the claim names it.
pub fn a_pending_row_is_claimed_by_key<H: Harness>(h: &H) {
    let (other, key) = (h.seed(Seed::pending()), h.seed(Seed::pending()));
    let claim = take(h, &key, "anna");
    assert_eq!(claim.key(), &key);
    assert_eq!(claim.worker().as_str(), "anna");
    assert_eq!(row(h, &key).state, State::Running);
    assert_eq!(row(h, &other).state, State::Pending, "only the named row is claimed");
}

/// Owner, fence and lease end stand in the row as soon as the claim is answered (H3).
pub fn a_claim_is_stored_whole_at_once<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending());
    let (fresh, promises) = (row(h, &key), h.store().guarantees());
    let earliest = h.now().after(LEASE);
    let claim = take(h, &key, "anna");
    let (latest, stored) = (h.now().after(LEASE), row(h, &key));
    assert_eq!(stored.fence, claim.fence());
    assert_eq!(stored.worker.as_deref(), promises.holders.then_some("anna"));
    assert_eq!(stored.lease.is_some(), promises.leases);
    assert_eq!(claim.until(), stored.lease);
    let slack = Duration::from_millis(1);
    let inside = |end| earliest.before(slack) <= end && end <= latest.after(slack);
    assert!(stored.lease.is_none_or(inside), "{stored:?} is outside {earliest}..{latest}");
    let costs = |row: &crate::Snapshot| (row.failures, row.crashes, row.interruptions);
    assert_eq!(costs(&stored), costs(&fresh), "claiming costs nothing");
    assert!(matches!(refusal(h, &key), Refusal::Held { .. }));
}

/// A row claimed once is not claimed again, by key or by readiness.
pub fn each_row_is_won_once<H: Harness>(h: &H) {
    let (key, _claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    assert!(matches!(refusal(h, &key), Refusal::Held { .. }));
    assert!(h.other().claim_next(&ask("berta").limit(5)).expect("it claims").is_empty());
    assert_eq!(row(h, &key), held);
}

/// No row, no claim, no error.
pub fn a_missing_row_is_refused<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending());
    h.delete(&key);
    assert_eq!(refusal(h, &key), Refusal::Missing);
    assert_eq!(h.read(&key), None);
}

/// The refusal names the holder, the end of its lease and its fence, as far as they are stored.
pub fn a_held_row_says_by_whom_and_until_when<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let holder = h.store().guarantees().holders.then(|| claim.worker().clone());
    let expected =
        Refusal::Held { worker: holder, until: claim.until(), fence: claim.fence(), expired: false };
    assert_eq!(refusal(h, &key), expected);
}

/// An expired lease does not void a claim: only recovery takes it away.
pub fn an_expired_row_is_held_until_it_is_recovered<H: Harness>(h: &H) {
    let (key, _claim) = seed_and_take(h, "anna");
    h.expire(&key, LONG);
    let before = row(h, &key);
    match refusal(h, &key) {
        Refusal::Held { expired, .. } => assert_eq!(expired, h.store().guarantees().leases),
        other => panic!("an expired row was refused as: {other}"),
    }
    assert!(h.store().claim_next(&ask("berta")).expect("it claims").is_empty());
    assert_eq!(row(h, &key), before);
}

/// Finished, dead, cancelled and uncertain rows are not claimed, and the refusal says which.
pub fn a_row_in_another_state_is_not_pending<H: Harness>(h: &H) {
    for state in h.columns().words {
        if matches!(state, State::Pending | State::Running) {
            continue;
        }
        let key = h.seed(Seed::pending().state(state));
        assert_eq!(refusal(h, &key), Refusal::NotPending(state));
        assert_eq!(row(h, &key).state, state);
    }
    assert!(h.store().claim_next(&ask("anna").limit(9)).expect("it claims").is_empty());
}

/// A row that is not due yet says when it will be. Without a due column every row is due.
pub fn a_row_due_later_says_when<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending().due_in(LONG));
    if !h.store().guarantees().due_times {
        let _claim = take(h, &key, "anna");
        return;
    }
    let due = row(h, &key).due.expect("a due time is stored");
    assert_eq!(refusal(h, &key), Refusal::NotDue(due));
    h.make_due(&key);
    let _claim = take(h, &key, "anna");
}

/// A pending row with nothing left of its budget is exhausted, whether it is due or not.
pub fn a_row_with_a_spent_budget_is_exhausted<H: Harness>(h: &H) {
    let (promises, budgets) = (h.store().guarantees(), h.columns().budgets);
    let failed = || Seed::pending().failures(2).max_failures(2);
    let crashed = || Seed::pending().crashes(2).max_crashes(2);
    let rows = [
        (failed(), promises.failure_budget),
        (crashed(), promises.crash_budget),
        (failed().due_in(LONG), promises.failure_budget),
    ];
    for (seed, counted) in rows {
        let later = seed.clone().due_in(LONG) == seed;
        let key = h.seed(seed);
        if counted && budgets {
            assert_eq!(refusal(h, &key), Refusal::Exhausted);
            assert_eq!(row(h, &key).state, State::Pending);
        } else if !(later && promises.due_times) {
            let _claim = take(h, &key, "anna");
        }
    }
}

/// A fence never wraps: a row whose fence cannot rise is refused, the last that can is claimed (H48).
pub fn a_row_whose_fence_cannot_rise_is_exhausted<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending());
    for worn in [Fence::new(Fence::LAST.get() + 1), Fence::new(i64::MAX)] {
        h.set_fence(&key, worn);
        assert_eq!(refusal(h, &key), Refusal::Exhausted);
        assert_eq!(row(h, &key).fence, worn);
    }
    h.set_fence(&key, Fence::LAST);
    assert!(take(h, &key, "anna").fence() > Fence::LAST);
}

/// How a claim waits changes nothing for a row that nobody has.
pub fn every_wait_mode_claims_a_free_row<H: Harness>(h: &H) {
    let modes = [
        Wait::Never,
        Wait::AtMost(Duration::ZERO),
        Wait::AtMost(Duration::from_micros(1)),
        Wait::AtMost(Duration::from_millis(200)),
        Wait::Forever,
    ];
    for mode in modes {
        let key = h.seed(Seed::pending());
        let outcome = h.store().claim(&key, &ask("anna").wait(mode)).expect("it claims");
        assert_eq!(outcome.refusal(), None, "{mode:?}");
        assert_eq!(row(h, &key).state, State::Running);
        let again = h.store().claim(&key, &ask("berta").wait(mode)).expect("a held row is no lock");
        assert!(matches!(again.refusal(), Some(Refusal::Held { .. })), "{mode:?}");
    }
}

/// Every claim raises the fence, by one plus a random step of 20 bits.
pub fn each_claim_raises_the_fence_by_a_random_step<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending());
    let mut steps = Vec::new();
    for _ in 0..8 {
        let before = row(h, &key).fence;
        let claim = take(h, &key, "anna");
        steps.push(claim.fence().get() - before.get());
        h.store().release(claim).expect("it is ours");
    }
    assert!(steps.iter().all(|step| (1..=1 << Fence::STEP_BITS).contains(step)), "{steps:?}");
    assert!(steps.iter().any(|step| *step != steps[0]), "the steps are not random: {steps:?}");
}

/// Dropping a claim settles nothing and breaks nothing.
pub fn a_dropped_claim_leaves_its_row_running<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    drop(claim);
    assert_eq!(row(h, &key), held);
    assert_eq!(held.state, State::Running);
}
