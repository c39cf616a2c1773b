//! Acting against somebody who is at work, and against a row that has changed.

use claimstore_core::{
    Action, ClaimStore, Fence, Happened, InspectStore, Now, OperateError, OperateStore, RecoveryPolicy,
    RenewError, Resolution, State, Verdict,
};

use super::acting::{act, can, olga, refused, stand, verbs};
use super::inspect::shown;
use super::step::{LEASE, LONG, fenced, row, seed_and_take, take};
use crate::{Harness, Seed};

/// The verbs that end a claim.
fn ending<H: Harness>(h: &H) -> Vec<Action> {
    let ends = |action: &Action| action.from().contains(&State::Running) && can(h, action);
    verbs().into_iter().filter(ends).collect()
}

/// A live claim is not ended without force: the answer says who has it and until when, and its holder goes on (H88).
pub fn a_live_claim_is_not_ended_without_force<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for action in ending(h) {
        let (key, mut claim) = seed_and_take(h, "anna");
        let held = row(h, &key);
        match refused(h, &key, claim.fence(), &action, &olga()) {
            OperateError::Held { worker, until, fence } => {
                assert_eq!(worker.as_ref().map(|worker| worker.as_str()), held.worker.as_deref());
                assert_eq!((until, fence), (held.lease, held.fence));
            }
            other => panic!("{action:?}: {other}"),
        }
        h.store().renew(&mut claim, LEASE).expect("it is ours");
        h.store().complete(claim).expect("it is ours");
    }
}

/// Force ends a live claim, says whose, and its holder is refused from then on in whatever it does.
pub fn force_ends_a_live_claim<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for action in ending(h) {
        for verdict in [Verdict::complete(), Verdict::fail("late"), Verdict::release()] {
            let (key, mut claim) = seed_and_take(h, "anna");
            let done = act(h, &key, &action);
            assert_eq!(done.from, State::Running);
            let ended = done.ended.as_ref().map(|worker| worker.as_str());
            assert_eq!(ended, h.columns().worker.then_some("anna"), "{action:?}");
            let after = h.read(&key);
            assert!(matches!(h.store().renew(&mut claim, LEASE), Err(RenewError::Fenced(_))), "{action:?}");
            let lost = fenced(h.store().settle(claim, verdict));
            let now = after.as_ref().map(|row| (row.state, row.fence));
            match lost.now {
                Now::Gone => assert_eq!(now, None, "{action:?}"),
                Now::Row { state, fence, .. } => assert_eq!(now, Some((state, fence)), "{action:?}"),
            }
            assert_eq!(h.read(&key), after, "a late verdict changes nothing: {action:?}");
        }
    }
}

/// A claim whose lease has run out needs no force, and ends nobody's live claim; its holder is refused all the same.
pub fn an_expired_claim_needs_no_force<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().lease {
        return;
    }
    for action in ending(h) {
        let (key, claim) = seed_and_take(h, "anna");
        h.expire(&key, LONG);
        let done = h.store().operate(&key, claim.fence(), &action, &olga());
        let done = done.unwrap_or_else(|why| panic!("{action:?}: {why}"));
        assert_eq!((done.from, done.ended), (State::Running, None));
        fenced(h.store().complete(claim));
    }
}

/// A holder that settled first has its verdict stand; whoever comes second is told.
pub fn a_holder_that_settled_first_has_its_way<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, claim) = seed_and_take(h, "anna");
    let seen = claim.fence();
    h.store().complete(claim).expect("it is ours");
    let told = refused(h, &key, seen, &Action::Cancel, &olga().force());
    assert!(matches!(told, OperateError::NotFrom { verb: "cancel", state: State::Completed }), "{told}");
}

