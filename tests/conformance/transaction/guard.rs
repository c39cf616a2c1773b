//! `guard` keeps the claim in force until the transaction ends.

use std::time::{Duration, Instant};

use claimstore::{Job, TxError};
use claimstore_core::{ClaimStore, RecoverStore, State, Verdict};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect};
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;
use diesel::{Connection, SqliteConnection};

use super::{LONG, ask, note, notes, policy, take, with_notes};

/// Returns when the server shows a connection of this test that waits for the one with this process.
#[track_caller]
pub(super) fn until_blocked_by(db: &PgDb<Job>, pid: i64) {
    let started = Instant::now();
    let waiting = format!(
        "SELECT count(*) AS value FROM pg_stat_activity \
         WHERE application_name = '{}' AND {pid} = ANY(pg_blocking_pids(pid))",
        db.place().name()
    );
    while Pg::number(&mut db.raw(), &waiting) == 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "nobody waits for {pid}");
        std::thread::yield_now();
    }
}

#[test]
fn a_guarded_row_is_held_on_postgres_until_the_transaction_ends() {
    let db = PgDb::<Job>::fresh();
    let (mut conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    let twin = db.store().resume(&claim.token()).expect("it is held");
    db.expire(&key, LONG);
    std::thread::scope(|scope| {
        let other = conn.transaction(|conn| {
            db.store().on(conn).guard(&claim)?;
            let pid = Pg::number(conn, "SELECT pg_backend_pid()::bigint AS value");
            let done = db.other().recover(&policy(), 10).expect("it recovers");
            assert!(done.rows.is_empty() && done.failed.is_empty(), "the row is held: {done:?}");
            let other = scope.spawn(|| db.other().complete(twin));
            until_blocked_by(&db, pid);
            assert!(!other.is_finished());
            assert_eq!(db.read(&key).expect("the row").state, State::Running);
            note::<Pg>(conn)?;
            Ok::<_, TxError>(other)
        });
        let answer = other.expect("it commits").join().expect("no panic");
        assert!(!answer.expect("the claim is still good").already);
    });
    assert_eq!((db.read(&key).expect("the row").state, notes(&db)), (State::Completed, 1));
}

#[test]
fn a_guarded_row_is_held_on_sqlite_until_the_transaction_ends() {
    let db = SqliteDb::<Job>::fresh();
    let (mut conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    db.expire(&key, LONG);
    let mut impatient: SqliteConnection = db.connect();
    let steal = format!("UPDATE claimstore_jobs SET fence = fence + 1 WHERE id = {key}");
    Sqlite::run(&mut impatient, "PRAGMA busy_timeout = 0").expect("a pragma");
    // Deferred, and without a read before it: the guard is what takes the lock.
    conn.transaction(|conn| {
        db.store().on(conn).guard(&claim)?;
        let refused = Sqlite::run(&mut impatient, &steal).expect_err("the file is held");
        assert!(refused.to_string().contains("locked"), "{refused}");
        note::<Sqlite>(conn)?;
        db.store().on(conn).settle(&claim, &Verdict::complete())
    })
    .expect("it commits");
    assert_eq!((db.read(&key).expect("the row").state, notes(&db)), (State::Completed, 1));
}

#[test]
fn a_guard_on_an_old_snapshot_of_sqlite_asks_for_a_new_transaction() {
    let db = SqliteDb::<Job>::fresh();
    let (mut conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    db.expire(&key, LONG);
    let outcome = conn.transaction(|conn| {
        assert_eq!(Sqlite::number(conn, "SELECT count(*) AS value FROM notes"), 0);
        assert_eq!(db.other().recover(&policy(), 10).expect("it recovers").rows.len(), 1);
        note_after_guard(&db, conn, &claim)
    });
    match outcome {
        Err(TxError::Store(error)) => {
            assert_eq!(error.kind(), claimstore_core::StoreErrorKind::RestartTransaction, "{error}");
        }
        other => panic!("the row was recovered after the first read: {other:?}"),
    }
    assert_eq!(notes(&db), 0);
    assert!(db.other().claim(&key, &ask("berta")).is_ok(), "the file is free again");
}

fn note_after_guard(
    db: &SqliteDb<Job>,
    conn: &mut SqliteConnection,
    claim: &claimstore_core::Claim<i64>,
) -> Result<(), TxError> {
    db.store().on(conn).guard(claim)?;
    note::<Sqlite>(conn)
}
