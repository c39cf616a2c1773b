//! What people read: two cases word by word.

use claimstore::core::{InspectStore, Pausable, QueueStore};
use claimstore::{ClaimOn, Job};

use crate::bench::{abandoned, olga, one};
use crate::support::{Database, TestResult, on_both};

on_both! {
    an_abandoned_row_is_explained_in_words
    a_paused_row_is_explained_in_words
}

/// 2026-01-31T12:00:00Z.
const NOON: i64 = 1_769_860_800_000_000;
const HOUR: i64 = 3_600_000_000;

fn an_abandoned_row_is_explained_in_words<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (id, _claim) = abandoned(db);
    db.run(&format!(
        "UPDATE claimstore_jobs SET fence = 4711, last_error = 'no paper', claimed_at = {}, lease = {} WHERE id = {id}",
        B::instant(NOON),
        B::instant(NOON + HOUR)
    ));
    assert_eq!(
        db.store().explain(&id)?.to_string(),
        format!(
            "row {id} is running under fence 4711, held by anna since 2026-01-31T12:00:00.000000Z, \
             its lease ended 2026-01-31T13:00:00.000000Z; last error: no paper; \
             the next recovery takes it, once the policy's grace is over; \
             to free it: store.recover(policy, limit), or store.retry(key, fence, operator)"
        )
    );
    Ok(())
}

fn a_paused_row_is_explained_in_words<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let id = one(db);
    db.store().pause(&Pausable::queue("default"), &olga())?;
    assert_eq!(
        db.store().explain(&id)?.to_string(),
        format!(
            "row {id} is pending under fence 0; its queue or kind is paused; \
             it waits until its queue or kind is let go again; to free it: store.unpause(what, operator)"
        )
    );
    assert_eq!(db.store().explain(&9_999)?.to_string(), "there is no such row");
    Ok(())
}
