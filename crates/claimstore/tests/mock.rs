//! A consumer's own logic over the traits, tested with `MockStore` and no database.

use std::time::Duration;

use claimstore::MockStore;
use claimstore::core::{
    Action, Batch, Budget, Claim, ClaimParts, ClaimRequest, ClaimStore, Claimed, Fence, Fenced, LocalInstant,
    Now, OperateError, OperateStore, Operated, Operator, Pausable, QueueStore, Receipt, RecoverStore,
    Recovered, RecoveryPolicy, SettleCause, SettleError, Sighting, State, StoreError, StoreErrorKind, Tally,
    Timestamp, Verdict, WorkerId,
};

/// How a consumer's round ended.
#[derive(Debug, PartialEq, Eq)]
enum Round {
    Done(usize),
    /// Somebody else has the row; whatever was done for it must be dropped.
    Stopped(String),
    GaveUp,
}

/// Claims what is due and completes it. A store failure is tried again under the same claim; a lost claim is
/// never tried again.
fn round(store: &dyn ClaimStore<Key = i64, Row = ()>, ask: &ClaimRequest) -> Result<Round, StoreError> {
    let mut done = 0;
    for Claimed { mut claim, .. } in store.claim_next(ask)? {
        let mut tries = 0;
        loop {
            let error = match store.complete(claim) {
                Ok(_) => break,
                Err(error) => error,
            };
            if let SettleCause::Fenced(fenced) = error.cause() {
                return Ok(Round::Stopped(fenced.key.clone()));
            }
            tries += 1;
            match error.into_claim() {
                Some(back) if tries < 3 => claim = back,
                _ => return Ok(Round::GaveUp),
            }
        }
        done += 1;
    }
    Ok(Round::Done(done))
}

/// The same logic can be generic: the mock is every role at once.
fn tidy_up<S: RecoverStore>(store: &S) -> Result<usize, StoreError> {
    Ok(store.recover(&RecoveryPolicy::default(), 100)?.rows.len())
}

/// Gives a row that somebody saw dead another chance. One that has changed since is looked at again, as often as it
/// takes: only if it is still dead is it retried, under the fence that was seen last.
fn retry_if_dead<S: OperateStore>(
    store: &S,
    key: &S::Key,
    mut seen: Fence,
    by: &Operator,
) -> Result<bool, OperateError<S::Key>> {
    loop {
        match store.retry(key, seen, by) {
            Ok(_) => return Ok(true),
            Err(OperateError::Changed { now, .. }) if now.state == State::Dead => seen = now.fence,
            Err(OperateError::Changed { .. } | OperateError::Missing) => return Ok(false),
            Err(other) => return Err(other),
        }
    }
}

fn operator() -> Operator {
    Operator::new("olga", "ticket 4711").expect("a name and a reason")
}

/// The row 1 as an operator sees it.
fn sighting(state: State, fence: i64) -> Sighting<i64> {
    Sighting {
        key: 1,
        state,
        fence: Fence::new(fence),
        worker: None,
        claimed_at: None,
        until: None,
        due: None,
        queue: None,
        kind: None,
        priority: None,
        tally: Tally::default(),
        budget: Budget::default(),
        idempotent: true,
        last_error: None,
        finished_at: None,
        paused: false,
        clock: Timestamp::from_micros(0),
    }
}

fn changed(seen: Fence, state: State, fence: i64) -> OperateError<i64> {
    OperateError::Changed { seen, now: Box::new(sighting(state, fence)) }
}

fn ask() -> ClaimRequest {
    ClaimRequest::new(&WorkerId::new("w").expect("a name"))
}

fn claimed(key: i64) -> Claimed<i64, ()> {
    let parts = ClaimParts {
        key,
        fence: Fence::new(7),
        worker: WorkerId::new("w").expect("a name"),
        until: None,
        tally: Tally::default(),
        budget: Budget::default(),
        discard: false,
    };
    Claimed { row: (), claim: Claim::granted(parts, LocalInstant::now(), Some(Duration::from_secs(30))) }
}

fn batch(keys: &'static [i64]) -> impl Fn(&ClaimRequest) -> Result<Batch<i64, ()>, StoreError> {
    move |_| Ok(Batch { claimed: keys.iter().copied().map(claimed).collect(), next_due: None })
}

