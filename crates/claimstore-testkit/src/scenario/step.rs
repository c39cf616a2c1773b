//! Steps that scenarios share. Each panics at its caller's line.

use std::time::Duration;

use claimstore_core::{
    Backoff, Claim, ClaimRequest, ClaimStore, Fenced, InputError, Receipt, RecoverStore, RecoveryPolicy,
    Refusal, SettleCause, SettleError, State, StoreError, WorkerId,
};

use crate::{Harness, Key, Seed, Snapshot};

/// How long the scenarios' leases are.
pub(super) const LEASE: Duration = Duration::from_secs(600);
/// Longer ago than any grace that is used here.
pub(super) const LONG: Duration = Duration::from_secs(3600);

pub(super) fn worker(name: &str) -> WorkerId {
    WorkerId::new(name).expect("a valid name")
}

pub(super) fn ask(name: &str) -> ClaimRequest {
    ClaimRequest::new(&worker(name)).lease(LEASE)
}

/// The row, which exists.
#[track_caller]
pub(super) fn row<H: Harness>(h: &H, key: &Key<H>) -> Snapshot {
    h.read(key).unwrap_or_else(|| panic!("row {key:?} is gone"))
}

/// Claims this row, which works.
#[track_caller]
pub(super) fn take<H: Harness>(h: &H, key: &Key<H>, name: &str) -> Claim<Key<H>> {
    let outcome = h.store().claim(key, &ask(name)).expect("the store claims");
    match outcome.refusal() {
        None => outcome.claimed().expect("it is not refused").claim,
        Some(why) => panic!("{key:?} was refused: {why}"),
    }
}

/// Seeds a row and claims it.
#[track_caller]
pub(super) fn seed_and_take<H: Harness>(h: &H, name: &str) -> (Key<H>, Claim<Key<H>>) {
    let key = h.seed(Seed::pending());
    let claim = take(h, &key, name);
    (key, claim)
}

/// Why this row is not claimed, which it is not.
#[track_caller]
pub(super) fn refusal<H: Harness>(h: &H, key: &Key<H>) -> Refusal {
    let outcome = h.store().claim(key, &ask("refused")).expect("a refusal is not an error");
    outcome.refusal().cloned().unwrap_or_else(|| panic!("{key:?} was claimed"))
}

/// The keys of the next rows, in the order they came.
#[track_caller]
pub(super) fn next_keys<H: Harness>(h: &H, ask: &ClaimRequest) -> Vec<Key<H>> {
    let batch = h.store().claim_next(ask).expect("the store claims");
    batch.into_iter().map(|claimed| claimed.claim.key().clone()).collect()
}

/// A policy that waits for nothing and gives up after `crashes`.
pub(super) fn at_once(crashes: i32) -> RecoveryPolicy {
    let delay = Backoff::fixed(Duration::from_secs(3600));
    RecoveryPolicy::default().grace(Duration::ZERO).backoff(delay).max_crashes(crashes)
}

/// Ends somebody's claim behind its back, so that the row is pending and due under a new fence: by
/// recovery, or by hand where the table has no leases.
#[track_caller]
pub(super) fn take_away<H: Harness>(h: &H, key: &Key<H>) {
    let before = row(h, key);
    if h.store().guarantees().leases {
        h.expire(key, LONG);
        let done = h.store().recover(&at_once(1_000), 1).expect("the store recovers");
        assert_eq!(done.count(State::Pending), 1, "the expired row {key:?} was not recovered");
        if h.columns().due {
            h.make_due(key);
        }
    } else {
        h.delete(key);
        let fence = before.fence.raised().expect("it can rise");
        h.seed_again(key, Seed::pending().fence(fence));
    }
    let after = row(h, key);
    assert_eq!(after.state, State::Pending);
    assert!(after.fence > before.fence);
}

/// The refusal of a settlement whose claim is lost.
#[track_caller]
pub(super) fn fenced<K: std::fmt::Debug>(answer: Result<Receipt, SettleError<K>>) -> Fenced {
    match answer {
        Ok(receipt) => panic!("a lost claim was settled: {receipt:?}"),
        Err(error) => error.fenced().unwrap_or_else(|| panic!("not fenced but: {error}")).clone(),
    }
}

/// The input error of a store failure.
#[track_caller]
pub(super) fn input(error: &StoreError) -> InputError {
    error.input().unwrap_or_else(|| panic!("not refused as input but: {error}")).clone()
}

/// The input error of a settlement that handed its claim back.
#[track_caller]
pub(super) fn refused_verdict<K: std::fmt::Debug>(
    answer: Result<Receipt, SettleError<K>>,
) -> (InputError, Claim<K>) {
    let (cause, claim) = answer.expect_err("the verdict is refused").into_parts();
    match cause {
        SettleCause::Store(error) => (input(&error), claim.expect("a store failure hands the claim back")),
        other => panic!("not refused as input but: {other}"),
    }
}
