//! Ending a claim that is ours.

use std::time::Duration;

use claimstore_core::{
    ClaimStore, ClaimToken, InputError, Receipt, RetryPolicy, SettleCause, Settlement, State, Tally,
    Timestamp, Verdict,
};

use super::step::{LONG, refused_verdict, row, seed_and_take, take};
use crate::{Harness, Key, Seed, Snapshot};

const DELAY: Duration = Duration::from_secs(5000);

/// Completing costs nothing.
pub fn completing_writes_what_the_verdict_says<H: Harness>(h: &H) {
    settles_as_said(h, Verdict::complete());
}

/// A failure costs a failure, keeps the text and waits by policy.
pub fn failing_writes_what_the_verdict_says<H: Harness>(h: &H) {
    settles_as_said(h, Verdict::fail("the encoder said no"));
}

/// A release is an interruption and is due as before.
pub fn releasing_writes_what_the_verdict_says<H: Harness>(h: &H) {
    settles_as_said(h, Verdict::release());
}

/// A snooze is an interruption and waits as long as it said. Without a due column it is refused.
pub fn snoozing_writes_what_the_verdict_says<H: Harness>(h: &H) {
    if h.store().guarantees().due_times {
        return settles_as_said(h, Verdict::snooze(DELAY));
    }
    let (key, claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    let (input, claim) = refused_verdict(h.store().snooze(claim, DELAY));
    assert!(matches!(input, InputError::NoColumn { .. }), "{input}");
    assert_eq!(row(h, &key), held);
    h.store().complete(claim).expect("the claim was handed back");
}

/// A failure may name its own delay.
pub fn failing_with_a_delay_waits_that_long<H: Harness>(h: &H) {
    if h.store().guarantees().due_times {
        settles_as_said(h, Verdict::fail_after("come back later", DELAY));
    }
}

/// A failure for good is dead at once, where the table has a word for dead; else it is refused.
pub fn failing_for_good_is_dead_or_refused<H: Harness>(h: &H) {
    if h.columns().has_word(State::Dead) {
        return settles_as_said(h, Verdict::fail_for_good("never again"));
    }
    let (key, claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    let (input, claim) = refused_verdict(h.store().settle(claim, Verdict::fail_for_good("never again")));
    assert!(matches!(input, InputError::NoWord { state: State::Dead, .. }), "{input}");
    assert_eq!(row(h, &key), held);
    h.store().complete(claim).expect("the claim was handed back");
}

/// The failure that spends the budget makes the row dead; the row's own budget wins over the policy's.
pub fn the_last_failure_makes_the_row_dead<H: Harness>(h: &H) {
    let (counted, own) = (h.store().guarantees().failure_budget, h.columns().budgets);
    let most = if own { 3 } else { RetryPolicy::default().max_failures };
    let key = h.seed(Seed::pending().max_failures(most));
    h.set_tally(&key, Tally { failures: most - 2, ..Tally::default() });
    let expected = [State::Pending, if counted { State::Dead } else { State::Pending }];
    for state in expected {
        let claim = take(h, &key, "anna");
        let receipt = h.store().fail(claim, "no").expect("it is ours");
        assert_eq!(receipt, Receipt { state, already: false });
        assert_eq!(row(h, &key).state, state);
        if state == State::Pending && h.columns().due {
            h.make_due(&key);
        }
    }
    assert_eq!(row(h, &key).failures, counted.then_some(most));
}

/// Interruptions have no budget: a deploy costs nothing.
pub fn releasing_often_costs_no_failure<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending().max_failures(2).max_crashes(2));
    for _ in 0..30 {
        let claim = take(h, &key, "anna");
        h.store().release(claim).expect("it is ours");
    }
    let (stored, columns) = (row(h, &key), h.columns());
    assert_eq!(stored.state, State::Pending);
    assert_eq!(stored.failures, columns.failures.then_some(0));
    assert_eq!(stored.interruptions, columns.interruptions.then_some(30));
}

/// An expired claim that nobody has recovered still settles.
pub fn an_expired_claim_may_settle<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    h.expire(&key, LONG);
    h.store().complete(claim).expect("nobody has recovered it");
    assert_eq!(row(h, &key).state, State::Completed);
}

/// After a lost answer the same verdict is accepted again, and nothing is written twice.
pub fn the_same_verdict_again_is_a_success<H: Harness>(h: &H) {
    for verdict in verdicts(h) {
        let (key, claim) = seed_and_take(h, "anna");
        let twin = h.store().resume(&claim.token()).expect("it is held");
        let first = h.store().settle(claim, verdict.clone()).expect("it is ours");
        let settled = row(h, &key);
        let again = h.other().settle(twin, verdict.clone());
        let receipt = again.unwrap_or_else(|error| panic!("{verdict:?} again: {error}"));
        assert_eq!(receipt, Receipt { already: true, ..first }, "{verdict:?}");
        assert_eq!(row(h, &key), settled, "{verdict:?}");
    }
}

