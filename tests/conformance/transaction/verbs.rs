//! Every verb joins the caller's transaction: all of it is written, or nothing.

use claimstore::{ClaimOn, Job, JobKind, NewJob, Store, TxError};
use claimstore_core::{Claim, Fence, LateWrite, Now, Receipt, State, Verdict, WorkerId};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

use super::{Jobs, LEASE, LONG, ask, note, notes, policy, roll_back, take, with_notes};

#[derive(serde::Serialize, serde::Deserialize)]
struct Nothing;

impl JobKind for Nothing {
    const KIND: &'static str = "nothing";
}

fn late_write() -> LateWrite {
    LateWrite {
        table: "claimstore_jobs".to_owned(),
        key: "7".to_owned(),
        worker: WorkerId::new("anna").expect("a valid name"),
        held: Fence::new(7),
        now: Now::Gone,
        verb: "complete".to_owned(),
        error: None,
    }
}

/// One verb after the other. Row 0 is abandoned; 1 is claimed by key; the others come by readiness.
fn every_verb<D: TestDialect>(
    store: &Store<Job, D>,
    conn: &mut D::Conn,
    keys: &[i64],
) -> Result<Vec<Claim<i64>>, TxError>
where
    Job: ClaimOn<D>,
{
    let done = store.on(conn).recover(&policy(), 10)?;
    assert_eq!(done.rows.iter().map(|row| row.key).collect::<Vec<_>>(), keys[..1]);
    let outcome = store.on(conn).claim(&keys[1], &ask("anna"))?;
    let mut claim = outcome.claimed().expect("it is free").claim;
    store.on(conn).renew(&mut claim, 2 * LEASE)?;
    assert_eq!(store.on(conn).renew_all(&[claim.token()], 3 * LEASE)?.len(), 1);
    store.on(conn).guard(&claim)?;
    let twin = store.on(conn).resume(&claim.token())?;
    let receipt = store.on(conn).settle(&claim, &Verdict::complete())?;
    assert_eq!(receipt, Receipt { state: State::Completed, already: false });
    assert!(store.on(conn).settle(&twin, &Verdict::complete())?.already);
    let mut next = || -> Result<_, TxError> {
        let batch = store.on(conn).claim_next(&ask("anna").limit(2))?;
        Ok(batch.into_iter().map(|claimed| claimed.claim).collect::<Vec<_>>())
    };
    let (two, three) = (next()?, next()?);
    let verdicts = [Verdict::complete(), Verdict::fail_for_good("no")];
    let settled: Vec<_> = two.into_iter().zip(verdicts).collect();
    for answer in store.on(conn).settle_all(&settled)? {
        answer?;
    }
    let settled: Vec<_> = three.into_iter().map(|claim| (claim, Verdict::complete())).collect();
    let (answers, batch) = store.on(conn).settle_and_claim(&settled, &ask("anna").limit(1))?;
    for answer in answers {
        answer?;
    }
    store.on(conn).enqueue(&[NewJob::of(&Nothing).map_err(claimstore_core::StoreError::from)?])?;
    store.on(conn).record_late(&late_write())?;
    note::<D>(conn)?;
    Ok(batch.into_iter().map(|claimed| claimed.claim).collect())
}

fn prepared<D: TestDialect>(db: &Jobs<D>) -> Vec<i64>
where
    Job: TestTable<D>,
{
    let keys = db.seed_many(vec![Seed::pending(); 7]);
    let _abandoned = take(db.store(), &keys[0], "lea");
    db.expire(&keys[0], LONG);
    keys
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_commit_writes_all_of_it<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, keys) = (with_notes(&db), prepared(&db));
    let left = D::begin(&mut conn, |conn| every_verb(db.store(), conn, &keys)).expect("it commits");
    let states = keys.iter().map(|key| db.read(key).expect("the row").state).collect::<Vec<_>>();
    use State::{Completed, Dead, Pending, Running};
    assert_eq!(states, [Pending, Completed, Completed, Dead, Completed, Completed, Running]);
    assert_eq!(left.iter().map(|claim| *claim.key()).collect::<Vec<_>>(), keys[6..]);
    assert_eq!(db.count_in(Pending), 2, "the recovered one and the new one");
    assert_eq!(db.late_writers(), [late_write()]);
    assert_eq!(notes(&db), 1);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_rollback_takes_all_of_it_back<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, keys) = (with_notes(&db), prepared(&db));
    let before: Vec<_> = keys.iter().map(|key| db.read(key)).collect();
    let outcome = D::begin(&mut conn, |conn| {
        let _void = every_verb(db.store(), conn, &keys)?;
        roll_back::<()>()
    });
    assert!(matches!(outcome, Err(TxError::Diesel(_))), "{outcome:?}");
    assert!(keys.iter().map(|key| db.read(key)).eq(before));
    assert_eq!((db.count_in(State::Pending), db.late_writers(), notes(&db)), (6, Vec::new(), 0));
}
