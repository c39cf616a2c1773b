//! Being late: a claim that is not ours any more changes nothing.

use claimstore_core::{ClaimStore, ClaimToken, LateWrite, Now, Refusal, RenewError, State, Verdict};

use super::step::{LEASE, fenced, refusal, row, seed_and_take, take, take_away, worker};
use crate::{Harness, Key, Seed};

/// The same worker claims twice; its older claim can do nothing, its newer one everything (H17).
pub fn an_old_generation_can_do_nothing<H: Harness>(h: &H) {
    let (key, mut old) = seed_and_take(h, "anna");
    let token = old.token();
    let twins: Vec<_> = (0..3).map(|_| h.store().resume(&token).expect("it is held")).collect();
    take_away(h, &key);
    let new = take(h, &key, "anna");
    let held = row(h, &key);
    let renewed = h.store().renew(&mut old, LEASE);
    assert!(matches!(renewed, Err(RenewError::Fenced(_))), "{renewed:?}");
    let verdicts = [Verdict::complete(), Verdict::fail("late"), Verdict::release()];
    for (claim, verdict) in twins.into_iter().zip(verdicts) {
        let lost = fenced(h.store().settle(claim, verdict));
        assert_eq!(lost.held, old.fence());
        assert!(matches!(lost.now, Now::Row { state: State::Running, fence, .. } if fence == new.fence()));
    }
    assert_eq!(row(h, &key), held);
    h.store().complete(new).expect("the newer claim is good");
    assert_eq!(row(h, &key).state, State::Completed);
}

/// A claim that was taken away but not claimed again is lost as well.
pub fn a_claim_taken_away_is_lost_before_the_next<H: Harness>(h: &H) {
    let (key, old) = seed_and_take(h, "anna");
    take_away(h, &key);
    let pending = row(h, &key);
    let lost = fenced(h.store().release(old));
    assert!(matches!(lost.now, Now::Row { state: State::Pending, .. }), "{lost}");
    assert_eq!(row(h, &key), pending);
}

/// The late error path of one worker does not let a third one start (H18).
pub fn a_late_failure_lets_nobody_else_in<H: Harness>(h: &H) {
    let (key, anna) = seed_and_take(h, "anna");
    let twin = h.store().resume(&anna.token()).expect("it is held");
    take_away(h, &key);
    let berta = take(h, &key, "berta");
    fenced(h.store().fail(anna, "ran out of time"));
    fenced(h.store().release(twin));
    assert!(matches!(refusal(h, &key), Refusal::Held { .. }));
    h.store().complete(berta).expect("it is hers");
    assert_eq!(refusal(h, &key), Refusal::NotPending(State::Completed));
}

/// A row deleted while it is worked on is gone for every verb (H89).
pub fn a_deleted_row_fences_its_holder<H: Harness>(h: &H) {
    for verdict in [Verdict::complete(), Verdict::fail("late"), Verdict::release()] {
        let (key, mut claim) = seed_and_take(h, "anna");
        h.delete(&key);
        match h.store().renew(&mut claim, LEASE) {
            Err(RenewError::Fenced(lost)) => assert_eq!(lost.now, Now::Gone),
            other => panic!("not fenced but: {other:?}"),
        }
        assert_eq!(fenced(h.store().settle(claim, verdict)).now, Now::Gone);
        assert_eq!(h.read(&key), None, "a late verdict brings nothing back");
    }
}

/// A key that is deleted, inserted and claimed again does not meet its old fence again.
pub fn a_reissued_key_is_not_the_old_claim<H: Harness>(h: &H) {
    for _ in 0..h.rounds() {
        let (key, old) = seed_and_take(h, "anna");
        h.delete(&key);
        h.seed_again(&key, Seed::pending());
        let new = take(h, &key, "anna");
        let held = row(h, &key);
        fenced(h.store().complete(old));
        assert_eq!(row(h, &key), held);
        h.store().complete(new).expect("it is ours");
    }
}

/// What a refused late writer wanted is recorded, or handed back where the table keeps no record.
pub fn a_refused_late_writer_is_not_forgotten<H: Harness>(h: &H) {
    let (key, old) = seed_and_take(h, "anna");
    let held = old.fence();
    take_away(h, &key);
    let new = take(h, &key, "berta");
    let lost = fenced(h.store().fail(old, "the late result"));
    let recorded = h.late_writers();
    let late: LateWrite = if h.store().guarantees().late_writers {
        assert_eq!(lost.late, None, "what is recorded is not handed back to be recorded again");
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        recorded[0].clone()
    } else {
        assert_eq!(recorded, []);
        *lost.late.expect("what is not recorded is handed back")
    };
    assert_eq!((late.held, late.worker.as_str(), late.verb.as_str()), (held, "anna", "fail"));
    assert_eq!((late.table.as_str(), &late.key), (lost.table, &lost.key));
    assert_eq!(late.error.as_deref(), Some("the late result"));
    assert!(matches!(late.now, Now::Row { state: State::Running, fence, .. } if fence == new.fence()));
}

/// A success, a lost answer and a refused input are no late writers.
pub fn only_late_writers_are_recorded<H: Harness>(h: &H) {
    let (_, claim) = seed_and_take(h, "anna");
    let twins = [claim.token(), claim.token()].map(|token| h.store().resume(&token).expect("it is held"));
    h.store().complete(claim).expect("it is ours");
    let [same, other] = twins;
    h.store().complete(same).expect("the same verdict again");
    h.store().release(other).expect_err("another verdict");
    assert_eq!(h.late_writers(), []);
}

/// Where the holder is stored, the right fence under another name is refused.
pub fn the_right_fence_under_another_name_is_refused<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    let forged: ClaimToken<Key<H>> = ClaimToken { worker: worker("berta"), ..claim.token() };
    let answer = h.store().resume(&forged);
    if h.store().guarantees().holders {
        assert!(matches!(answer, Err(RenewError::Fenced(_))), "{answer:?}");
    } else {
        assert_eq!(answer.expect("the fence alone decides").fence(), claim.fence());
    }
    assert_eq!(row(h, &key), held);
}
