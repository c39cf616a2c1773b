//! A claim made in a transaction that did not commit is void, and its fence is not met again.

use claimstore::{Job, Store, TxError};
use claimstore_core::{ClaimStore, Fence, SettleCause, State};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{Db, Invoice, Minimal, PgDb, SqliteDb, TestDialect, TestKey, TestTable};
use rstest::rstest;

use super::{ask, roll_back, take};

const ROUNDS: usize = 1000;

/// With and without the key being deleted and inserted again, with one name and with two: where holders are
/// stored, two names alone would hide a fence that is met again.
#[rstest]
#[case::sqlite_jobs(SqliteDb::<Job>::fresh())]
#[case::sqlite_invoices(SqliteDb::<Invoice>::fresh())]
#[case::sqlite_minimal(SqliteDb::<Minimal>::fresh())]
#[case::postgres_jobs(PgDb::<Job>::fresh())]
#[case::postgres_invoices(PgDb::<Invoice>::fresh())]
#[case::postgres_minimal(PgDb::<Minimal>::fresh())]
fn a_void_claim_is_not_met_again<T: TestTable<D>, D: TestDialect>(#[case] db: Db<Store<T, D>, D>)
where
    T::Key: TestKey,
{
    let (mut conn, key) = (db.connect(), db.seed(Seed::pending()));
    for round in 0..ROUNDS {
        let mut void = None;
        let outcome = D::begin(&mut conn, |conn| -> Result<(), TxError> {
            let outcome = db.store().on(conn).claim(&key, &ask("anna"))?;
            void = outcome.claimed().map(|claimed| claimed.claim);
            roll_back()
        });
        assert!(matches!(outcome, Err(TxError::Diesel(_))), "round {round}: {outcome:?}");
        let void = void.expect("the row was free");
        let fence = if round % 2 == 0 { void_row_fence(&db, &key) } else { insert_again(&db, &key) };
        assert!(fence < void.fence(), "round {round}: the rollback took the fence back");
        let name = if round % 4 < 2 { "anna" } else { "berta" };
        let new = take(db.other(), &key, name);
        let held = db.read(&key);
        let error = db.store().complete(void).expect_err("the claim is void");
        assert!(matches!(error.cause(), SettleCause::Fenced(_)), "round {round}: {error}");
        assert_eq!(db.read(&key), held, "round {round}");
        db.other().release(new).expect("the new owner has the row");
    }
}

fn void_row_fence<T: TestTable<D>, D: TestDialect>(db: &Db<Store<T, D>, D>, key: &T::Key) -> Fence
where
    T::Key: TestKey,
{
    let row = db.read(key).expect("the row");
    assert_eq!(row.state, State::Pending);
    row.fence
}

fn insert_again<T: TestTable<D>, D: TestDialect>(db: &Db<Store<T, D>, D>, key: &T::Key) -> Fence
where
    T::Key: TestKey,
{
    db.delete(key);
    db.seed_again(key, Seed::pending());
    void_row_fence(db, key)
}
