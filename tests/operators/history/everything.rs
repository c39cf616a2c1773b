//! Every transition is recorded where that is asked for, and none of those that go well where it is not.

use std::time::Duration;

use claimstore::core::{
    ClaimStore, Fence, Happened, History, OperateStore, RecoverStore, State, Tally, Verdict,
};
use claimstore::{ClaimOn, Job, Store, TxError};
use claimstore_tests::harness::TestDialect;

use crate::bench::{LONG, history, olga, seen};
use crate::support::{Database, LEASE, TestResult, ask, at_once, notes, on_both};

on_both! {
    every_transition_is_recorded_with_its_fence_and_holder
    each_row_of_a_batch_has_its_own_events
    in_the_callers_transaction_too
    by_default_only_what_went_wrong_is_recorded
}

fn all<B: Database>(db: &B) -> Store<Job, B::D>
where
    Job: ClaimOn<B::D>,
{
    db.another(2).recording(History::All)
}

fn settled(verb: &str, to: State) -> Happened {
    Happened::Settled { verb: verb.to_owned(), to }
}

/// One row through every verb of a worker, one after the other.
fn every_transition_is_recorded_with_its_fence_and_holder<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = all(db);
    let id = store.enqueue(&notes(1))?[0].id();
    let claim =
        |name| store.claim(&id, &ask(name)).map(|outcome| outcome.claimed().expect("it is free").claim);
    let mut fences = Vec::new();
    let verdicts =
        [Verdict::release(), Verdict::snooze(Duration::ZERO), Verdict::fail_after("no", Duration::ZERO)];
    for verdict in verdicts {
        let claim = claim("anna")?;
        fences.push(claim.fence());
        store.settle(claim, verdict)?;
    }
    let lost = claim("anna")?;
    fences.push(lost.fence());
    db.expire(&[id]);
    fences.push(store.recover(&at_once(), 1)?.rows[0].fence);
    let last = store.claim_next(&ask("berta"))?.into_iter().next().expect("it is due").claim;
    fences.push(last.fence());
    store.complete(last)?;
    let tally = Tally { failures: 1, crashes: 0, interruptions: 2 };
    let (anna, berta) = (Some("anna"), Some("berta"));
    let expected = [
        (None, Fence::NEVER, Happened::Enqueued {}),
        (anna, fences[0], Happened::Claimed {}),
        (anna, fences[0], settled("release", State::Pending)),
        (anna, fences[1], Happened::Claimed {}),
        (anna, fences[1], settled("snooze", State::Pending)),
        (anna, fences[2], Happened::Claimed {}),
        (anna, fences[2], Happened::Failed { to: State::Pending, error: Some("no".to_owned()), tally }),
        (anna, fences[3], Happened::Claimed {}),
        (anna, fences[4], Happened::Recovered { to: State::Pending, crashes: 1 }),
        (berta, fences[5], Happened::Claimed {}),
        (berta, fences[5], settled("complete", State::Completed)),
    ];
    let told = history(db, id);
    let told: Vec<_> = told
        .iter()
        .map(|event| (event.worker.as_ref().map(|worker| worker.as_str()), event.fence, event.what.clone()))
        .collect();
    assert_eq!(told, expected);
    Ok(())
}

fn kinds<B: Database>(db: &B, id: i64) -> Vec<String>
where
    Job: ClaimOn<B::D>,
{
    let word = |what: &Happened| match what {
        Happened::Settled { verb, .. } => verb.clone(),
        other => other.kind().to_owned(),
    };
    history(db, id).iter().map(|event| word(&event.what)).collect()
}

