//! What is remembered of a row beyond its columns.

use claimstore_core::{
    Action, ClaimStore, Event, Happened, InspectStore, OperateStore, RecoverStore, State, StoreErrorKind,
    Tally, Verdict,
};

use super::acting::{act, can, olga};
use super::step::{LONG, ask, at_once, fenced, row, seed_and_take, take, take_away};
use crate::{Harness, Key, Seed};

/// The events of this row, oldest first, as the store tells them.
#[track_caller]
fn told<H: Harness>(h: &H, key: &Key<H>) -> Vec<Event>
where
    H::Store: OperateStore,
{
    let mut told = h.store().history(key, 100).expect("the store looks");
    told.reverse();
    assert!(told.windows(2).all(|pair| pair[0].id < pair[1].id), "latest first: {told:?}");
    told
}

/// What happened to this row, oldest first; the store tells what is stored.
#[track_caller]
fn happened<H: Harness>(h: &H, key: &Key<H>) -> Vec<Happened>
where
    H::Store: OperateStore,
{
    let told = told(h, key);
    let stored: Vec<_> =
        h.events().into_iter().filter(|event| told.iter().any(|t| t.id == event.id)).collect();
    assert_eq!(told, stored);
    told.into_iter().map(|event| event.what).collect()
}

/// A row that goes well writes nothing: not when it is claimed, renewed, handed back, put off or completed.
pub fn a_row_that_goes_well_writes_nothing<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, mut claim) = seed_and_take(h, "anna");
    h.store().renew(&mut claim, LONG).expect("it is ours");
    h.store().release(claim).expect("it is ours");
    let claim = take(h, &key, "anna");
    let both = h.store().settle_and_claim(vec![(claim, Verdict::complete())], &ask("anna"));
    assert!(both.settled[0].is_ok() && both.claimed.is_ok_and(|batch| batch.is_empty()));
    assert_eq!((row(h, &key).state, h.events()), (State::Completed, Vec::new()));
}

/// A failure is recorded with its text, where the row went and what it has cost.
pub fn a_failure_is_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    let (key, claim) = seed_and_take(h, "anna");
    let held = claim.fence();
    h.store().fail(claim, "the printer said no").expect("it is ours");
    let tally = Tally { failures: i32::from(columns.failures), ..Tally::default() };
    let error = Some("the printer said no".to_owned());
    assert_eq!(happened(h, &key), [Happened::Failed { to: State::Pending, error, tally }]);
    let event = told(h, &key).remove(0);
    assert_eq!((event.fence, event.worker.as_ref().map(|worker| worker.as_str())), (held, Some("anna")));
    if columns.has_word(State::Dead) {
        let (key, claim) = seed_and_take(h, "anna");
        h.store().settle(claim, Verdict::fail_for_good("never")).expect("it is ours");
        assert!(matches!(&happened(h, &key)[..], [Happened::Failed { to: State::Dead, .. }]));
    }
}

/// In a batch each failure is recorded, and no success; a repeated verdict is not recorded again.
pub fn the_failures_of_a_batch_are_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let held = [(); 4].map(|()| seed_and_take(h, "anna"));
    let keys = held.each_ref().map(|(key, _)| key.clone());
    let verdicts = [Verdict::fail("one"), Verdict::complete(), Verdict::fail("two"), Verdict::release()];
    let twin = h.store().resume(&held[0].1.token()).expect("it is held");
    let batch = held.into_iter().map(|(_, claim)| claim).zip(verdicts).collect();
    assert!(h.store().settle_all(batch).into_iter().all(|answer| answer.is_ok()));
    h.store().fail(twin, "one").expect("the same verdict again");
    let failed = |key| happened(h, key).iter().filter(|what| what.kind() == "failed").count();
    assert_eq!(keys.each_ref().map(failed), [1, 0, 1, 0]);
    assert_eq!(h.events().len(), 2);
}

