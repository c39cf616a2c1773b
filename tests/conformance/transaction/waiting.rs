//! Waiting for a locked row inside the caller's transaction (PostgreSQL).

use std::time::{Duration, Instant};

use claimstore::{Job, TxError};
use claimstore_core::{ClaimStore, LockScope, Refusal, Wait};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{PgDb, TestDialect};
use diesel::pg::Pg;
use diesel::{Connection, PgConnection};
use rstest::rstest;

use super::{ask, note, notes, with_notes};

const SHORT: Duration = Duration::from_millis(60);

fn lock_timeout(conn: &mut PgConnection) -> String {
    Pg::texts(conn, "SELECT current_setting('lock_timeout') AS value").remove(0)
}

/// A connection that has the row locked until it is dropped.
fn locking(db: &PgDb<Job>, key: i64) -> PgConnection {
    let mut conn = db.connect();
    let sql = format!("SELECT id AS value FROM claimstore_jobs WHERE id = {key} FOR UPDATE");
    Pg::run(&mut conn, "BEGIN").expect("it begins");
    assert_eq!(Pg::number(&mut conn, &sql), key);
    conn
}

#[rstest]
fn a_wait_that_runs_out_leaves_the_transaction_as_it_was() {
    let db = PgDb::<Job>::fresh();
    let (mut conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    Pg::run(&mut conn, "SET lock_timeout = '7s'").expect("a setting");
    let _locker = locking(&db, key);
    let after = conn
        .transaction(|conn| {
            Pg::run(conn, "SET LOCAL lock_timeout = '1234ms'")?;
            note::<Pg>(conn)?;
            for wait in [Wait::AtMost(SHORT), Wait::Never, Wait::AtMost(Duration::ZERO)] {
                let started = Instant::now();
                let outcome = db.store().on(conn).claim(&key, &ask("anna").wait(wait))?;
                assert_eq!(outcome.refusal(), Some(&Refusal::Locked { scope: LockScope::Row }), "{wait:?}");
                assert!(!matches!(wait, Wait::AtMost(SHORT)) || started.elapsed() >= SHORT);
                assert_eq!(lock_timeout(conn), "1234ms", "{wait:?}");
                note::<Pg>(conn)?;
            }
            Ok::<_, TxError>(lock_timeout(conn))
        })
        .expect("it commits");
    assert_eq!((after.as_str(), lock_timeout(&mut conn).as_str()), ("1234ms", "7s"));
    assert_eq!(notes(&db), 4);
}

#[rstest]
#[case::of_the_transaction("SET LOCAL lock_timeout = '1234ms'", "1234ms", "0")]
#[case::of_the_session("SET lock_timeout = '7s'", "7s", "7s")]
#[case::unset("SELECT 1", "0", "0")]
fn a_claim_that_waited_puts_the_time_limit_back(
    #[case] set: &str,
    #[case] inside: &str,
    #[case] after: &str,
) {
    let db = PgDb::<Job>::fresh();
    let (mut conn, key) = (db.connect(), db.seed(Seed::pending()));
    conn.transaction(|conn| {
        Pg::run(conn, set)?;
        let outcome = db.store().on(conn).claim(&key, &ask("anna").wait(Wait::AtMost(SHORT)))?;
        assert_eq!(outcome.refusal(), None);
        assert_eq!(lock_timeout(conn), inside);
        Ok::<_, TxError>(())
    })
    .expect("it commits");
    assert_eq!(lock_timeout(&mut conn), after);
}

#[rstest]
fn outside_a_transaction_the_pools_connection_keeps_its_time_limit() {
    let db = PgDb::<Job>::fresh();
    let store = Pg::store::<Job>(db.place(), 1);
    let [locked, free] = [db.seed(Seed::pending()), db.seed(Seed::pending())];
    let _locker = locking(&db, locked);
    for key in [locked, free] {
        let outcome = store.claim(&key, &ask("anna").wait(Wait::AtMost(SHORT))).expect("no error");
        assert_eq!(outcome.refusal().is_none(), key == free);
        assert_eq!(lock_timeout(&mut store.pool().get().expect("the one connection")), "0");
    }
}

#[rstest]
fn a_wait_ends_when_the_row_is_free() {
    let db = PgDb::<Job>::fresh();
    for wait in [Wait::AtMost(Duration::from_secs(60)), Wait::Forever] {
        let key = db.seed(Seed::pending());
        let mut locker = locking(&db, key);
        let pid = Pg::number(&mut locker, "SELECT pg_backend_pid()::bigint AS value");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut conn = db.connect();
                conn.transaction(|conn| {
                    let outcome = db.store().on(conn).claim(&key, &ask("anna").wait(wait))?;
                    Ok::<_, TxError>(outcome.refusal().cloned())
                })
            });
            super::guard::until_blocked_by(&db, pid);
            Pg::run(&mut locker, "COMMIT").expect("it ends");
            assert_eq!(waiting.join().expect("no panic").expect("it commits"), None, "{wait:?}");
        });
    }
}
