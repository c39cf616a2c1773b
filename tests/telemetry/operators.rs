//! Looking, holding back, and deciding.

use claimstore::core::{
    ClaimStore, InspectStore, OperateStore, Operator, Pausable, QueueStore, RetainStore, Retention,
};
use claimstore::{ClaimOn, Job};

use crate::capture::heard;
use crate::numbers::{assert_counted, counted};
use crate::support::{Database, TestResult, on_both};
use crate::{anna, due, held};

on_both! {
    a_row_that_is_held_back_is_refused_as_paused
    counting_rows_sets_the_age_of_the_oldest_due_one
    each_call_of_an_operator_opens_one_span
}

fn operator() -> Operator {
    Operator::new("olga", "a test").expect("a valid name")
}

fn a_row_that_is_held_back_is_refused_as_paused<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, id) = (db.store(), due(db, 1)[0]);
    assert!(store.pause(&Pausable::queue("default"), &operator())?);
    let (refused, numbers) = counted(|| ClaimStore::claim(store, &id, &anna()));
    assert!(refused?.refusal().is_some());
    assert_counted(&numbers, [("refused_total{reason=paused}", 1), ("claim_seconds{call=claim}", 1)]);
    // Nobody else has it either.
    let (batch, numbers) = counted(|| store.claim_next(&anna()));
    assert!(batch?.is_empty());
    assert_counted(&numbers, [("empty_claims_total", 1), ("claim_seconds{call=claim_next}", 1)]);
    Ok(())
}

fn counting_rows_sets_the_age_of_the_oldest_due_one<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (_, numbers) = counted(|| db.store().counts(10));
    assert_counted(&numbers, [("oldest_due_seconds", 0)]);
    let id = due(db, 2)[0];
    let hour_ago = B::now_plus(-3600);
    db.run(&format!("UPDATE claimstore_jobs SET due = {hour_ago} WHERE id = {id}"));
    let (counts, numbers) = counted(|| db.store().counts(10));
    let wait = counts?.oldest_wait().expect("a row is due").as_secs();
    assert!((3600..7200).contains(&wait), "{wait}");
    assert_counted(&numbers, [("oldest_due_seconds", wait)]);
    Ok(())
}

fn each_call_of_an_operator_opens_one_span<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, by) = (db.store(), operator());
    let claim = held(db, 1).remove(0);
    let (id, fence) = (*claim.key(), claim.fence());
    let (done, heard) = heard(|| -> TestResult {
        store.show(&id)?;
        store.counts(10)?;
        store.explain(&id)?;
        assert!(store.cancel(&id, fence, &by.clone().force()).is_ok());
        store.history(&id, 10)?;
        store.pause(&Pausable::kind("note"), &by)?;
        store.queues()?;
        store.unpause(&Pausable::kind("note"), &by)?;
        store.keep_completed("default", false, &by)?;
        store.prune(&Retention::keep_all(), 10)?;
        let _ = store.verify()?;
        Ok(())
    });
    done?;
    let names = [
        "show",
        "counts",
        "explain",
        "operate",
        "history",
        "pause",
        "queues",
        "unpause",
        "keep_completed",
        "prune",
        "verify",
    ];
    assert_eq!(heard.names(), names.map(|name| format!("claimstore.{name}")));
    assert!(heard.spans.iter().all(|span| span.fields["claimstore.outcome"] == "ok"), "{heard:?}");
    Ok(())
}