/// A failure is recorded also where the next row is claimed in the same breath.
pub fn a_failure_while_claiming_is_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, claim) = seed_and_take(h, "anna");
    let next = h.seed(Seed::pending());
    let both = h.store().settle_and_claim(vec![(claim, Verdict::fail("no"))], &ask("anna"));
    assert!(both.settled[0].is_ok());
    let claimed = both.claimed.expect("the store claims");
    assert_eq!(claimed.claimed[0].claim.key(), &next);
    assert!(matches!(&happened(h, &key)[..], [Happened::Failed { .. }]));
    assert_eq!(h.events().len(), 1);
}

/// A recovery is recorded: whose claim it was, where the row went, and the crash. A preview is not.
pub fn a_recovery_is_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    if !columns.lease {
        return;
    }
    let (key, _claim) = seed_and_take(h, "anna");
    h.expire(&key, LONG);
    h.store().preview(&at_once(3), 10).expect("the store looks");
    assert_eq!(h.events(), []);
    h.store().recover(&at_once(3), 10).expect("the store recovers");
    assert_eq!(happened(h, &key), [Happened::Recovered { to: State::Pending, crashes: 1 }]);
    let event = told(h, &key).remove(0);
    assert_eq!(event.worker.as_ref().map(|worker| worker.as_str()), columns.worker.then_some("anna"));
    assert_eq!(event.fence, row(h, &key).fence);
}

/// A refused late writer is told among the rest, under the fence it showed.
pub fn a_late_writer_is_told<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, claim) = seed_and_take(h, "anna");
    let held = claim.fence();
    take_away(h, &key);
    fenced(h.store().fail(claim, "too late"));
    let event = told(h, &key).pop().expect("it is recorded");
    assert_eq!(event.fence, held);
    let Happened::LateWriter(late) = event.what else { panic!("a late writer: {:?}", event.what) };
    assert_eq!((late.verb.as_str(), late.error.as_deref()), ("fail", Some("too late")));
    assert_eq!(h.late_writers(), [late]);
}

/// An operator's action is recorded with who and why, from where to where, and whether it was by force.
pub fn an_operators_action_is_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, _claim) = seed_and_take(h, "anna");
    act(h, &key, &Action::Retry);
    let retried = row(h, &key).fence;
    let seen = retried;
    let reason = "it's \"done\"\\ \n größe 🦀 {}";
    let otto = claimstore_core::Operator::new("otto", reason).expect("a name and a reason");
    h.store().operate(&key, seen, &Action::Delete, &otto).expect("it is as it was seen");
    let (retry, delete) = ("retry".to_owned(), "delete".to_owned());
    let expected = [
        Happened::Operated {
            verb: retry,
            actor: "olga".to_owned(),
            reason: "ticket 4711".to_owned(),
            from: Some(State::Running),
            to: Some(State::Pending),
            forced: true,
        },
        Happened::Operated {
            verb: delete,
            actor: "otto".to_owned(),
            reason: reason.to_owned(),
            from: Some(State::Pending),
            to: None,
            forced: false,
        },
    ];
    assert_eq!(happened(h, &key), expected);
    assert_eq!(told(h, &key)[0].fence, retried);
}

/// An event says when it happened, of which table and which row.
pub fn an_event_says_when_and_of_which_row<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let [key, other] = [(); 2].map(|()| h.seed(Seed::pending()));
    let before = h.now();
    act(h, &key, &Action::Retry);
    act(h, &other, &Action::Retry);
    let after = h.now();
    let [event] = &told(h, &key)[..] else { panic!("one event") };
    assert!(before <= event.at && event.at <= after, "{before} {} {after}", event.at);
    let others = told(h, &other).remove(0);
    assert_eq!((event.table.as_str(), &event.table), (h.store().guarantees().table, &others.table));
    assert!(others.id != event.id && others.key != event.key, "{others:?}");
}

