//! A worker or a sweep is at the row in a transaction that is still open; the operator waits for it (PostgreSQL).

use std::thread;

use claimstore::core::{Action, Claim, OperateError, OperateStore, Operated, Operator, State, Verdict};
use diesel::PgConnection;

use crate::bench::{abandoned, held, left_by, olga, one, operated, seen, stored, verbs_from};
use crate::support::{
    Database, OnPostgres, TestResult, ask, at_once, backend_pid, begin, commit, roll_back, until, waits_for,
};

type Answer = Result<Operated<i64>, OperateError<i64>>;

/// Acts on the row as it was seen before, and is seen waiting until the other has ended.
fn waiting(
    db: &OnPostgres,
    other: &mut PgConnection,
    (id, seen): (i64, claimstore::core::Fence),
    action: &Action,
    by: &Operator,
    commits: bool,
) -> Answer {
    let pid = backend_pid(other);
    let answer = thread::scope(|scope| {
        let operator = scope.spawn(|| db.store().operate(&id, seen, action, by));
        until("the operator waits", || waits_for(db, &pid));
        if commits {
            commit(other)
        } else {
            roll_back(other)
        }
        operator.join().expect("no panic")
    });
    let verbs: &[&str] = if answer.is_ok() { &[action.verb()] } else { &[] };
    assert_eq!(operated(db, id), verbs, "one event for what took place: {action:?}");
    answer
}

fn patient() -> Operator {
    olga().force()
}

/// The row was claimed meanwhile: the answer shows whose it is. Where the claim came to nothing, the action stands.
#[test]
fn an_operator_that_waited_for_a_claim_sees_whose_it_is() -> TestResult {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    for action in verbs_from(State::Pending) {
        for commits in [true, false] {
            let id = one(&db);
            let seen = seen(&db, id);
            begin(&mut a);
            let claim = db.store().on(&mut a).claim(&id, &ask("anna"))?.claimed().expect("it is free").claim;
            match waiting(&db, &mut a, (id, seen), &action, &patient(), commits) {
                Ok(done) => {
                    assert!(!commits, "{action:?}");
                    assert_eq!((done.from, done.to, done.ended), (State::Pending, left_by(&action), None));
                }
                Err(OperateError::Changed { seen: told, now }) => {
                    assert!(commits, "{action:?}");
                    assert_eq!((told, now.fence, now.state), (seen, claim.fence(), State::Running));
                    assert_eq!((now.worker.as_ref(), now.until), (Some(claim.worker()), claim.until()));
                    assert_eq!(stored(&db, id).as_deref(), Some("running"));
                }
                Err(other) => panic!("{action:?}: {other}"),
            }
        }
    }
    Ok(())
}

fn settle(db: &OnPostgres, conn: &mut PgConnection, claim: &Claim<i64>, verdict: &Verdict) {
    begin(conn);
    db.store().on(conn).settle(claim, verdict).expect("it is hers");
}

/// The row was completed meanwhile, under the fence that was seen: it is not cancelled or given up any more, and not run
/// a second time. Only deleting goes on, and says from where.
#[test]
fn an_operator_that_waited_for_a_completion_does_not_undo_it() {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    for action in verbs_from(State::Running) {
        let (id, claim) = held(&db);
        settle(&db, &mut a, &claim, &Verdict::complete());
        match waiting(&db, &mut a, (id, claim.fence()), &action, &patient(), true) {
            Ok(done) => {
                assert_eq!(action, Action::Delete);
                assert_eq!((done.from, done.to, done.ended), (State::Completed, left_by(&action), None));
            }
            Err(OperateError::NotFrom { state, .. }) => {
                assert_eq!((state, stored(&db, id).as_deref()), (State::Completed, Some("completed")));
            }
            Err(other) => panic!("{action:?}: {other}"),
        }
    }
}

/// The completion came to nothing: by force the live claim is ended, without it the answer says until when it runs.
#[test]
fn an_operator_that_waited_for_nothing_finds_the_claim_in_force() {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    for action in verbs_from(State::Running) {
        let (id, claim) = held(&db);
        settle(&db, &mut a, &claim, &Verdict::complete());
        let done = waiting(&db, &mut a, (id, claim.fence()), &action, &patient(), false)
            .expect("it was rolled back");
        assert_eq!((done.from, done.ended.as_ref()), (State::Running, Some(claim.worker())), "{action:?}");

        let (id, claim) = held(&db);
        settle(&db, &mut a, &claim, &Verdict::fail("no"));
        let by = olga();
        match waiting(&db, &mut a, (id, claim.fence()), &action, &by, false).expect_err("it is held") {
            OperateError::Held { worker, until, fence } => {
                assert_eq!((worker.as_ref(), until), (Some(claim.worker()), claim.until()), "{action:?}");
                assert_eq!(fence, claim.fence());
            }
            other => panic!("{action:?}: {other}"),
        }
    }
}

/// A sweep has the row: where it commits, the row has changed; where it does not, it is still the abandoned one.
#[test]
fn an_operator_that_waited_for_a_sweep_sees_what_it_decided() -> TestResult {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    for action in verbs_from(State::Running) {
        for commits in [true, false] {
            let (id, claim) = abandoned(&db);
            begin(&mut a);
            let swept = db.store().on(&mut a).recover(&at_once(), 10)?;
            assert_eq!(swept.rows.len(), 1);
            let by = olga();
            match waiting(&db, &mut a, (id, claim.fence()), &action, &by, commits) {
                Ok(done) => {
                    assert!(!commits, "{action:?}");
                    assert_eq!((done.from, done.to, done.ended), (State::Running, left_by(&action), None));
                }
                Err(OperateError::Changed { now, .. }) => {
                    assert!(commits, "{action:?}");
                    assert_eq!((now.state, now.fence), (State::Pending, swept.rows[0].fence));
                    assert_eq!(stored(&db, id).as_deref(), Some("pending"));
                }
                Err(other) => panic!("{action:?}: {other}"),
            }
        }
    }
    Ok(())
}
