//! Holding queues and kinds back.

use claimstore_core::{
    ClaimStore, InputError, InspectStore, Operator, Pausable, Pause, QueueStore, RecoverStore, Refusal,
    State, StoreError, Verdict, Why,
};

use super::acting::{olga, records};
use super::inspect::{shown, why};
use super::step::{LEASE, LONG, ask, at_once, input, next_keys, refusal, row, seed_and_take, take};
use crate::{Harness, Seed};

#[track_caller]
fn pause<H: Harness>(h: &H, what: &Pausable)
where
    H::Store: QueueStore,
{
    assert!(h.store().pause(what, &olga()).expect("the store pauses"), "{what:?} was not running");
}

#[track_caller]
fn resume<H: Harness>(h: &H, what: &Pausable)
where
    H::Store: QueueStore,
{
    let resumed = h.store().unpause(what, &olga()).expect("the store resumes");
    assert!(resumed, "{what:?} was not paused");
}

/// What is set for it: since when it is paused, by whom and why.
#[track_caller]
fn paused<H: Harness>(h: &H, what: &Pausable) -> Option<Pause>
where
    H::Store: QueueStore,
{
    let all = h.other().queues().expect("the store looks");
    all.into_iter().find(|setting| setting.what == *what).and_then(|setting| setting.pause)
}

/// Without the column there is nothing to pause by, and that is said. Says whether that is so.
#[track_caller]
fn refused_for_want_of_a_column<H: Harness>(h: &H, what: &Pausable) -> bool
where
    H::Store: QueueStore,
{
    let columns = h.columns();
    let stored = match what {
        Pausable::Queue(_) => columns.queue,
        Pausable::Kind(_) => columns.kind,
    };
    if stored {
        return false;
    }
    let refused = |answer: Result<bool, StoreError>| match input(&answer.expect_err("there is no column")) {
        InputError::NoQueueColumn { .. } | InputError::NoColumn { .. } => {}
        other => panic!("{other}"),
    };
    refused(h.store().pause(what, &olga()));
    refused(h.store().unpause(what, &olga()));
    true
}

fn default() -> Pausable {
    Pausable::queue("default")
}

/// No claim takes a row of a paused queue; the others go on. Resumed, it goes on as well.
pub fn a_paused_queue_gives_no_row<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let (key, aside) = (h.seed(Seed::pending()), h.seed(Seed::pending().queue("side")));
    pause(h, &default());
    let before = row(h, &key);
    assert!(next_keys(h, &ask("anna").limit(5)).is_empty());
    assert_eq!(refusal(h, &key), Refusal::Paused);
    assert_eq!(row(h, &key), before);
    assert_eq!(next_keys(h, &ask("anna").queues(["default", "side"]).limit(5)), [aside]);
    resume(h, &default());
    assert_eq!(next_keys(h, &ask("anna").limit(5)), [key]);
}

/// No claim takes a row of a paused kind, in whatever queue; rows of other kinds behind it are reached.
pub fn a_paused_kind_gives_no_row<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let odd = Pausable::kind("odd");
    if refused_for_want_of_a_column(h, &odd) {
        return;
    }
    let first = h.seed(Seed::pending().kind("odd").priority(9));
    let aside = h.seed(Seed::pending().kind("odd").queue("side"));
    let plain = h.seed(Seed::pending());
    pause(h, &odd);
    assert_eq!([&first, &aside].map(|key| refusal(h, key)), [Refusal::Paused, Refusal::Paused]);
    let everywhere = if h.columns().queue { ask("anna").queues(["default", "side"]) } else { ask("anna") };
    assert_eq!(next_keys(h, &everywhere.limit(1)), [plain], "it takes no place of the next");
    assert!(next_keys(h, &everywhere.limit(5)).is_empty());
    resume(h, &odd);
    assert_eq!(next_keys(h, &everywhere.limit(5)), [first, aside]);
}

