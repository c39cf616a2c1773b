//! Claiming, and being refused.

use std::time::Duration;

use claimstore::core::{ClaimStore, Refusal};
use claimstore::{ClaimOn, Job};
use diesel::connection::SimpleConnection;

use crate::numbers::{assert_counted, counted};
use crate::support::{Database, LEASE, OnPostgres, TestResult, begin, on_both, roll_back};
use crate::{anna, due, held, take};

on_both! {
    claimed_rows_are_counted
    an_empty_claim_is_counted
    a_row_that_is_not_due_makes_the_claim_empty_and_nothing_lost
    a_claim_by_key_is_counted
    each_refusal_is_counted_by_its_reason
    a_row_that_somebody_holds_is_a_candidate_lost
    a_row_that_was_abandoned_is_lost_to_nobody
}

fn claimed_rows_are_counted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    due(db, 5);
    let (batch, numbers) = counted(|| db.store().claim_next(&anna().limit(3)));
    assert_eq!(batch?.len(), 3);
    assert_counted(&numbers, [("claimed_total", 3), ("claim_seconds{call=claim_next}", 1)]);
    // Fewer than asked for, and none is left that somebody else could have.
    let (batch, numbers) = counted(|| db.store().claim_next(&anna().limit(3)));
    assert_eq!(batch?.len(), 2);
    assert_counted(&numbers, [("claimed_total", 2), ("claim_seconds{call=claim_next}", 1)]);
    Ok(())
}

fn an_empty_claim_is_counted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (batch, numbers) = counted(|| db.store().claim_next(&anna()));
    assert!(batch?.is_empty());
    assert_counted(&numbers, [("empty_claims_total", 1), ("claim_seconds{call=claim_next}", 1)]);
    Ok(())
}

fn a_row_that_is_not_due_makes_the_claim_empty_and_nothing_lost<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    for claim in held(db, 1) {
        db.store().snooze(claim, LEASE)?;
    }
    let (batch, numbers) = counted(|| db.store().claim_next(&anna()));
    assert!(batch?.next_due.is_some());
    assert_counted(&numbers, [("empty_claims_total", 1), ("claim_seconds{call=claim_next}", 1)]);
    Ok(())
}

fn a_claim_by_key_is_counted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let id = due(db, 1)[0];
    let (claim, numbers) = counted(|| ClaimStore::claim(db.store(), &id, &anna()));
    assert!(claim?.refusal().is_none());
    assert_counted(&numbers, [("claimed_total", 1), ("claim_seconds{call=claim}", 1)]);
    Ok(())
}

/// What a claim of this row that is refused counts beside its time.
fn refused<B: Database>(db: &B, id: i64) -> Vec<String>
where
    Job: ClaimOn<B::D>,
{
    let (refused, mut numbers) = counted(|| ClaimStore::claim(db.store(), &id, &anna()));
    assert!(refused.expect("the store works").refusal().is_some());
    assert_eq!(numbers.remove("claim_seconds{call=claim}"), Some(1));
    assert!(numbers.values().all(|count| *count == 1), "{numbers:?}");
    numbers.into_keys().collect()
}

fn each_refusal_is_counted_by_its_reason<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    assert_eq!(refused(db, 1_000_000), ["refused_total{reason=missing}"]);
    let mut claims = held(db, 2);
    let [later, done] = [claims[0].key(), claims[1].key()].map(|key| *key);
    db.store().complete(claims.remove(1))?;
    assert_eq!(refused(db, done), ["refused_total{reason=not_pending}"]);
    db.store().snooze(claims.remove(0), Duration::from_secs(3600))?;
    assert_eq!(refused(db, later), ["refused_total{reason=not_due}"]);
    let spent = due(db, 1)[0];
    db.run(&format!("UPDATE claimstore_jobs SET failures = max_failures WHERE id = {spent}"));
    assert_eq!(refused(db, spent), ["refused_total{reason=exhausted}"]);
    Ok(())
}

fn a_row_that_somebody_holds_is_a_candidate_lost<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let claim = held(db, 1).remove(0);
    assert_eq!(refused(db, *claim.key()), ["lost_candidates_total", "refused_total{reason=held}"]);
    Ok(())
}

fn a_row_that_was_abandoned_is_lost_to_nobody<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let claim = held(db, 1).remove(0);
    db.expire(&[*claim.key()]);
    assert_eq!(refused(db, *claim.key()), ["refused_total{reason=held}"]);
    Ok(())
}

/// On SQLite the lock is the file's, and no row is passed over.
#[test]
fn a_row_that_somebody_has_locked_is_a_candidate_lost() -> TestResult {
    let db = OnPostgres::fresh(2);
    let id = due(&db, 1)[0];
    let mut other = db.connect();
    begin(&mut other);
    other.batch_execute("SELECT id FROM claimstore_jobs FOR UPDATE")?;
    let (answer, _) = counted(|| ClaimStore::claim(db.store(), &id, &anna()));
    assert!(matches!(answer?.refusal(), Some(Refusal::Locked { .. })));
    assert_eq!(refused(&db, id), ["lost_candidates_total", "refused_total{reason=locked}"]);
    let (batch, numbers) = counted(|| db.store().claim_next(&anna().limit(2)));
    assert!(batch?.is_empty());
    let empty = ("empty_claims_total", 1);
    assert_counted(&numbers, [empty, ("lost_candidates_total", 1), ("claim_seconds{call=claim_next}", 1)]);
    roll_back(&mut other);
    drop(take(&db, id));
    Ok(())
}
