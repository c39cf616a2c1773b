//! A unique key that another transaction has taken and not committed yet (PostgreSQL).

use std::thread;
use std::time::{Duration, Instant};

use claimstore::core::{Action, Bulk, Filter, OperateError, OperateStore, State};
use claimstore::{Job, PgStore};
use diesel::PgConnection;

use crate::bench::{olga, one, seen, stored};
use crate::support::{
    Database, OnPostgres, TestResult, backend_pid, begin, commit, impatient, note, pg_pool, roll_back, until,
    waits_for,
};

/// A dead job, and another with its key that is not committed.
fn contested(
    db: &OnPostgres,
    a: &mut PgConnection,
    key: &str,
) -> Result<(i64, i64), Box<dyn std::error::Error>> {
    let dead = db.store().enqueue(&[note(key).unique(key)])?[0].id();
    db.run(&format!("UPDATE claimstore_jobs SET state = 'dead' WHERE id = {dead}"));
    begin(a);
    let next = db.store().on(a).enqueue(&[note(key).unique(key)])?[0].id();
    Ok((dead, next))
}

/// It is waited for like a locked row: as long as the operator says.
#[test]
fn a_key_in_flight_is_waited_for_as_long_as_the_operator_says() -> TestResult {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    // A wait without end would be an error, not a wait.
    let hurried = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    for commits in [true, false] {
        let (dead, next) = contested(&db, &mut a, &format!("key {commits}"))?;
        let fence = seen(&db, dead);
        for wait in [Duration::ZERO, Duration::from_millis(60)] {
            let started = Instant::now();
            let told = hurried.retry(&dead, fence, &olga().wait(wait));
            assert!(matches!(told, Err(OperateError::Locked)), "{wait:?}: {told:?}");
            assert!(started.elapsed() >= wait);
        }
        let patient = olga();
        let answer = thread::scope(|scope| {
            let b = scope.spawn(|| db.store().retry(&dead, fence, &patient));
            until("the operator waits for the key", || waits_for(&db, &pid));
            if commits {
                commit(&mut a)
            } else {
                roll_back(&mut a)
            }
            b.join().expect("no panic")
        });
        match answer {
            Ok(done) => assert_eq!((done.to, commits), (Some(State::Pending), false)),
            Err(OperateError::Duplicate { id }) => assert_eq!((id, commits), (next, true)),
            Err(other) => panic!("{other}"),
        }
    }
    Ok(())
}

/// A batch does not wait: the row is left and told of, and the others are done.
#[test]
fn a_key_in_flight_holds_up_no_batch() -> TestResult {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    let (dead, _) = contested(&db, &mut a, "key")?;
    let other = one(&db);
    db.run(&format!("UPDATE claimstore_jobs SET state = 'dead' WHERE id = {other}"));
    // A wait would end in an error.
    let b = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    let done = b.operate_all(&Bulk::new(Filter::of(State::Dead)), &Action::Retry, &olga())?;
    assert_eq!(done.done.iter().map(|done| done.key).collect::<Vec<_>>(), [other]);
    assert!(matches!(done.refused[..], [(key, OperateError::Locked)] if key == dead), "{done:?}");
    assert_eq!(stored(&db, dead).as_deref(), Some("dead"));
    roll_back(&mut a);
    Ok(())
}
