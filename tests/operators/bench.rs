//! Steps that the tests of operators share. Each panics at its caller's line.

use std::time::Duration;

use claimstore::core::{
    Action, Claim, ClaimStore, Event, Fence, Happened, InspectStore, OperateError, OperateStore, Operator,
    RecoveryPolicy, Requeue, Resolution, Sighting, State,
};
use claimstore::{ClaimOn, Job};

use crate::support::{Database, PATIENT, ask, at_once, notes};

/// Longer than any test takes.
pub(crate) const LONG: Duration = Duration::from_secs(3600);

/// Somebody at a desk, with more patience than a busy machine needs.
pub(crate) fn olga() -> Operator {
    Operator::new("olga", "ticket 4711").expect("a name and a reason").wait(PATIENT)
}

/// Every verb, each resolution by itself.
pub(crate) fn verbs() -> Vec<Action> {
    vec![
        Action::Retry,
        Action::Repeat,
        Action::Cancel,
        Action::DeadLetter,
        Action::Resolve(Resolution::Done),
        Action::Resolve(Resolution::Again),
        Action::Resolve(Resolution::Dead),
        Action::Requeue(Requeue::after(LONG)),
        Action::Recover(at_once()),
        Action::Delete,
    ]
}

/// The verbs that can begin from this state.
pub(crate) fn verbs_from(state: State) -> Vec<Action> {
    verbs().into_iter().filter(|action| action.from().contains(&state)).collect()
}

/// Where this verb leaves a row; `None` where it is gone.
pub(crate) fn left_by(action: &Action) -> Option<State> {
    match action {
        Action::Cancel => Some(State::Cancelled),
        Action::DeadLetter | Action::Resolve(Resolution::Dead) => Some(State::Dead),
        Action::Resolve(Resolution::Done) => Some(State::Completed),
        Action::Delete => None,
        _ => Some(State::Pending),
    }
}

/// This many jobs that are due, by id.
#[track_caller]
pub(crate) fn due<B: Database>(db: &B, count: usize) -> Vec<i64>
where
    Job: ClaimOn<B::D>,
{
    let jobs: Vec<_> = notes(count).into_iter().map(|job| job.max_crashes(1_000)).collect();
    let enqueued = db.store().enqueue(&jobs).expect("they can be written");
    enqueued.into_iter().map(|job| job.id()).collect()
}

/// One job that is due.
#[track_caller]
pub(crate) fn one<B: Database>(db: &B) -> i64
where
    Job: ClaimOn<B::D>,
{
    due(db, 1).remove(0)
}

#[track_caller]
pub(crate) fn take<B: Database>(db: &B, id: i64, name: &str) -> Claim<i64>
where
    Job: ClaimOn<B::D>,
{
    let outcome = ClaimStore::claim(db.store(), &id, &ask(name)).expect("the store claims");
    match outcome.refusal() {
        None => outcome.claimed().expect("it is not refused").claim,
        Some(why) => panic!("{id} was refused: {why}"),
    }
}

/// A job that anna holds.
#[track_caller]
pub(crate) fn held<B: Database>(db: &B) -> (i64, Claim<i64>)
where
    Job: ClaimOn<B::D>,
{
    let id = one(db);
    (id, take(db, id, "anna"))
}

/// A job that anna held until an hour ago.
#[track_caller]
pub(crate) fn abandoned<B: Database>(db: &B) -> (i64, Claim<i64>)
where
    Job: ClaimOn<B::D>,
{
    let (id, claim) = held(db);
    db.expire(&[id]);
    (id, claim)
}

/// A job in this state, which is not running.
#[track_caller]
pub(crate) fn stand<B: Database>(db: &B, state: State) -> i64
where
    Job: ClaimOn<B::D>,
{
    assert_ne!(state, State::Running, "a running row is made by claiming it");
    let id = one(db);
    let finished = if state.is_final() { B::now_plus(0) } else { "NULL".to_owned() };
    db.run(&format!(
        "UPDATE claimstore_jobs SET state = '{state}', fence = 77, finished_at = {finished} WHERE id = {id}"
    ));
    id
}

/// A job from which this verb can begin, by nobody's leave.
#[track_caller]
pub(crate) fn fit_for<B: Database>(db: &B, action: &Action) -> i64
where
    Job: ClaimOn<B::D>,
{
    match action.from() {
        [only] if *only != State::Running => stand(db, *only),
        _ => abandoned(db).0,
    }
}

/// The row as it is, which it is.
#[track_caller]
pub(crate) fn shown<B: Database>(db: &B, id: i64) -> Sighting<i64>
where
    Job: ClaimOn<B::D>,
{
    db.store().show(&id).expect("the store looks").unwrap_or_else(|| panic!("{id} is gone"))
}

/// The fence an operator sees now.
#[track_caller]
pub(crate) fn seen<B: Database>(db: &B, id: i64) -> Fence
where
    Job: ClaimOn<B::D>,
{
    shown(db, id).fence
}

/// What happened to this row, oldest first.
#[track_caller]
pub(crate) fn history<B: Database>(db: &B, id: i64) -> Vec<Event>
where
    Job: ClaimOn<B::D>,
{
    let mut events = db.store().history(&id, 1_000).expect("its events are there");
    events.reverse();
    events
}

/// The verbs of operators that are recorded of this row, oldest first.
#[track_caller]
pub(crate) fn operated<B: Database>(db: &B, id: i64) -> Vec<String>
where
    Job: ClaimOn<B::D>,
{
    let verb = |event: Event| match event.what {
        Happened::Operated { verb, .. } => Some(verb),
        _ => None,
    };
    history(db, id).into_iter().filter_map(verb).collect()
}

/// The row's state, or `gone`: what the file or server says, not the store.
pub(crate) fn stored<B: Database>(db: &B, id: i64) -> Option<String> {
    Some(db.state(id)).filter(|state| state != "gone")
}

/// Why this action is refused, which it is; nothing is written.
#[track_caller]
pub(crate) fn refused<B: Database>(
    db: &B,
    id: i64,
    seen: Fence,
    action: &Action,
    by: &Operator,
) -> OperateError<i64>
where
    Job: ClaimOn<B::D>,
{
    let before = (db.row(id), db.count("claimstore_events"));
    let told = match db.store().operate(&id, seen, action, by) {
        Ok(done) => panic!("{} was not refused: {done:?}", action.verb()),
        Err(told) => told,
    };
    assert_eq!(
        (db.row(id), db.count("claimstore_events")),
        before,
        "a refused action writes nothing: {told}"
    );
    told
}

/// A recovery by hand that gives up after the first crash.
pub(crate) fn give_up() -> RecoveryPolicy {
    at_once().max_crashes(1)
}