/// Queue and kind hold by themselves: a row goes once neither is paused.
pub fn a_row_waits_for_its_queue_and_its_kind<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let odd = Pausable::kind("odd");
    if refused_for_want_of_a_column(h, &default()) || refused_for_want_of_a_column(h, &odd) {
        return;
    }
    let key = h.seed(Seed::pending().kind("odd"));
    pause(h, &default());
    pause(h, &odd);
    resume(h, &default());
    assert_eq!(refusal(h, &key), Refusal::Paused);
    resume(h, &odd);
    let _claim = take(h, &key, "anna");
}

/// A queue and a kind of one name are two things, and a name is only a name.
pub fn a_pause_is_of_that_name_only<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let columns = h.columns();
    for name in ["it's", "a\"b", "%", "_", "a,b", "\\", "größe 🦀", "NULL", "'; --"] {
        if columns.queue {
            let of_queue = h.seed(Seed::pending().queue(name));
            pause(h, &Pausable::queue(name));
            assert_eq!(refusal(h, &of_queue), Refusal::Paused, "{name}");
            h.delete(&of_queue);
            let of_kind = h.seed(Seed::pending().kind(name));
            let _claim = take(h, &of_kind, "anna");
        }
        if columns.kind && columns.queue {
            resume(h, &Pausable::queue(name));
            pause(h, &Pausable::kind(name));
            let of_queue = h.seed(Seed::pending().queue(name));
            let _claim = take(h, &of_queue, "anna");
        }
    }
}

/// There is nothing to wait for in what is paused: the next due time leaves it out.
pub fn a_paused_row_is_nothing_to_wait_for<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let columns = h.columns();
    if !columns.due || refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let waits = h.seed(Seed::pending().due_in(LONG));
    let due = || h.store().claim_next(&ask("anna")).expect("the store claims").next_due;
    assert_eq!(due(), row(h, &waits).due);
    pause(h, &default());
    assert_eq!(due(), None);
    resume(h, &default());
    if columns.kind {
        pause(h, &Pausable::kind("test"));
        assert_eq!(due(), None);
        let odd = h.seed(Seed::pending().kind("odd").due_in(2 * LONG));
        assert_eq!(due(), row(h, &odd).due);
    }
}

/// Of the reasons against a pending row the weightiest is told: exhausted, then paused, then not due.
pub fn a_pause_is_told_before_the_due_time<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let later = h.seed(Seed::pending().due_in(LONG));
    let worn = h.seed(Seed::pending().fence(claimstore_core::Fence::new(i64::MAX)));
    let ended = h.seed(Seed::pending().state(State::Completed));
    let (held, _claim) = seed_and_take(h, "anna");
    pause(h, &default());
    assert_eq!([&later, &worn].map(|key| refusal(h, key)), [Refusal::Paused, Refusal::Exhausted]);
    assert_eq!(refusal(h, &ended), Refusal::NotPending(State::Completed));
    assert!(matches!(refusal(h, &held), Refusal::Held { .. }));
}

/// Claims that are held go on: they are renewed, settled and recovered. What comes back then waits.
pub fn held_claims_go_on_in_a_pause<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let (_, mut done) = seed_and_take(h, "anna");
    let (back, released) = seed_and_take(h, "anna");
    let (lost, _abandoned) = seed_and_take(h, "anna");
    pause(h, &default());
    h.store().renew(&mut done, LEASE).expect("it is ours");
    let token = done.token();
    let twin = ClaimStore::resume(h.store(), &token).expect("it is held");
    let both = h.store().settle_and_claim(vec![(released, Verdict::release())], &ask("anna"));
    assert!(both.settled[0].is_ok());
    assert!(both.claimed.expect("the store claims").is_empty());
    h.store().complete(done).expect("it is ours");
    assert!(h.store().complete(twin).expect("the same verdict again").already);
    assert_eq!(refusal(h, &back), Refusal::Paused);
    if h.columns().lease {
        h.expire(&lost, LONG);
        assert_eq!(h.store().recover(&at_once(3), 10).expect("the store recovers").rows.len(), 1);
        assert_eq!(refusal(h, &lost), Refusal::Paused);
    }
}

