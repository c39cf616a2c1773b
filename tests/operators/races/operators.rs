//! Two operators who saw the same (PostgreSQL, forced; let loose on both databases in [`story`](super::story)).

use std::thread;

use claimstore::core::{OperateError, OperateStore, Operator};

use crate::bench::{fit_for, left_by, olga, operated, seen, stored, verbs};
use crate::support::{
    Database, OnPostgres, PATIENT, TestResult, backend_pid, begin, commit, roll_back, until, waits_for,
};

/// The second one waits for the first, for every verb; then the row has changed or is gone, or is as it was seen.
#[test]
fn what_was_seen_is_used_up_by_the_first_that_acts() -> TestResult {
    let db = OnPostgres::fresh(2);
    let (mut a, paul) = (db.connect(), Operator::new("paul", "the same ticket")?.wait(PATIENT));
    let pid = backend_pid(&mut a);
    for (action, commits) in verbs().iter().flat_map(|verb| [(verb, true), (verb, false)]) {
        let id = fit_for(&db, action);
        let seen = seen(&db, id);
        begin(&mut a);
        db.store().on(&mut a).operate(&id, seen, action, &olga())?;
        let answer = thread::scope(|scope| {
            let b = scope.spawn(|| db.store().operate(&id, seen, action, &paul));
            until("paul waits for olga", || waits_for(&db, &pid));
            if commits {
                commit(&mut a)
            } else {
                roll_back(&mut a)
            }
            b.join().expect("no panic")
        });
        match answer {
            Ok(done) => {
                assert_eq!((done.to, commits), (left_by(action), false), "{action:?}");
                assert!(done.fence > seen || done.to.is_none());
            }
            Err(OperateError::Changed { now, .. }) => {
                assert_eq!((Some(now.state), commits), (left_by(action), true), "{action:?}");
                assert!(now.fence > seen);
            }
            Err(OperateError::Missing) => assert_eq!((left_by(action), commits), (None, true)),
            Err(other) => panic!("{action:?}: {other}"),
        }
        assert_eq!(stored(&db, id), left_by(action).map(|state| state.to_string()));
        assert_eq!(operated(&db, id), [action.verb()], "one of the two took place");
    }
    Ok(())
}
