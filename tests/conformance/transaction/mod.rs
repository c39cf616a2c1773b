//! The verbs in the caller's transaction, on the caller's connection.

mod enqueue;
mod fenced;
mod guard;
mod panic;
mod refusal;
mod settle_with;
mod verbs;
mod void;
mod waiting;

use std::time::Duration;

use claimstore::{Job, Store, TxError};
use claimstore_core::{Claim, ClaimRequest, ClaimStore, RecoverStore, RecoveryPolicy, State, WorkerId};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{Db, TestDialect, TestKey, TestTable};

/// The job table on either database.
type Jobs<D> = Db<Store<Job, D>, D>;

const LEASE: Duration = Duration::from_secs(600);
const LONG: Duration = Duration::from_secs(3600);

fn ask(name: &str) -> ClaimRequest {
    ClaimRequest::new(&WorkerId::new(name).expect("a valid name")).lease(LEASE)
}

fn policy() -> RecoveryPolicy {
    RecoveryPolicy::default().grace(Duration::ZERO).max_crashes(1_000)
}

/// Claims a row by key through a store.
#[track_caller]
fn take<S: ClaimStore>(store: &S, key: &S::Key, name: &str) -> Claim<S::Key> {
    let outcome = store.claim(key, &ask(name)).expect("the store claims");
    outcome.claimed().expect("the row is free").claim
}

/// A claim that has been taken away from its holder, and its row.
fn lost<T: TestTable<D>, D: TestDialect>(db: &Db<Store<T, D>, D>) -> (T::Key, Claim<T::Key>)
where
    T::Key: TestKey,
{
    let key = db.seed(Seed::pending());
    let old = take(db.store(), &key, "anna");
    db.expire(&key, LONG);
    let done = db.store().recover(&policy(), 1).expect("it recovers");
    assert_eq!(done.count(State::Pending), 1);
    (key, old)
}

/// The caller's own table, and a connection of the caller's.
fn with_notes<S, D: TestDialect>(db: &Db<S, D>) -> D::Conn {
    let mut conn = db.connect();
    D::run(&mut conn, "CREATE TABLE notes (line TEXT NOT NULL)").expect("a new table");
    conn
}

/// The caller's own write.
fn note<D: TestDialect>(conn: &mut D::Conn) -> Result<(), TxError> {
    D::run(conn, "INSERT INTO notes VALUES ('written')")?;
    Ok(())
}

fn notes<S, D: TestDialect>(db: &Db<S, D>) -> i64 {
    D::number(&mut db.raw(), "SELECT count(*) AS value FROM notes")
}

/// What a caller returns who has thought better of it.
fn roll_back<R>() -> Result<R, TxError> {
    Err(diesel::result::Error::RollbackTransaction.into())
}
