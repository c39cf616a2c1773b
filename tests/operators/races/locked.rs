//! How long an operator waits for a row that somebody has locked.

use std::time::{Duration, Instant};

use claimstore::core::{Action, Bulk, Filter, OperateError, OperateStore, State, StoreErrorKind};
use claimstore::{Job, PgStore, TxError};
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use crate::bench::{due, olga, one, operated, refused, seen, stored};
use crate::support::{Database, OnPostgres, OnSqlite, TestResult, begin, impatient, pg_pool, roll_back};

const SHORT: Duration = Duration::from_millis(60);

/// A store on which a wait without end would be an error, not a wait.
fn hurried(db: &OnPostgres) -> PgStore<Job> {
    PgStore::new(pg_pool(&impatient(&db.schema), 1))
}

/// A wait of zero is none; a bound is kept; and once the row is free there is nothing to wait for.
#[test]
fn a_locked_row_is_waited_for_as_long_as_the_operator_says() -> TestResult {
    let db = OnPostgres::fresh(2);
    let (id, mut a, b) = (one(&db), db.connect(), hurried(&db));
    let (seen, before) = (seen(&db, id), db.row(id));
    begin(&mut a);
    a.batch_execute(&format!("SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR UPDATE"))?;
    for wait in [Duration::ZERO, Duration::from_micros(999), SHORT] {
        let started = Instant::now();
        let told = b.cancel(&id, seen, &olga().wait(wait));
        assert!(matches!(told, Err(OperateError::Locked)), "{wait:?}: {told:?}");
        assert!(wait < SHORT || started.elapsed() >= SHORT, "{wait:?}: {:?}", started.elapsed());
    }
    roll_back(&mut a);
    assert_eq!((db.row(id), operated(&db, id).len()), (before, 0), "a refused action writes nothing");
    b.cancel(&id, seen, &olga().wait(Duration::ZERO))?;
    Ok(())
}

/// The same in the caller's transaction, which goes on, and whose own time limit is as it was.
#[test]
fn a_wait_that_ran_out_leaves_the_callers_transaction_as_it_was() -> TestResult {
    let db = OnPostgres::fresh(2);
    let (ids, mut a) = (due(&db, 2), db.connect());
    let mut b = <PgConnection as Connection>::establish(&impatient(&db.schema))?;
    let (first, second) = (seen(&db, ids[0]), seen(&db, ids[1]));
    begin(&mut a);
    a.batch_execute(&format!("SELECT 1 FROM claimstore_jobs WHERE id = {} FOR UPDATE", ids[0]))?;
    b.transaction::<_, TxError, _>(|b| {
        b.batch_execute("SET LOCAL lock_timeout = '1234ms'")?;
        for wait in [Duration::ZERO, SHORT] {
            let told = db.store().on(b).operate(&ids[0], first, &Action::Cancel, &olga().wait(wait));
            assert!(matches!(told, Err(OperateError::Locked)), "{told:?}");
            let limit = OnPostgres::texts_on(b, "SELECT current_setting('lock_timeout') AS text");
            assert_eq!(limit, ["1234ms"], "{wait:?}");
        }
        db.store().on(b).operate(&ids[1], second, &Action::Cancel, &olga())?;
        Ok(())
    })?;
    assert_eq!(stored(&db, ids[1]).as_deref(), Some("cancelled"), "what else it did stands");
    assert_eq!((operated(&db, ids[0]).len(), operated(&db, ids[1]).len()), (0, 1));
    Ok(())
}

/// A row that is gone is missing, whatever the wait.
#[test]
fn a_row_that_is_gone_is_not_taken_for_a_locked_one() {
    let db = OnPostgres::fresh(1);
    let id = one(&db);
    let seen = seen(&db, id);
    db.run("DELETE FROM claimstore_jobs");
    for wait in [Duration::ZERO, SHORT] {
        let told = refused(&db, id, seen, &Action::Cancel, &olga().wait(wait));
        assert!(matches!(told, OperateError::Missing), "{told}");
    }
}

/// Many at once never wait: what is locked is in neither list, and nothing holds up the others.
#[test]
fn acting_on_many_passes_over_locked_rows() -> TestResult {
    let db = OnPostgres::fresh(1);
    let (ids, mut a, b) = (due(&db, 5), db.connect(), hurried(&db));
    begin(&mut a);
    a.batch_execute(&format!(
        "SELECT 1 FROM claimstore_jobs WHERE id IN ({}, {}) FOR UPDATE",
        ids[1], ids[3]
    ))?;
    let rows = Bulk::new(Filter::of(State::Pending));
    let done = b.operate_all(&rows, &Action::Cancel, &olga())?;
    assert_eq!(done.done.iter().map(|done| done.key).collect::<Vec<_>>(), [ids[0], ids[2], ids[4]]);
    assert!(done.refused.is_empty() && done.next.is_none(), "{done:?}");
    roll_back(&mut a);
    let done = db.store().operate_all(&rows, &Action::Cancel, &olga())?;
    assert_eq!(done.done.iter().map(|done| done.key).collect::<Vec<_>>(), [ids[1], ids[3]]);
    Ok(())
}

/// SQLite has one lock, the file's, and says so: the wait bounds the wait for that.
#[test]
fn a_file_that_somebody_writes_is_waited_for_as_long_as_the_operator_says() -> TestResult {
    let db = OnSqlite::fresh(2);
    let (id, mut a) = (one(&db), db.connect());
    let seen = seen(&db, id);
    a.batch_execute("BEGIN IMMEDIATE")?;
    for wait in [Duration::ZERO, SHORT] {
        let started = Instant::now();
        let told = refused(&db, id, seen, &Action::Cancel, &olga().wait(wait));
        let OperateError::Store(told) = told else { panic!("{wait:?}: {told}") };
        assert_eq!(told.kind(), StoreErrorKind::Contended, "{told}");
        assert!(started.elapsed() >= wait);
    }
    a.batch_execute("ROLLBACK")?;
    db.store().cancel(&id, seen, &olga().wait(Duration::ZERO))?;
    Ok(())
}
