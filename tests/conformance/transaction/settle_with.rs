//! `settle_with`: settlement and business write in one transaction of the library's.

use std::cell::Cell;

use claimstore::{Job, SettleWithError, TxError};
use claimstore_core::{ClaimStore, SettleCause, State, Verdict};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

use super::{Jobs, lost, note, notes, take, with_notes};

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn work_and_settlement_are_written_together<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (_conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    let runs = Cell::new(0);
    let (given, receipt) = db
        .store()
        .settle_with(claim, Verdict::complete(), |conn| {
            runs.set(runs.get() + 1);
            assert_eq!(db.read(&key).expect("the row").state, State::Running, "it is not committed yet");
            note::<D>(conn).map(|()| "result")
        })
        .expect("both are written");
    assert_eq!((given, receipt.state, receipt.already, runs.get()), ("result", State::Completed, false, 1));
    assert_eq!((db.read(&key).expect("the row").state, notes(&db)), (State::Completed, 1));
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn an_error_of_the_work_keeps_the_claim<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (_conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    let held = db.read(&key);
    let outcome = db.store().settle_with(claim, Verdict::complete(), |conn| {
        note::<D>(conn)?;
        D::run(conn, "INSERT INTO no_such_table VALUES (1)").map_err(TxError::from)
    });
    let claim = match outcome {
        Err(SettleWithError::Work { error: TxError::Diesel(_), claim }) => claim,
        other => panic!("the work failed, and not: {other:?}"),
    };
    assert_eq!((db.read(&key), notes(&db)), (held, 0));
    db.store().complete(*claim).expect("it is still held");
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn work_for_a_lost_claim_does_not_begin<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (_conn, (key, old)) = (with_notes(&db), lost(&db));
    let before = db.read(&key);
    let outcome = db.store().settle_with(old, Verdict::complete(), |_| -> Result<(), TxError> {
        panic!("the claim is lost");
    });
    let Err(SettleWithError::Settle(error)) = outcome else { panic!("not refused: {outcome:?}") };
    assert!(matches!(error.cause(), SettleCause::Fenced(_)), "{error}");
    assert_eq!(db.read(&key), before);
    assert_eq!(db.late_writers().len(), 1, "the transaction was the library's: it is recorded");
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn work_that_was_committed_is_not_done_again<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (_conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    let twin = db.store().resume(&claim.token()).expect("it is held");
    db.store().settle_with(claim, Verdict::complete(), note::<D>).expect("both are written");
    let again = db.store().settle_with(twin, Verdict::complete(), note::<D>);
    let Err(SettleWithError::Settle(error)) = again else { panic!("it was done twice: {again:?}") };
    assert!(matches!(error.cause(), SettleCause::AlreadySettled(_)), "{error}");
    assert_eq!(notes(&db), 1);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn in_the_callers_transaction_its_error_rolls_both_back<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, key) = (with_notes(&db), db.seed(Seed::pending()));
    let claim = take(db.store(), &key, "anna");
    let held = db.read(&key);
    let outcome = D::begin(&mut conn, |conn| {
        db.store().on(conn).settle_with(&claim, &Verdict::complete(), |conn| {
            note::<D>(conn)?;
            super::roll_back::<()>()
        })
    });
    assert!(matches!(outcome, Err(TxError::Diesel(_))), "{outcome:?}");
    assert_eq!((db.read(&key), notes(&db)), (held, 0));
    D::begin(&mut conn, |conn| db.store().on(conn).settle_with(&claim, &Verdict::complete(), note::<D>))
        .expect("the claim is still held");
    assert_eq!((db.read(&key).expect("the row").state, notes(&db)), (State::Completed, 1));
}