/// Another verdict than the one that was written is refused, and said to be settled before.
pub fn another_verdict_afterwards_is_refused<H: Harness>(h: &H) {
    for first in verdicts(h) {
        let (key, claim) = seed_and_take(h, "anna");
        let twin = h.store().resume(&claim.token()).expect("it is held");
        let written = h.store().settle(claim, first.clone()).expect("it is ours").state;
        let settled = row(h, &key);
        let second = match written {
            State::Completed => Verdict::release(),
            _ => Verdict::complete(),
        };
        let (cause, back) = h.store().settle(twin, second).expect_err("it was settled").into_parts();
        match cause {
            SettleCause::AlreadySettled(already) => assert_eq!(already.state, written),
            other => panic!("{first:?}: not already settled but: {other}"),
        }
        assert_eq!(back, None, "a claim that is over is not handed back");
        assert_eq!(row(h, &key), settled);
    }
}

/// A claim goes on in another process, from its token as text.
pub fn a_token_survives_being_sent<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let sent = claim.token();
    let text = serde_json::to_string(&(sent.fence, &sent.worker, sent.until)).expect("it can be written");
    drop(claim);
    let (fence, worker, until) = serde_json::from_str(&text).expect("it can be read");
    let token: ClaimToken<Key<H>> = ClaimToken { key: sent.key.clone(), fence, worker, until };
    assert_eq!(token, sent);
    let held = row(h, &key);
    let resumed = h.other().resume(&token).expect("it is held");
    assert_eq!(row(h, &key), held, "resuming extends nothing");
    assert_eq!((resumed.fence(), resumed.until()), (fence, held.lease));
    h.other().complete(resumed).expect("it is ours");
    assert_eq!(row(h, &key).state, State::Completed);
}

/// An error text that no database can store is made storable; a failure is not the place to fail over.
pub fn any_error_text_can_be_stored<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let text = format!("a\0b {}", "é".repeat(20_000));
    h.store().fail(claim, &text).expect("any text will do");
    let stored = row(h, &key);
    assert_eq!(stored.state, State::Pending);
    if h.columns().last_error {
        let kept = stored.last_error.expect("the error is stored");
        assert!(kept.starts_with("a\u{fffd}b é") && kept.len() <= 8_000, "{} bytes", kept.len());
    }
}

/// One verdict of each kind that this table can hold.
fn verdicts<H: Harness>(h: &H) -> Vec<Verdict> {
    let mut all = vec![Verdict::complete(), Verdict::fail("no"), Verdict::release()];
    if h.columns().due {
        all.push(Verdict::snooze(DELAY));
    }
    if h.columns().has_word(State::Dead) {
        all.push(Verdict::fail_for_good("never again"));
    }
    all
}

/// Settles a fresh claim and compares the row with what the verdict decides.
#[track_caller]
fn settles_as_said<H: Harness>(h: &H, verdict: Verdict) {
    let (key, claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    let policy = RetryPolicy::default();
    let said = verdict.settlement(&claim.tally(), &claim.budget(), &policy, 0.0);
    let earliest = h.now();
    let receipt = h.store().settle(claim, verdict).expect("it is ours");
    assert_eq!(receipt, Receipt { state: said.to, already: false });
    is_written(h, &held, &row(h, &key), &said, (earliest, h.now()));
}

#[track_caller]
fn is_written<H: Harness>(
    h: &H,
    held: &Snapshot,
    stored: &Snapshot,
    said: &Settlement,
    (earliest, latest): (Timestamp, Timestamp),
) {
    let columns = h.columns();
    assert_eq!(stored.state, said.to);
    assert_eq!(stored.fence, held.fence, "settling keeps the fence");
    assert_eq!(stored.lease, None, "a settled row has no lease to run out");
    assert_eq!(stored.failures, columns.failures.then_some(said.tally.failures));
    assert_eq!(stored.crashes, columns.crashes.then_some(said.tally.crashes));
    assert_eq!(stored.interruptions, columns.interruptions.then_some(said.tally.interruptions));
    let error = said.error.clone().or_else(|| held.last_error.clone());
    assert_eq!(stored.last_error, error.filter(|_| columns.last_error));
    assert_eq!(stored.finished.is_some(), columns.finished && said.to.is_final());
    match said.delay.filter(|_| columns.due) {
        None => assert_eq!(stored.due, held.due),
        Some(delay) => {
            let (due, slack) = (stored.due.expect("a due time"), Duration::from_millis(1));
            let inside =
                earliest.after(delay).before(slack) <= due && due <= latest.after(delay).after(slack);
            assert!(inside, "due at {due}, {delay:?} after {earliest}..{latest}");
        }
    }
}