/// Batches with mixed verdicts, also where settling and claiming are one call; whoever is refused is not recorded as
/// having settled.
fn each_row_of_a_batch_has_its_own_events<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = all(db);
    let ids: Vec<i64> = store.enqueue(&notes(6))?.into_iter().map(|job| job.id()).collect();
    let held: Vec<_> = store.claim_next(&ask("anna").limit(3))?.into_iter().map(|one| one.claim).collect();
    let operator = store.cancel(&ids[2], held[2].fence(), &olga().force())?;
    assert_eq!(operator.to, Some(State::Cancelled));
    let verdicts = [Verdict::complete(), Verdict::fail_for_good("no"), Verdict::complete()];
    let answers = store.settle_all(held.into_iter().zip(verdicts).collect());
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(kinds(db, ids[0]), ["enqueued", "claimed", "complete"]);
    assert_eq!(kinds(db, ids[1]), ["enqueued", "claimed", "failed"]);
    assert_eq!(kinds(db, ids[2]), ["enqueued", "claimed", "operated", "late_writer"]);

    let held: Vec<_> = store.claim_next(&ask("anna").limit(2))?.into_iter().map(|one| one.claim).collect();
    let verdicts = [Verdict::complete(), Verdict::snooze(LONG)];
    let both = store.settle_and_claim(held.into_iter().zip(verdicts).collect(), &ask("anna").limit(5));
    assert!(both.settled.iter().all(Result::is_ok));
    assert_eq!(both.claimed?.claimed.iter().map(|one| one.row.id).collect::<Vec<_>>(), ids[5..]);
    assert_eq!(kinds(db, ids[3]), ["enqueued", "claimed", "complete"]);
    assert_eq!(kinds(db, ids[4]), ["enqueued", "claimed", "snooze"]);
    assert_eq!(kinds(db, ids[5]), ["enqueued", "claimed"]);
    Ok(())
}

/// Committed with it, and rolled back with it.
fn in_the_callers_transaction_too<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let store = all(db);
    let undone: Result<(), TxError> = B::D::begin(&mut db.connect(), |conn| {
        store.on(conn).enqueue(&notes(1))?;
        assert_eq!(store.on(conn).claim_next(&ask("anna"))?.len(), 1);
        Err(TxError::Busy)
    });
    assert!(undone.is_err());
    assert_eq!((db.count("claimstore_events"), db.count("claimstore_jobs")), (0, 0));
    let id = B::D::begin::<_, TxError>(&mut db.connect(), |conn| {
        let id = store.on(conn).enqueue(&notes(1))?[0].id();
        let claim = store.on(conn).claim(&id, &ask("anna"))?.claimed().expect("it is free").claim;
        store.on(conn).settle(&claim, &Verdict::release())?;
        let next = store.on(conn).claim_next(&ask("anna"))?.into_iter().next().expect("it is due").claim;
        store.on(conn).settle_all(&[(next, Verdict::complete())])?.remove(0)?;
        Ok(id)
    })?;
    assert_eq!(kinds(db, id), ["enqueued", "claimed", "release", "claimed", "complete"]);
    Ok(())
}

/// Nothing of what goes well; failures, recoveries, refused writers and operators always.
fn by_default_only_what_went_wrong_is_recorded<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids: Vec<i64> = store.enqueue(&notes(5))?.into_iter().map(|job| job.id()).collect();
    let mut held: Vec<_> =
        store.claim_next(&ask("anna").limit(5))?.into_iter().map(|one| one.claim).collect();
    store.renew(&mut held[0], LEASE)?;
    let all = [Verdict::complete(), Verdict::release(), Verdict::snooze(LONG), Verdict::complete()];
    let left = held.split_off(4);
    assert!(store.settle_all(held.into_iter().zip(all).collect()).iter().all(Result::is_ok));
    let both =
        store.settle_and_claim(left.into_iter().map(|c| (c, Verdict::complete())).collect(), &ask("anna"));
    let claim = both.claimed?.into_iter().next().expect("the released one").claim;
    assert_eq!(db.count("claimstore_events"), 0);
    store.fail(claim, "no")?;
    assert_eq!(kinds(db, ids[1]), ["failed"]);
    store.retry(&ids[1], seen(db, ids[1]), &olga())?;
    let late = store.claim(&ids[1], &ask("anna"))?.claimed().expect("it is free").claim;
    db.expire(&ids[1..2]);
    store.recover(&at_once(), 1)?;
    assert!(store.complete(late).is_err());
    assert_eq!(kinds(db, ids[1]), ["failed", "operated", "recovered", "late_writer"]);
    Ok(())
}