/// The last events of a row come first, no more than were asked for, and they outlive the row.
pub fn the_last_events_come_first<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending());
    let retried = [(); 4].map(|()| act(h, &key, &Action::Retry).fence);
    act(h, &key, &Action::Delete);
    let last = h.store().history(&key, 3).expect("the store looks");
    let verbs: Vec<_> = last
        .iter()
        .map(|event| {
            matches!(&event.what,
        Happened::Operated { verb, .. } if verb == "delete")
        })
        .collect();
    assert_eq!(verbs, [true, false, false]);
    assert_eq!([last[1].fence, last[2].fence], [retried[3], retried[2]]);
    for limit in [0, claimstore_core::MAX_BATCH + 1] {
        let error = h.store().history(&key, limit).expect_err("a bad limit");
        assert_eq!(error.kind(), StoreErrorKind::Input);
    }
    let unknown = h.seed(Seed::pending());
    assert_eq!(h.store().history(&unknown, 10).expect("the store looks"), []);
}

/// A store that is told to records every transition, each under its fence: also those that go well.
pub fn every_transition_may_be_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (store, key) = (h.telling_all(), h.seed(Seed::pending()));
    let claimed = |store: &H::Store| store.claim(&key, &ask("anna")).expect("the store claims").claimed();
    let first = claimed(&store).expect("it is free").claim;
    let fence = first.fence();
    store.release(first).expect("it is ours");
    let next = store.claim_next(&ask("anna").limit(5)).expect("the store claims").into_iter().next();
    let second = next.expect("it is due").claim;
    let (verdict, ask_next) = (Verdict::complete(), ask("anna"));
    let both = store.settle_and_claim(vec![(second, verdict)], &ask_next);
    assert!(both.settled[0].is_ok());
    let settled = |verb: &str, to| Happened::Settled { verb: verb.to_owned(), to };
    let expected = [
        Happened::Claimed {},
        settled("release", State::Pending),
        Happened::Claimed {},
        settled("complete", State::Completed),
    ];
    assert_eq!(happened(h, &key), expected);
    let fences: Vec<_> = told(h, &key).iter().map(|event| event.fence).collect();
    assert_eq!((fences[0], fences[1], fences[2]), (fence, fence, fences[3]));
    assert_eq!(fences[3], row(h, &key).fence);
}

/// Such a store records a batch row by row, and a refused claim or a repeated verdict not at all.
pub fn what_changes_nothing_is_not_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let store = h.telling_all();
    let keys = [(); 3].map(|()| h.seed(Seed::pending()));
    let batch = store.claim_next(&ask("anna").limit(5)).expect("the store claims");
    let claims: Vec<_> = batch.into_iter().map(|claimed| claimed.claim).collect();
    assert!(store.claim(&keys[0], &ask("berta")).expect("a refusal is no error").refusal().is_some());
    let twin = store.resume(&claims[0].token()).expect("it is held");
    let settled = claims.into_iter().map(|claim| (claim, Verdict::complete())).collect();
    assert!(store.settle_all(settled).into_iter().all(|answer| answer.is_ok()));
    store.complete(twin).expect("the same verdict again");
    for key in &keys {
        let kinds: Vec<_> = happened(h, key).iter().map(|what| what.kind().to_owned()).collect();
        assert_eq!(kinds, ["claimed", "settled"]);
    }
    assert_eq!(h.events().len(), 6);
}

/// Looking, and acting in vain, are not recorded.
pub fn acting_in_vain_is_not_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let (key, claim) = seed_and_take(h, "anna");
    for action in [Action::Retry, Action::Cancel].into_iter().filter(|action| can(h, action)) {
        h.store().operate(&key, claim.fence(), &action, &olga()).expect_err("it is held");
    }
    h.store().explain(&key).expect("the store looks");
    h.store().history(&key, 10).expect("the store looks");
    assert_eq!(h.events(), []);
}
