//! Enqueueing in the caller's transaction (H68).

use claimstore::{Job, JobKind, NewJob, TxError};
use claimstore_core::{ClaimStore, State};
use claimstore_testkit::Harness;
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

use super::{Jobs, ask, note, notes, roll_back, with_notes};

#[derive(serde::Serialize, serde::Deserialize)]
struct Mail {
    to: String,
}

impl JobKind for Mail {
    const KIND: &'static str = "mail";
}

fn mail(to: &str) -> NewJob {
    NewJob::of(&Mail { to: to.to_owned() }).expect("it is JSON")
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_job_is_invisible_before_the_commit<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let mut conn = with_notes(&db);
    let ids = D::begin(&mut conn, |conn| {
        note::<D>(conn)?;
        let ids = db.store().on(conn).enqueue(&[mail("anna"), mail("berta")])?;
        assert_eq!(db.count_in(State::Pending), 0, "another connection sees nothing yet");
        Ok::<_, TxError>(ids)
    })
    .expect("it commits");
    assert_eq!((db.count_in(State::Pending), notes(&db)), (2, 1));
    let batch = db.other().claim_next(&ask("anna").limit(9)).expect("it claims");
    let got: Vec<_> = batch
        .into_iter()
        .map(|job| (job.row.id, job.row.payload::<Mail>().expect("what was enqueued").to))
        .collect();
    assert_eq!(got, [(ids[0].id(), "anna".to_owned()), (ids[1].id(), "berta".to_owned())]);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_job_is_gone_after_a_rollback<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let mut conn = with_notes(&db);
    let outcome = D::begin(&mut conn, |conn| {
        note::<D>(conn)?;
        db.store().on(conn).enqueue(&[mail("anna")])?;
        roll_back::<()>()
    });
    assert!(outcome.is_err());
    assert_eq!((db.count_in(State::Pending), notes(&db)), (0, 0));
    assert!(db.other().claim_next(&ask("anna")).expect("it claims").is_empty());
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_refused_job_leaves_the_transaction_usable<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let mut conn = with_notes(&db);
    D::begin(&mut conn, |conn| {
        let bad = [mail("anna"), mail("berta").max_failures(0)];
        let told = db.store().on(conn).enqueue(&bad);
        assert!(matches!(told, Err(TxError::Store(_))), "{told:?}");
        note::<D>(conn)
    })
    .expect("it commits");
    assert_eq!((db.count_in(State::Pending), notes(&db)), (0, 1));
}
