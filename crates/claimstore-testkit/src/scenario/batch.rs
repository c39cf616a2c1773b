//! Settling many claims, and settling while claiming.

use claimstore_core::{ClaimStore, InputError, Now, Receipt, SettleCause, State, Verdict};

use super::step::{LONG, ask, fenced, input, next_keys, row, seed_and_take, take_away};
use crate::{Harness, Seed};

/// Each verdict of a batch is written, and answered in the order given.
pub fn mixed_verdicts_are_all_written<H: Harness>(h: &H) {
    let claims: Vec<_> = (0..4).map(|_| seed_and_take(h, "anna")).collect();
    let keys: Vec<_> = claims.iter().map(|(key, _)| key.clone()).collect();
    let verdicts = [Verdict::release(), Verdict::complete(), Verdict::fail("no"), Verdict::complete()];
    let batch = claims.into_iter().map(|(_, claim)| claim).zip(verdicts).rev().collect();
    let answers = h.store().settle_all(batch);
    let written = [State::Pending, State::Completed, State::Pending, State::Completed];
    let said: Vec<_> = answers.into_iter().map(|answer| answer.expect("it is ours")).collect();
    let expected = written.map(|state| Receipt { state, already: false });
    assert!(said.into_iter().rev().eq(expected));
    assert_eq!([0, 1, 2, 3].map(|n| row(h, &keys[n]).state), written);
    let columns = h.columns();
    assert_eq!(row(h, &keys[2]).failures, columns.failures.then_some(1));
    assert_eq!(row(h, &keys[0]).interruptions, columns.interruptions.then_some(1));
    let error = row(h, &keys[2]).last_error;
    assert_eq!(error.as_deref(), columns.last_error.then_some("no"));
}

/// A lost claim and a deleted row are refused for themselves; the others of the batch are written.
pub fn a_lost_claim_holds_up_no_other<H: Harness>(h: &H) {
    let (first, a) = seed_and_take(h, "anna");
    let (lost, b) = seed_and_take(h, "anna");
    let (gone, c) = seed_and_take(h, "anna");
    let (done, d) = seed_and_take(h, "anna");
    let (last, e) = seed_and_take(h, "anna");
    let twin = h.store().resume(&d.token()).expect("it is held");
    take_away(h, &lost);
    h.delete(&gone);
    h.store().complete(twin).expect("it is ours");
    let before = (row(h, &lost), row(h, &done));
    let batch = [e, d, c, b, a].map(|claim| (claim, Verdict::complete()));
    let mut answers = h.store().settle_all(batch.into()).into_iter();
    let mut next = || answers.next().expect("one answer for each");
    assert_eq!(next().expect("it is ours"), Receipt { state: State::Completed, already: false });
    assert_eq!(next().expect("settled before"), Receipt { state: State::Completed, already: true });
    assert_eq!(fenced(next()).now, Now::Gone);
    assert_ne!(fenced(next()).now, Now::Gone);
    assert_eq!(next().expect("it is ours"), Receipt { state: State::Completed, already: false });
    assert_eq!([&first, &last].map(|key| row(h, key).state), [State::Completed; 2]);
    assert_eq!((row(h, &lost), row(h, &done)), before);
    assert_eq!(h.read(&gone), None);
}

/// One claim twice in one batch is refused in words, handed back, and its row not changed.
pub fn one_claim_twice_in_a_batch_is_refused<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let (other, single) = seed_and_take(h, "anna");
    let twin = h.store().resume(&claim.token()).expect("it is held");
    let held = row(h, &key);
    let error = h.store().renew_all(&[claim.token(), single.token(), twin.token()], LONG).expect_err("twice");
    assert!(matches!(input(&error), InputError::Twice { .. }), "{error}");
    let batch = vec![(claim, Verdict::complete()), (single, Verdict::complete()), (twin, Verdict::release())];
    let mut answers = h.store().settle_all(batch);
    assert_eq!(answers.len(), 3);
    for double in [answers.remove(2), answers.remove(0)] {
        let (cause, claim) = double.expect_err("twice").into_parts();
        assert!(
            matches!(&cause, SettleCause::Store(e) if matches!(input(e), InputError::Twice { .. })),
            "{cause}"
        );
        assert!(claim.is_some(), "a refused input hands the claim back");
    }
    assert_eq!(row(h, &key), held);
    let expected = if answers.remove(0).is_ok() { State::Completed } else { State::Running };
    assert_eq!(row(h, &other).state, expected, "the answer for the third is true");
}

/// Settling nothing is answered with nothing.
pub fn settling_nothing_is_answered_with_nothing<H: Harness>(h: &H) {
    assert!(h.store().settle_all(Vec::new()).is_empty());
}

