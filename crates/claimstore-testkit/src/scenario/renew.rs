//! Extending leases.

use claimstore_core::{ClaimStore, Now, RenewError, Renewal, State};

use super::step::{LEASE, LONG, row, seed_and_take, take, take_away};
use crate::Harness;

/// A renewal moves the lease to the full span from now and changes nothing else.
pub fn renewing_moves_the_lease_and_keeps_the_fence<H: Harness>(h: &H) {
    let (key, mut claim) = seed_and_take(h, "anna");
    let (before, earliest) = (row(h, &key), h.now().after(2 * LEASE));
    h.store().renew(&mut claim, 2 * LEASE).expect("it is ours");
    let after = row(h, &key);
    assert_eq!(claim.until(), after.lease);
    if h.store().guarantees().leases {
        assert!(after.lease > before.lease);
        assert!(after.lease >= Some(earliest.before(std::time::Duration::from_millis(1))));
    }
    assert_eq!(crate::Snapshot { lease: before.lease, ..after }, before);
    h.store().complete(claim).expect("a renewed claim settles");
}

/// A renewal may also shorten: what counts is the span from now.
pub fn a_lease_may_be_shortened<H: Harness>(h: &H) {
    let (key, mut claim) = seed_and_take(h, "anna");
    let before = row(h, &key).lease;
    h.store().renew(&mut claim, LEASE / 2).expect("it is ours");
    if h.store().guarantees().leases {
        assert!(row(h, &key).lease < before);
    }
}

/// An expired claim that nobody has recovered is still its holder's.
pub fn an_expired_claim_may_be_renewed<H: Harness>(h: &H) {
    let (key, mut claim) = seed_and_take(h, "anna");
    h.expire(&key, LONG);
    h.store().renew(&mut claim, LEASE).expect("nobody has recovered it");
    let stored = row(h, &key);
    assert_eq!((stored.state, stored.fence), (State::Running, claim.fence()));
    if h.store().guarantees().leases {
        assert!(stored.lease > Some(h.now()));
    }
}

/// After a settlement whose answer was lost a renewal says so, and not that the claim was stolen.
pub fn a_settled_claim_cannot_be_renewed<H: Harness>(h: &H) {
    let (key, claim) = seed_and_take(h, "anna");
    let mut twin = h.store().resume(&claim.token()).expect("it is held");
    h.store().complete(claim).expect("it is ours");
    let settled = row(h, &key);
    match h.store().renew(&mut twin, LEASE) {
        Err(RenewError::AlreadySettled(already)) => assert_eq!(already.state, State::Completed),
        other => panic!("not already settled but: {other:?}"),
    }
    match h.store().resume(&twin.token()) {
        Err(RenewError::AlreadySettled(already)) => assert_eq!(already.fence, twin.fence()),
        other => panic!("not already settled but: {other:?}"),
    }
    assert_eq!(row(h, &key), settled);
}

/// A claim that was taken away is lost to its holder, before and after the next one has the row.
pub fn a_lost_claim_cannot_be_renewed<H: Harness>(h: &H) {
    let (key, mut old) = seed_and_take(h, "anna");
    take_away(h, &key);
    let pending = row(h, &key);
    let answer = h.store().renew(&mut old, LEASE);
    assert!(matches!(answer, Err(RenewError::Fenced(_))), "{answer:?}");
    assert_eq!(row(h, &key), pending);
    let new = take(h, &key, "anna");
    let held = row(h, &key);
    match h.store().renew(&mut old, LEASE) {
        Err(RenewError::Fenced(fenced)) => match fenced.now {
            Now::Row { state, fence, .. } => assert_eq!((state, fence), (State::Running, new.fence())),
            Now::Gone => panic!("the row is there"),
        },
        other => panic!("not fenced but: {other:?}"),
    }
    let answer = h.store().resume(&old.token());
    assert!(matches!(answer, Err(RenewError::Fenced(_))), "{answer:?}");
    assert_eq!(row(h, &key), held);
}

/// Many renewals are answered each for itself, in the order given, and only the good ones write.
pub fn renewals_are_answered_in_the_order_given<H: Harness>(h: &H) {
    let (lost, old) = seed_and_take(h, "anna");
    let (held, claim) = seed_and_take(h, "anna");
    let (gone, deleted) = seed_and_take(h, "anna");
    let (done, settled) = seed_and_take(h, "anna");
    let (last, tail) = seed_and_take(h, "anna");
    let tokens = [tail.token(), settled.token(), deleted.token(), claim.token(), old.token()];
    take_away(h, &lost);
    h.delete(&gone);
    h.store().complete(settled).expect("it is ours");
    let before = (row(h, &lost), row(h, &done));
    let answers = h.store().renew_all(&tokens, 2 * LEASE).expect("each is answered");
    assert_eq!(answers.len(), tokens.len());
    assert_eq!(answers[0], Renewal::Renewed(row(h, &last).lease));
    assert_eq!(answers[1], Renewal::AlreadySettled(State::Completed));
    assert!(matches!(&answers[2], Renewal::Fenced(lost) if lost.now == Now::Gone), "{:?}", answers[2]);
    assert_eq!(answers[3], Renewal::Renewed(row(h, &held).lease));
    assert!(matches!(&answers[4], Renewal::Fenced(lost) if lost.now != Now::Gone), "{:?}", answers[4]);
    assert_eq!((row(h, &lost), row(h, &done)), before);
    if h.store().guarantees().leases {
        assert!(row(h, &held).lease > claim.until());
    }
}

/// Renewing nothing is answered with nothing.
pub fn renewing_nothing_is_answered_with_nothing<H: Harness>(h: &H) {
    assert_eq!(h.store().renew_all(&[], LEASE).expect("nothing to do is no error"), []);
}
