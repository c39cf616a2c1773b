//! What was called off or deleted never runs again.

use claimstore_core::{
    Action, ClaimStore, Fence, Now, OperateError, OperateStore, RecoverStore, Refusal, RenewError, Renewal,
    State, Verdict,
};

use super::acting::{act, can, olga};
use super::step::{LEASE, LONG, ask, at_once, fenced, next_keys, refusal, row, seed_and_take};
use crate::{Harness, Key, Seed};

/// What may happen to a row that is worked on.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Blow {
    Cancel,
    Delete,
    /// The worker is killed: it says nothing more, and its lease runs out.
    Kill,
    Sweep,
}

/// Every order of these.
fn orders(blows: &[Blow]) -> Vec<Vec<Blow>> {
    if blows.is_empty() {
        return vec![Vec::new()];
    }
    let beginning_with = |first: &Blow| -> Vec<Vec<Blow>> {
        let others: Vec<_> = blows.iter().copied().filter(|blow| blow != first).collect();
        orders(&others).into_iter().map(|rest| [vec![*first], rest].concat()).collect()
    };
    blows.iter().flat_map(beginning_with).collect()
}

#[track_caller]
fn strike<H: Harness>(h: &H, key: &Key<H>, blow: Blow)
where
    H::Store: OperateStore,
{
    let stands = h.read(key);
    let seen = stands.as_ref().map_or(Fence::NEVER, |row| row.fence);
    let action = match blow {
        Blow::Kill => {
            if stands.is_some_and(|row| row.state == State::Running) {
                h.expire(key, LONG);
            }
            return;
        }
        Blow::Sweep => {
            if h.columns().lease {
                let swept = h.store().recover(&at_once(9), 10).expect("the store recovers");
                assert!(swept.failed.is_empty(), "{:?}", swept.failed);
            }
            return;
        }
        Blow::Cancel => Action::Cancel,
        Blow::Delete => Action::Delete,
    };
    match h.store().operate(key, seen, &action, &olga().force()) {
        Ok(_) => {}
        Err(OperateError::Missing) => assert!(stands.is_none()),
        Err(why) => panic!("{blow:?}: {why}"),
    }
}

/// Nobody gets the row, and its old holder cannot bring it back.
#[track_caller]
fn never_runs_again<H: Harness>(h: &H, key: &Key<H>, expected: &Refusal) {
    assert_eq!(refusal(h, key), *expected);
    assert!(next_keys(h, &ask("berta").limit(10)).is_empty());
    if h.columns().due && h.read(key).is_some() {
        h.make_due(key);
        assert!(next_keys(h, &ask("berta").limit(10)).is_empty());
    }
}

/// A row that is cancelled, deleted, lost by its worker and swept, in all orders, never comes back (H87).
pub fn a_deleted_row_never_comes_back<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let cancel = can(h, &Action::Cancel).then_some(Blow::Cancel);
    let blows: Vec<_> = [Blow::Delete, Blow::Kill, Blow::Sweep].into_iter().chain(cancel).collect();
    for order in orders(&blows) {
        let (key, claim) = seed_and_take(h, "anna");
        let late = h.store().resume(&claim.token()).expect("it is held");
        order.iter().for_each(|blow| strike(h, &key, *blow));
        assert_eq!(h.read(&key), None, "{order:?}");
        never_runs_again(h, &key, &Refusal::Missing);
        assert_eq!(fenced(h.store().fail(claim, "late")).now, Now::Gone, "{order:?}");
        assert_eq!(fenced(h.store().release(late)).now, Now::Gone, "{order:?}");
        strike(h, &key, Blow::Sweep);
        assert_eq!(h.read(&key), None, "{order:?}");
    }
}

/// A row that is cancelled, lost by its worker and swept, in all orders, stays cancelled (H87).
pub fn a_cancelled_row_stays_cancelled<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !can(h, &Action::Cancel) {
        return;
    }
    for order in orders(&[Blow::Cancel, Blow::Kill, Blow::Sweep]) {
        let (key, claim) = seed_and_take(h, "anna");
        let late = h.store().resume(&claim.token()).expect("it is held");
        order.iter().for_each(|blow| strike(h, &key, *blow));
        let ended = row(h, &key);
        assert_eq!(ended.state, State::Cancelled, "{order:?}");
        fenced(h.store().fail(claim, "late"));
        fenced(h.store().release(late));
        strike(h, &key, Blow::Sweep);
        assert_eq!(row(h, &key), ended, "{order:?}");
        never_runs_again(h, &key, &Refusal::NotPending(State::Cancelled));
    }
}

/// A row deleted by an operator while it is worked on is gone for its holder, typed, whatever it does (H89).
pub fn the_holder_of_a_deleted_row_is_told<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let lost = [(); 5].map(|()| {
        let (key, claim) = seed_and_take(h, "anna");
        act(h, &key, &Action::Delete);
        (key, claim)
    });
    let (keys, [a, b, c, d, mut e]) =
        (lost.each_ref().map(|(key, _)| key.clone()), lost.map(|(_, claim)| claim));
    assert_eq!(fenced(h.store().complete(a)).now, Now::Gone);
    assert_eq!(fenced(h.store().fail(b, "late")).now, Now::Gone);
    match h.store().renew(&mut e, LEASE) {
        Err(RenewError::Fenced(lost)) => assert_eq!(lost.now, Now::Gone),
        other => panic!("not fenced but: {other:?}"),
    }
    match &h.store().renew_all(&[e.token()], LEASE).expect("the store renews")[..] {
        [Renewal::Fenced(lost)] => assert_eq!(lost.now, Now::Gone),
        other => panic!("not fenced but: {other:?}"),
    }
    assert!(matches!(h.store().resume(&e.token()), Err(RenewError::Fenced(_))));
    let (other, alive) = seed_and_take(h, "anna");
    let batch = vec![(c, Verdict::complete()), (alive, Verdict::complete()), (d, Verdict::release())];
    let mut answers = h.store().settle_all(batch).into_iter();
    let mut next = || answers.next().expect("one answer for each");
    assert_eq!(fenced(next()).now, Now::Gone);
    next().expect("it is ours");
    assert_eq!(fenced(next()).now, Now::Gone);
    assert_eq!(row(h, &other).state, State::Completed);
    assert!(keys.iter().all(|key| h.read(key).is_none()), "a late verdict brings nothing back");
}

/// A key that is deleted and used again is another row: what was seen of the first does not touch it.
pub fn a_reissued_key_is_not_the_deleted_row<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, claim) = seed_and_take(h, "anna");
    let seen = claim.fence();
    act(h, &key, &Action::Delete);
    h.seed_again(&key, Seed::pending());
    let new = row(h, &key);
    let told = h.store().operate(&key, seen, &Action::Delete, &olga().force());
    assert!(matches!(told, Err(OperateError::Changed { .. })), "{told:?}");
    fenced(h.store().complete(claim));
    assert_eq!(row(h, &key), new);
}
