//! A store that cannot do its work.

use claimstore::core::{ClaimStore, StoreErrorKind, Verdict};
use claimstore::{ClaimOn, Job};
use tracing::Level;

use crate::capture::heard;
use crate::numbers::{assert_counted, counted};
use crate::support::{Database, TestResult, on_both};
use crate::{anna, due, held};

on_both! {
    a_failure_is_counted_by_call_and_kind
    a_failure_of_several_settlements_is_told_once
    bad_input_says_nothing_of_the_time_a_claim_takes
}

fn a_failure_is_counted_by_call_and_kind<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    due(db, 1);
    db.run("DROP TABLE claimstore_jobs");
    let ((failed, numbers), heard) = heard(|| counted(|| db.store().claim_next(&anna())));
    assert_eq!(failed.expect_err("the table is gone").kind(), StoreErrorKind::Schema);
    let failed = ("errors_total{call=claim_next,kind=schema}", 1);
    assert_counted(&numbers, [failed, ("claim_seconds{call=claim_next}", 1)]);
    let [told] = &heard.events[..] else { panic!("{heard:?}") };
    assert_eq!((told.level, told.within), (Level::WARN, Some("claimstore.claim_next")));
    assert_eq!(told.fields["error.type"], "schema");
    let span = &heard.spans[0].fields;
    assert_eq!([&span["error.type"], &span["otel.status_code"]], ["schema", "ERROR"]);
    assert_eq!(span["claimstore.outcome"], "error");
    Ok(())
}

fn a_failure_of_several_settlements_is_told_once<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let settled = held(db, 3).into_iter().map(|claim| (claim, Verdict::complete())).collect();
    db.run("DROP TABLE claimstore_jobs");
    let ((answers, numbers), heard) = heard(|| counted(|| db.store().settle_all(settled)));
    assert!(answers.iter().all(Result::is_err));
    let failed = ("errors_total{call=settle_all,kind=schema}", 1);
    assert_counted(&numbers, [failed, ("settle_seconds{call=settle_all}", 1)]);
    assert_eq!(heard.events.len(), 1);
    assert_eq!(heard.events[0].fields["claims"], "3");
    Ok(())
}

fn bad_input_says_nothing_of_the_time_a_claim_takes<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (refused, numbers) = counted(|| db.store().claim_next(&anna().limit(0)));
    assert!(refused.is_err());
    assert_counted(&numbers, [("errors_total{call=claim_next,kind=input}", 1)]);
    Ok(())
}
