//! Steps of operators that scenarios share. Each panics at its caller's line.

use claimstore_core::{
    Action, Backoff, Event, Fence, Happened, Moment, OperateError, OperateStore, Operated, Operator,
    RecoveryPolicy, Requeue, Resolution, State,
};
use std::time::Duration;

use super::step::{LONG, row, take};
use crate::{Harness, Key, Seed};

/// Somebody at a desk.
pub(super) fn olga() -> Operator {
    Operator::new("olga", "ticket 4711").expect("a name and a reason")
}

/// Every verb once, so that each can be done on every table with all words and columns.
pub(super) fn verbs() -> Vec<Action> {
    let policy = RecoveryPolicy::default().backoff(Backoff::fixed(LONG)).grace(Duration::ZERO);
    vec![
        Action::Retry,
        Action::Cancel,
        Action::DeadLetter,
        Action::Resolve(Resolution::Done),
        Action::Resolve(Resolution::Again),
        Action::Resolve(Resolution::Dead),
        Action::Requeue(Requeue::after(LONG)),
        Action::Recover(policy),
        Action::Delete,
    ]
}

/// Whether the table has the columns and words for it.
pub(super) fn can<H: Harness>(h: &H, action: &Action) -> bool {
    let columns = h.columns();
    match action {
        Action::Requeue(requeue) => {
            (columns.due || requeue.due().is_none_or(|due| due == Moment::In(Duration::ZERO)))
                && (columns.priority || requeue.new_priority().is_none())
        }
        Action::Cancel => columns.has_word(State::Cancelled),
        Action::Recover(_) => columns.lease,
        Action::DeadLetter | Action::Resolve(Resolution::Dead) => columns.has_word(State::Dead),
        _ => true,
    }
}

/// A row in this state; of a running one the lease has run out, where there is one.
#[track_caller]
pub(super) fn stand<H: Harness>(h: &H, state: State) -> Key<H> {
    if state != State::Running {
        return h.seed(Seed::pending().state(state).fence(Fence::new(77)));
    }
    let key = h.seed(Seed::pending());
    let _held = take(h, &key, "anna");
    h.expire(&key, LONG);
    key
}

/// Acts on the row as it stands, by force.
#[track_caller]
pub(super) fn act<H: Harness>(h: &H, key: &Key<H>, action: &Action) -> Operated<Key<H>>
where
    H::Store: OperateStore,
{
    let seen = row(h, key).fence;
    match h.store().operate(key, seen, action, &olga().force()) {
        Ok(done) => done,
        Err(why) => panic!("{} on {key:?}: {why}", action.verb()),
    }
}

/// Why this action is refused, which it is; nothing is written.
#[track_caller]
pub(super) fn refused<H: Harness>(
    h: &H,
    key: &Key<H>,
    seen: Fence,
    action: &Action,
    by: &Operator,
) -> OperateError<Key<H>>
where
    H::Store: OperateStore,
{
    let before = (h.read(key), h.events());
    let told = match h.store().operate(key, seen, action, by) {
        Ok(done) => panic!("{} on {key:?} was not refused: {done:?}", action.verb()),
        Err(why) => why,
    };
    assert_eq!((h.read(key), h.events()), before, "a refused action writes nothing: {told}");
    told
}

/// What operators did, as recorded: verb, actor, reason, from, to, forced.
pub(super) type Record = (String, String, String, Option<State>, Option<State>, bool);

/// The operators' actions among the events, oldest first.
pub(super) fn records<H: Harness>(h: &H) -> Vec<Record> {
    let record = |event: Event| match event.what {
        Happened::Operated { verb, actor, reason, from, to, forced } => {
            Some((verb, actor, reason, from, to, forced))
        }
        _ => None,
    };
    h.events().into_iter().filter_map(record).collect()
}
