//! No refusal aborts the caller's transaction: it goes on, and commits.

use std::time::Duration;

use claimstore::{Job, TxError};
use claimstore_core::{Refusal, StoreErrorKind, Verdict, Wait};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect, TestTable};
use rstest::rstest;

use super::{Jobs, LEASE, LONG, ask, lost, note, notes, policy, take, with_notes};

fn is_input(error: &TxError) -> bool {
    matches!(error, TxError::Store(why) if why.kind() == StoreErrorKind::Input)
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_row_that_cannot_be_claimed_leaves_the_transaction_usable<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let mut conn = with_notes(&db);
    let missing = db.seed(Seed::pending());
    db.delete(&missing);
    let later = db.seed(Seed::pending().due_in(LONG));
    let spent = db.seed(Seed::pending().failures(2).max_failures(2));
    let [held, done] = [db.seed(Seed::pending()), db.seed(Seed::pending())];
    let _held = take(db.store(), &held, "anna");
    let claim = take(db.store(), &done, "anna");
    claimstore_core::ClaimStore::complete(db.store(), claim).expect("it is ours");
    let waits = [Wait::Never, Wait::AtMost(Duration::from_millis(50)), Wait::Forever];
    let told = D::begin(&mut conn, |conn| {
        let mut told = Vec::new();
        for wait in waits {
            for key in [missing, later, spent, held, done] {
                let outcome = db.store().on(conn).claim(&key, &ask("berta").wait(wait))?;
                told.push(outcome.refusal().cloned().expect("it is refused"));
                note::<D>(conn)?;
            }
        }
        Ok::<_, TxError>(told)
    })
    .expect("it commits");
    for five in told.chunks(5) {
        let [missing, later, spent, held, done] = five else { panic!("five of each: {five:?}") };
        assert_eq!((missing, spent), (&Refusal::Missing, &Refusal::Exhausted));
        assert!(matches!(later, Refusal::NotDue(_)) && matches!(held, Refusal::Held { .. }), "{five:?}");
        assert!(matches!(done, Refusal::NotPending(_)), "{five:?}");
    }
    assert_eq!(notes(&db), 15);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_lost_or_settled_claim_leaves_the_transaction_usable<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let (mut conn, (_, mut old)) = (with_notes(&db), lost(&db));
    let key = db.seed(Seed::pending());
    let settled = take(db.store(), &key, "anna");
    D::begin(&mut conn, |conn| {
        let store = db.store();
        store.on(conn).settle(&settled, &Verdict::release())?;
        let told = [
            store.on(conn).settle(&old, &Verdict::complete()).map(drop),
            store.on(conn).renew(&mut old, LEASE),
            store.on(conn).guard(&old),
            store.on(conn).resume(&old.token()).map(drop),
        ];
        assert!(told.iter().all(|told| matches!(told, Err(TxError::Fenced(_)))), "{told:?}");
        let told = [
            store.on(conn).settle(&settled, &Verdict::complete()).map(drop),
            store.on(conn).guard(&settled),
            store.on(conn).resume(&settled.token()).map(drop),
        ];
        assert!(told.iter().all(|told| matches!(told, Err(TxError::AlreadySettled(_)))), "{told:?}");
        note::<D>(conn)
    })
    .expect("it commits");
    assert_eq!(notes(&db), 1);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh())]
#[case::postgres(PgDb::<Job>::fresh())]
fn a_bad_input_leaves_the_transaction_usable<D: TestDialect>(#[case] db: Jobs<D>)
where
    Job: TestTable<D>,
{
    let mut conn = with_notes(&db);
    let key = db.seed(Seed::pending());
    let mut claim = take(db.store(), &key, "anna");
    let before = db.read(&key);
    D::begin(&mut conn, |conn| {
        let store = db.store();
        let told = [
            store.on(conn).claim(&key, &ask("anna").lease(Duration::ZERO)).map(drop),
            store.on(conn).claim_next(&ask("anna").limit(0)).map(drop),
            store.on(conn).renew(&mut claim, Duration::ZERO),
            store.on(conn).settle(&claim, &Verdict::snooze(Duration::MAX)).map(drop),
            store.on(conn).recover(&policy(), 0).map(drop),
        ];
        assert!(told.iter().all(|told| told.as_ref().is_err_and(is_input)), "{told:?}");
        note::<D>(conn)
    })
    .expect("it commits");
    assert_eq!((db.read(&key), notes(&db)), (before, 1));
}
