//! A panic in the caller's code (H63): the only connection of a pool comes back clean, or not at all.

use std::panic::{AssertUnwindSafe, catch_unwind};

use claimstore::{Job, TxError};
use claimstore_core::{ClaimStore, State, Verdict};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

use super::{Jobs, ask, note, notes, take, with_notes};

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_panic_in_the_work_leaves_no_open_transaction<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (_conn, keys) = (with_notes(&db), db.seed_many(vec![Seed::pending(); 2]));
    let store = D::store::<Job>(db.place(), 1);
    let claim = take(&store, &keys[0], "anna");
    let (token, held) = (claim.token(), db.read(&keys[0]));
    let work = |conn: &mut D::Conn| -> Result<(), TxError> {
        note::<D>(conn)?;
        panic!("the work panics");
    };
    let settling = || store.settle_with(claim, Verdict::complete(), work).is_ok();
    let outcome = catch_unwind(AssertUnwindSafe(settling));
    assert!(outcome.is_err(), "the panic goes on to the caller");
    assert_eq!((db.read(&keys[0]), notes(&db)), (held, 0), "nothing is written");
    let next = take(&store, &keys[1], "berta");
    assert_eq!(db.read(&keys[1]).expect("the row").state, State::Running, "the next user's claim commits");
    store.complete(next).expect("it is hers");
    let again = store.resume(&token).expect("the claim is still held");
    store.settle_with(again, Verdict::complete(), note::<D>).expect("both are written");
    assert_eq!((db.read(&keys[0]).expect("the row").state, notes(&db)), (State::Completed, 1));
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_panic_in_a_transaction_on_the_stores_pool_leaves_no_claim<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let key = db.seed(Seed::pending());
    let store = D::store::<Job>(db.place(), 1);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut conn = store.pool().get().expect("the one connection");
        D::begin(&mut conn, |conn| -> Result<(), TxError> {
            let _void = store.on(conn).claim(&key, &ask("anna"))?;
            panic!("the caller panics");
        })
    }));
    assert!(outcome.is_err());
    assert_eq!(db.read(&key).expect("the row").state, State::Pending);
    let _claim = take(&store, &key, "berta");
    assert_eq!(db.read(&key).expect("the row").worker.as_deref(), Some("berta"));
}