/// A hundred claims in one batch, settled in another order than they came.
pub fn a_large_batch_is_settled_whole<H: Harness>(h: &H) {
    h.seed_many(vec![Seed::pending(); 100]);
    let batch = h.store().claim_next(&ask("anna").limit(100)).expect("it claims");
    let mut batch: Vec<_> = batch.into_iter().map(|c| (c.claim, Verdict::complete())).collect();
    assert_eq!(batch.len(), 100);
    fastrand::Rng::with_seed(8).shuffle(&mut batch);
    let answers = h.store().settle_all(batch);
    assert!(answers.into_iter().all(|answer| answer.is_ok_and(|receipt| !receipt.already)));
    assert_eq!(h.count_in(State::Completed), 100);
}

/// Settling and claiming in one call writes both halves.
pub fn settling_and_claiming_does_both<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let waiting = h.seed_many(vec![Seed::pending(); 3]);
    let both = h.store().settle_and_claim(vec![(claim, Verdict::complete())], &ask("anna").limit(2));
    assert_eq!(both.settled.len(), 1);
    assert!(both.settled.into_iter().all(|answer| answer.is_ok_and(|receipt| !receipt.already)));
    let got: Vec<_> = both.claimed.expect("it claims").into_iter().map(|c| c.claim.key().clone()).collect();
    assert_eq!(got, waiting[..2]);
    assert_eq!(row(h, &key).state, State::Completed);
    assert_eq!(h.count_in(State::Running), 2);
}

/// A row that is released is not claimed by the same call, but by the next one.
pub fn a_released_row_does_not_come_back_at_once<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let other = h.seed(Seed::pending());
    let both = h.store().settle_and_claim(vec![(claim, Verdict::release())], &ask("anna").limit(5));
    let got: Vec<_> = both.claimed.expect("it claims").into_iter().map(|c| c.claim.key().clone()).collect();
    assert_eq!(got, [other]);
    assert_eq!(row(h, &key).state, State::Pending);
    assert_eq!(next_keys(h, &ask("anna").limit(5)), [key]);
}

/// A released row takes no place in the batch: whoever waits behind it comes, also under a limit of one.
pub fn a_released_row_takes_no_place_of_the_next<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let next = h.seed(Seed::pending());
    let both = h.store().settle_and_claim(vec![(claim, Verdict::release())], &ask("anna"));
    let got: Vec<_> = both.claimed.expect("it claims").into_iter().map(|c| c.claim.key().clone()).collect();
    assert_eq!(got, [next]);
    assert_eq!(row(h, &key).state, State::Pending);
}

/// A release whose answer was lost, sent again while claiming, is settled before and not fenced: the
/// claiming half does not take the row from under its own settling half.
pub fn a_lost_answer_is_not_lost_to_the_claiming_half<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let twin = h.store().resume(&claim.token()).expect("it is held");
    h.store().release(twin).expect("it is ours");
    let released = row(h, &key);
    let mut both = h.store().settle_and_claim(vec![(claim, Verdict::release())], &ask("anna").limit(5));
    let receipt = both.settled.remove(0).expect("the same verdict again");
    assert_eq!(receipt, Receipt { state: State::Pending, already: true });
    assert!(both.claimed.expect("it claims").is_empty(), "the row was settled by this call");
    assert_eq!(row(h, &key), released);
}

/// A row that was taken away from its holder can be claimed afterwards, and the late half is refused.
pub fn a_late_half_does_not_hold_up_the_claiming_half<H: Harness>(h: &H) {
    let (key, old) = seed_and_take(h, "anna");
    take_away(h, &key);
    let waiting = h.seed(Seed::pending().priority(9));
    let mut both = h.store().settle_and_claim(vec![(old, Verdict::complete())], &ask("anna"));
    fenced(both.settled.remove(0));
    let claimed = both.claimed.expect("it claims");
    assert_eq!(claimed.len(), 1, "there is work, whatever became of the settling half");
    let states = [&key, &waiting].map(|key| row(h, key).state);
    assert!(states.contains(&State::Running), "{states:?}");
    assert!(!states.contains(&State::Completed), "{states:?}");
}

/// A request that is refused does not cost the results that came with it.
pub fn a_refused_request_does_not_lose_the_results<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let waiting = h.seed(Seed::pending());
    let mut both = h.store().settle_and_claim(vec![(claim, Verdict::complete())], &ask("anna").limit(0));
    assert_eq!(input(&both.claimed.err().expect("zero rows")), InputError::Limit { given: 0 });
    both.settled.remove(0).expect("it is ours");
    assert_eq!([&key, &waiting].map(|key| row(h, key).state), [State::Completed, State::Pending]);
}