/// A row that has changed since it was seen is left alone, and shown as it is now.
pub fn a_changed_row_is_shown_as_it_is_now<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending());
    let seen = shown(h, &key).fence;
    let claim = take(h, &key, "anna");
    for action in verbs() {
        if !can(h, &action) {
            continue;
        }
        match refused(h, &key, seen, &action, &olga().force()) {
            OperateError::Changed { seen: told, now } => {
                assert_eq!((told, now.fence, now.state), (seen, claim.fence(), State::Running));
                assert_eq!((&now.key, now.until), (&key, claim.until()));
            }
            other => panic!("{action:?}: {other}"),
        }
    }
    h.store().complete(claim).expect("it is ours");
}

/// What an operator has seen is used up by acting on it: the same look acts once.
pub fn one_look_acts_once<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending());
    let seen = shown(h, &key).fence;
    let done = h.store().retry(&key, seen, &olga()).expect("it is as it was seen");
    let told = refused(h, &key, seen, &Action::Retry, &olga());
    assert!(matches!(&told, OperateError::Changed { now, .. } if now.fence == done.fence), "{told}");
    h.store().retry(&key, done.fence, &olga()).expect("it is as the answer said");
}

/// There is nothing to do to a row that is not there, and it is not brought back.
pub fn a_missing_row_is_said_to_be_missing<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending());
    h.delete(&key);
    for action in verbs().into_iter().filter(|action| can(h, action)) {
        let told = refused(h, &key, Fence::NEVER, &action, &olga().force());
        assert!(matches!(told, OperateError::Missing), "{action:?}: {told}");
    }
}

/// A fence that cannot rise stops every verb but deletion, in words: it never wraps, and never stays.
pub fn a_fence_that_cannot_rise_stops_an_action<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for raw in [Fence::LAST.get() + 1, i64::MAX] {
        let key = h.seed(Seed::pending());
        h.set_fence(&key, Fence::new(raw));
        let told = refused(h, &key, Fence::new(raw), &Action::Retry, &olga());
        assert!(matches!(told, OperateError::Store(_)), "{told}");
        act(h, &key, &Action::Delete);
        assert_eq!(h.read(&key), None);
    }
    let last = h.seed(Seed::pending());
    h.set_fence(&last, Fence::LAST);
    assert!(act(h, &last, &Action::Retry).fence > Fence::LAST);
}

/// The late verdict of the holder is kept, and shown to whoever has to decide.
pub fn the_late_verdict_is_shown_for_the_decision<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    let uncertain = columns.has_word(State::Uncertain) && columns.idempotent && columns.lease;
    let key = h.seed(Seed::pending().not_idempotent());
    let claim = take(h, &key, "anna");
    let (held, second) = (claim.fence(), h.store().resume(&claim.token()).expect("it is held"));
    if uncertain {
        act(h, &key, &Action::Recover(RecoveryPolicy::default()));
    } else {
        act(h, &key, &Action::Retry);
    }
    fenced(h.store().complete(claim));
    fenced(h.store().fail(second, "the printer burns"));
    let told = h.store().explain(&key).expect("the store looks");
    let late: Vec<_> = told.late.iter().map(|late| (late.verb.as_str(), late.held)).collect();
    assert_eq!(late, [("fail", held), ("complete", held)], "latest first");
    assert!(told.to_string().contains("the printer burns"), "{told}");
    if uncertain {
        let done = h.store().resolve(&key, row(h, &key).fence, Resolution::Done, &olga());
        assert_eq!(done.expect("it is decided").to, Some(State::Completed));
    }
    let others = |what: &Happened| matches!(what, Happened::LateWriter(_));
    assert_eq!(h.events().iter().filter(|event| others(&event.what)).count(), 2);
}

/// A word on a row in every state: what an operator has ended, another may still begin again.
pub fn what_was_ended_may_be_begun_again<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    for action in [Action::Cancel, Action::DeadLetter].into_iter().filter(|action| can(h, action)) {
        let key = stand(h, State::Pending);
        act(h, &key, &action);
        act(h, &key, &Action::Retry);
        h.store().complete(take(h, &key, "berta")).expect("it is hers");
    }
}