fn fenced(key: &i64) -> SettleCause {
    SettleCause::Fenced(Box::new(Fenced {
        table: "things",
        key: key.to_string(),
        held: Fence::new(7),
        now: Now::Gone,
        late: None,
    }))
}

fn unavailable() -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "settling", "the connection broke")
}

#[test]
fn a_fenced_consumer_stops() {
    let mut store = MockStore::<i64, ()>::new();
    store.expect_claim_next().times(1).returning(batch(&[1, 2]));
    store.expect_settle().times(1).returning(|claim, _| Err(SettleError::new(fenced(claim.key()), claim)));
    assert_eq!(round(&store, &ask()).expect("an answer"), Round::Stopped("1".to_owned()));
}

#[test]
fn after_a_store_failure_the_same_claim_is_tried_again() {
    let mut store = MockStore::<i64, ()>::new();
    let mut failures = 2;
    store.expect_claim_next().times(1).returning(batch(&[1]));
    store.expect_settle().times(3).returning(move |claim, verdict| {
        assert_eq!((claim.fence(), verdict), (Fence::new(7), Verdict::Complete));
        if failures == 0 {
            return Ok(Receipt { state: State::Completed, already: true });
        }
        failures -= 1;
        Err(SettleError::new(SettleCause::Store(unavailable()), claim))
    });
    assert_eq!(round(&store, &ask()).expect("an answer"), Round::Done(1));
}

#[test]
fn a_consumer_does_not_try_for_ever() {
    let mut store = MockStore::<i64, ()>::new();
    store.expect_claim_next().returning(batch(&[1]));
    let broken = |claim, _| Err(SettleError::new(SettleCause::Store(unavailable()), claim));
    store.expect_settle().times(3).returning(broken);
    assert_eq!(round(&store, &ask()).expect("an answer"), Round::GaveUp);
}

#[test]
fn the_roles_are_object_safe_and_one_mock_plays_them_all() {
    let mut store = MockStore::<i64, ()>::new();
    store.expect_claim_next().returning(batch(&[]));
    store.expect_recover().returning(|_, _| Ok(Recovered { rows: Vec::new(), left: 0, failed: Vec::new() }));
    assert_eq!(tidy_up(&store).expect("an answer"), 0);
    let store: Box<dyn RecoverStore<Key = i64, Row = ()>> = Box::new(store);
    let as_claims: &dyn ClaimStore<Key = i64, Row = ()> = &*store;
    assert_eq!(round(as_claims, &ask()).expect("an answer"), Round::Done(0));
}

#[test]
fn a_row_that_has_changed_is_looked_at_again() {
    let mut store = MockStore::<i64, ()>::new();
    let retried = |_: &i64, seen: Fence, action: &Action, by: &Operator| {
        assert_eq!((action, by.reason()), (&Action::Retry, "ticket 4711"));
        match seen.get() {
            7 => Err(changed(seen, State::Dead, 9)),
            _ => Ok(Operated {
                key: 1,
                from: State::Dead,
                to: Some(State::Pending),
                fence: Fence::new(10),
                ended: None,
            }),
        }
    };
    store.expect_operate().times(2).returning(retried);
    assert!(retry_if_dead(&store, &1, Fence::new(7), &operator()).expect("an answer"));
}

#[test]
fn a_row_that_somebody_else_has_revived_is_left_alone() {
    let mut store = MockStore::<i64, ()>::new();
    store.expect_operate().times(1).returning(|_, seen, _, _| Err(changed(seen, State::Running, 9)));
    assert!(!retry_if_dead(&store, &1, Fence::new(7), &operator()).expect("an answer"));
}

#[test]
fn queues_are_mocked_beside_claims() {
    let mut store = MockStore::<i64, ()>::new();
    let what = Pausable::queue("mail");
    store.expect_pause().times(1).returning(|what, _| Ok(what.name() == "mail"));
    store.expect_unpause().times(1).returning(|_, _| Ok(true));
    assert!(store.pause(&what, &operator()).expect("an answer"));
    assert!(store.unpause(&what, &operator()).expect("an answer"));
}