/// Settling and claiming takes nothing of a paused queue, and still claims from the others.
pub fn settling_and_claiming_passes_a_pause_over<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let (_, claim) = seed_and_take(h, "anna");
    let (_waits, aside) = (h.seed(Seed::pending()), h.seed(Seed::pending().queue("side")));
    pause(h, &default());
    let wanted = ask("anna").queues(["default", "side"]).limit(5);
    let both = h.store().settle_and_claim(vec![(claim, Verdict::complete())], &wanted);
    assert!(both.settled[0].is_ok());
    let claimed = both.claimed.expect("the store claims");
    let keys: Vec<_> = claimed.into_iter().map(|claimed| claimed.claim.key().clone()).collect();
    assert_eq!(keys, [aside]);
}

/// A second pause changes nothing: the first one's reason stays, and is not recorded twice.
pub fn a_second_pause_keeps_the_first_reason<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let before = h.now();
    pause(h, &default());
    let first = paused(h, &default()).expect("it is paused");
    assert_eq!((first.actor.as_str(), first.reason.as_str()), ("olga", "ticket 4711"));
    assert!(before <= first.since && first.since <= h.now(), "{}", first.since);
    let otto = Operator::new("otto", "me too").expect("a name and a reason");
    assert!(!h.other().pause(&default(), &otto).expect("the store pauses"), "it was paused before");
    assert_eq!(paused(h, &default()), Some(first));
    resume(h, &default());
    assert_eq!(paused(h, &default()), None);
    let again = h.store().unpause(&default(), &otto).expect("the store resumes");
    assert!(!again, "it was not paused");
    assert!(h.store().pause(&default(), &otto).expect("the store pauses"));
    assert_eq!(paused(h, &default()).map(|pause| pause.actor), Some("otto".to_owned()));
    let told: Vec<_> = records(h).into_iter().map(|(verb, actor, ..)| (verb, actor)).collect();
    let one = |verb: &str, actor: &str| (verb.to_owned(), actor.to_owned());
    if h.store().guarantees().late_writers {
        assert_eq!(told, [one("pause", "olga"), one("unpause", "olga"), one("pause", "otto")]);
        assert!(h.events().iter().all(|event| event.key == "queue/default"));
    }
}

/// What is set is told, queues before kinds and by name; what was never set is not.
pub fn what_is_set_is_told_in_order<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let columns = h.columns();
    if !columns.queue || !columns.kind {
        return;
    }
    assert_eq!(h.store().queues().expect("the store looks"), []);
    let all = [Pausable::kind("b"), Pausable::queue("z"), Pausable::kind("a"), Pausable::queue("default")];
    all.iter().for_each(|what| pause(h, what));
    let told: Vec<_> = h.store().queues().expect("the store looks").into_iter().map(|set| set.what).collect();
    let [b, z, a, default] = all;
    assert_eq!(told, [default, z, a, b]);
    assert!(h.store().queues().expect("the store looks").iter().all(|set| set.keep_completed));
}

/// A paused row says that it is.
pub fn a_paused_row_is_explained<H: Harness>(h: &H)
where
    H::Store: QueueStore + InspectStore,
{
    if refused_for_want_of_a_column(h, &default()) {
        return;
    }
    let key = h.seed(Seed::pending());
    let (held, _claim) = seed_and_take(h, "anna");
    pause(h, &default());
    assert!(shown(h, &key).paused && shown(h, &held).paused);
    assert_eq!((why(h, &key), why(h, &held)), (Why::Paused, Why::Held));
    resume(h, &default());
    assert_eq!((shown(h, &key).paused, why(h, &key)), (false, Why::Ready));
}

/// A name that no row can have is refused.
pub fn a_bad_name_is_refused<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    for name in [String::new(), "x".repeat(201), "a\0b".to_owned()] {
        for what in [Pausable::queue(&name), Pausable::kind(&name)] {
            input(&h.store().pause(&what, &olga()).expect_err("a bad name"));
            input(&h.store().unpause(&what, &olga()).expect_err("a bad name"));
        }
        input(&h.store().keep_completed(&name, false, &olga()).expect_err("a bad name"));
    }
    assert_eq!((h.store().queues().expect("the store looks"), h.events()), (Vec::new(), Vec::new()));
}
