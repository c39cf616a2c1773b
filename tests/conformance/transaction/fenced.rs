//! A lost claim in the caller's transaction.

use claimstore::{Job, TxError};
use claimstore_core::{Now, State, Verdict};
use claimstore_testkit::Harness;
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

use super::{Jobs, lost, note, notes, take, with_notes};

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn what_was_written_for_a_lost_claim_is_rolled_back<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, (key, old)) = (with_notes(&db), lost(&db));
    let before = db.read(&key);
    let outcome = D::begin(&mut conn, |conn| {
        note::<D>(conn)?;
        db.store().on(conn).settle(&old, &Verdict::complete())
    });
    assert!(matches!(outcome, Err(TxError::Fenced(_))), "{outcome:?}");
    assert_eq!(notes(&db), 0);
    assert_eq!(db.read(&key), before);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn the_late_writer_is_recorded_once_after_the_rollback<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, (key, old)) = (with_notes(&db), lost(&db));
    db.make_due(&key);
    let new = take(db.other(), &key, "berta");
    let error = D::begin(&mut conn, |conn| {
        db.store().on(conn).settle(&old, &Verdict::fail("the late result")).map(drop)
    })
    .expect_err("the claim is lost");
    assert_eq!(db.late_writers(), [], "nothing is recorded inside the transaction");
    let late = error.late_write().expect("the late writer is handed over");
    db.store().record_late(late).expect("it is recorded");
    assert_eq!(db.late_writers(), std::slice::from_ref(late));
    assert_eq!((late.held, late.verb.as_str()), (old.fence(), "fail"));
    assert_eq!(late.error.as_deref(), Some("the late result"));
    let Now::Row { state, fence, .. } = late.now else { panic!("the row is there: {late:?}") };
    assert_eq!((state, fence), (State::Running, new.fence()));
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_lost_claim_among_several_is_told_for_itself<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, (key, old)) = (with_notes(&db), lost(&db));
    db.make_due(&key);
    let good = take(db.store(), &key, "berta");
    let settled = [(old, Verdict::complete()), (good, Verdict::complete())];
    let answers = D::begin(&mut conn, |conn| {
        let answers = db.store().on(conn).settle_all(&settled)?;
        note::<D>(conn)?;
        Ok::<_, TxError>(answers)
    })
    .expect("a refusal for one is no error of the whole");
    assert!(matches!(answers[0], Err(TxError::Fenced(_))), "{answers:?}");
    assert!(answers[1].is_ok(), "{answers:?}");
    assert_eq!(db.read(&key).expect("the row").state, State::Completed);
    assert_eq!((notes(&db), db.late_writers()), (1, Vec::new()));
}
