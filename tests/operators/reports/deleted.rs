//! A row that is deleted while somebody works on it.

use std::time::Duration;

use claimstore::core::{
    Action, Claim, ClaimStore, Fenced, Happened, Now, OperateStore, RenewError, Renewal, SettleError, Verdict,
};
use claimstore::{ClaimOn, Job};

use crate::bench::{held, history, olga, take};
use crate::support::{Database, LEASE, TestResult, ask, note, on_both};

on_both! {
    the_holder_of_a_deleted_row_is_told_in_every_verb
    a_deleted_row_of_a_batch_disturbs_no_other
    a_worker_goes_on_after_a_deleted_row
}

/// By plain SQL, and by the verb.
const WAYS: [&str; 2] = ["sql", "verb"];

fn deleted<B: Database>(db: &B, way: &str) -> Claim<i64>
where
    Job: ClaimOn<B::D>,
{
    let (id, claim) = held(db);
    match way {
        "sql" => db.run(&format!("DELETE FROM claimstore_jobs WHERE id = {id}")),
        _ => {
            let done =
                db.store().operate(&id, claim.fence(), &Action::Delete, &olga().force()).expect("by force");
            assert_eq!((done.to, done.ended.as_ref()), (None, Some(claim.worker())));
        }
    }
    assert_eq!(db.state(id), "gone");
    claim
}

#[track_caller]
fn gone(error: Option<&Fenced>, claim: (i64, claimstore::core::Fence)) {
    let fenced = error.expect("the claim is lost");
    assert_eq!((&fenced.now, fenced.held, fenced.key.clone()), (&Now::Gone, claim.1, claim.0.to_string()));
}

/// H89: completing, failing, handing back and renewing answer with a typed error: the row is gone. The next renewal
/// tells whoever is still at work; what it wanted to say is kept.
fn the_holder_of_a_deleted_row_is_told_in_every_verb<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let settled = |error: &SettleError<i64>, claim| gone(error.fenced(), claim);
    for way in WAYS {
        let verdicts = [
            Verdict::complete(),
            Verdict::fail("no"),
            Verdict::fail_for_good("no"),
            Verdict::release(),
            Verdict::snooze(Duration::from_secs(1)),
        ];
        for verdict in verdicts {
            let mut claim = deleted(db, way);
            let shown = (*claim.key(), claim.fence());
            match store.renew(&mut claim, LEASE) {
                Err(RenewError::Fenced(fenced)) => gone(Some(&fenced), shown),
                other => panic!("{other:?}"),
            }
            settled(&store.settle(claim, verdict.clone()).expect_err("it is gone"), shown);
            let late = |what: Happened| match what {
                Happened::LateWriter(late) => Some(late.verb),
                _ => None,
            };
            let kept: Vec<_> =
                history(db, shown.0).into_iter().filter_map(|event| late(event.what)).collect();
            assert_eq!(kept, ["renew", verdict.verb()], "{way}");
        }
        let claim = deleted(db, way);
        let shown = (*claim.key(), claim.fence());
        assert!(matches!(store.resume(&claim.token()), Err(RenewError::Fenced(_))));
        let ran = store.settle_with(claim, Verdict::complete(), |_| Ok::<_, claimstore::TxError>("ran"));
        match ran {
            Err(claimstore::SettleWithError::Settle(error)) => settled(&error, shown),
            other => panic!("{way}: the work of a lost claim is not begun: {other:?}"),
        }
    }
    Ok(())
}

fn a_deleted_row_of_a_batch_disturbs_no_other<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    for way in WAYS {
        let (first, lost, last) = (held(db).1, deleted(db, way), held(db).1);
        let shown = (*lost.key(), lost.fence());
        let tokens = [first.token(), lost.token(), last.token()];
        let renewed = store.renew_all(&tokens, LEASE)?;
        assert!(
            matches!(&renewed[..], [Renewal::Renewed(_), Renewal::Fenced(_), Renewal::Renewed(_)]),
            "{renewed:?}"
        );
        let answers = store.settle_all([first, lost, last].map(|claim| (claim, Verdict::complete())).into());
        assert!(answers[0].is_ok() && answers[2].is_ok());
        gone(answers[1].as_ref().expect_err("it is gone").fenced(), shown);

        let (lost, next) = (deleted(db, way), store.enqueue(&[note("next")])?[0].id());
        let shown = (*lost.key(), lost.fence());
        let both = store.settle_and_claim(vec![(lost, Verdict::fail("no"))], &ask("anna"));
        gone(both.settled[0].as_ref().expect_err("it is gone").fenced(), shown);
        assert_eq!(both.claimed?.claimed.iter().map(|one| one.row.id).collect::<Vec<_>>(), [next]);
    }
    Ok(())
}

/// The worker needs nothing but the answer to go on with the next job.
fn a_worker_goes_on_after_a_deleted_row<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    for way in WAYS {
        assert!(db.store().complete(deleted(db, way)).is_err());
        let id = db.store().enqueue(&[note("next")])?[0].id();
        db.store().complete(take(db, id, "anna"))?;
    }
    Ok(())
}
