//! A claim in three plain steps: **the thing to read first**.
//!
//! What claimstore does in one statement is here in the order in which one would think of it, in Diesel's DSL
//! alone, on the built-in job table and on PostgreSQL:
//!
//! 1. **lock** the row: `SELECT … FOR UPDATE`, so that a second claimer waits (or passes over it);
//! 2. **recheck** it under the lock: what was pending a moment ago may not be pending any more;
//! 3. **update** it: who has it, until when, and under which fence.
//!
//! All three stand in one transaction. Leave out the first and two workers both read "pending"; leave out the
//! second and the one that waited takes the row from the one it waited for; leave out the fence and a worker
//! that was given up for dead overwrites its successor.
//!
//! [`ThreeSteps`] is a store that claims by key like this and leaves every other verb to [`PgStore`]. It passes
//! every scenario of claiming, and costs four round trips where the store needs one. It knows nothing of pauses
//! and of rows that are deleted at once.

use claimstore_core::{
    Batch, Budget, Claim, ClaimOutcome, ClaimParts, ClaimRequest, ClaimStore, ClaimToken, Claimed, Fence,
    Guarantees, LocalInstant, LockScope, Receipt, RecoverStore, Recovered, RecoveryPolicy, RecoveryPreview,
    Refusal, RenewError, Renewal, SettleError, SettledAndClaimed, State, StoreError, StoreErrorKind, Tally,
    Timestamp, Verdict, Wait, WorkerId,
};
use claimstore_diesel::schema::claimstore_jobs::dsl;
use claimstore_diesel::sql_types::{At, Instant};
use claimstore_diesel::{Job, PgStore};
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{Bool, Text};
use std::time::Duration;

#[diesel::declare_sql_function]
extern "SQL" {
    /// The server's clock, read when it is called and not when the transaction began.
    fn clock_timestamp() -> Instant;
    /// Changes a setting, here until the transaction ends.
    fn set_config(name: Text, value: Text, until_the_end: Bool) -> Text;
}

/// What the recheck looks at.
#[derive(Queryable, Selectable)]
#[diesel(table_name = claimstore_diesel::schema::claimstore_jobs)]
struct Standing {
    state: String,
    fence: i64,
    worker: Option<String>,
    lease: Option<At>,
    max_failures: i32,
    max_crashes: i32,
}

/// Claims this job if it may be claimed, and says why not otherwise.
///
/// # Errors
/// What the database said; the transaction has then been rolled back.
pub fn claim(
    conn: &mut PgConnection,
    key: i64,
    ask: &ClaimRequest,
) -> QueryResult<Result<Claimed<i64, Job>, Refusal>> {
    let asked = LocalInstant::now();
    let outcome = conn.build_transaction().read_committed().run(|conn| {
        // 1. Lock the row.
        let Some((job, standing)) = lock(conn, key, ask.wait_mode())? else {
            return Ok(Err(passed_over(conn, key)?));
        };

        // 2. Recheck it, by the clock as it is now that the lock is ours.
        let At(now) = diesel::select(clock_timestamp()).get_result(conn)?;
        if let Some(refusal) = why_not(&job, &standing, now) {
            return Ok(Err(refusal));
        }

        // 3. Update it.
        let fence = Fence::new(standing.fence).raised().ok_or(Error::RollbackTransaction)?;
        let until = now.after(ask.lease_span());
        diesel::update(dsl::claimstore_jobs.find(key))
            .set((
                dsl::state.eq(State::Running.word()),
                dsl::fence.eq(fence.get()),
                dsl::worker.eq(ask.worker().as_str()),
                dsl::claimed_at.eq(At(now)),
                dsl::lease.eq(At(until)),
            ))
            .execute(conn)?;

        let parts = ClaimParts {
            key,
            fence,
            worker: ask.worker().clone(),
            until: Some(until),
            tally: tally(&job),
            budget: budget(&standing),
            discard: false,
        };
        Ok(Ok(Claimed { row: job, claim: Claim::granted(parts, asked, Some(ask.lease_span())) }))
    });
    match outcome {
        Err(error) if is_lock_timeout(&error) => Ok(Err(Refusal::Locked { scope: LockScope::Row })),
        other => other,
    }
}

/// The row, locked until the transaction ends; `None` where there is none or, without waiting, where somebody
/// else has it locked.
fn lock(conn: &mut PgConnection, key: i64, wait: Wait) -> QueryResult<Option<(Job, Standing)>> {
    let row = dsl::claimstore_jobs.find(key).select((Job::as_select(), Standing::as_select()));
    if let Wait::AtMost(most) = wait {
        // Zero would mean for ever.
        let most = format!("{}ms", most.max(Duration::from_millis(1)).as_millis().min(i32::MAX as u128));
        diesel::select(set_config("lock_timeout", most, true)).execute(conn)?;
    }
    match wait {
        Wait::Never => row.for_update().skip_locked().first(conn).optional(),
        _ => row.for_update().first(conn).optional(),
    }
}

/// Why no row came: a second, plain read tells a locked row from one that is held or missing.
fn passed_over(conn: &mut PgConnection, key: i64) -> QueryResult<Refusal> {
    let row = dsl::claimstore_jobs.find(key).select((Job::as_select(), Standing::as_select()));
    let Some((job, standing)) = row.first(conn).optional()? else { return Ok(Refusal::Missing) };
    let At(now) = diesel::select(clock_timestamp()).get_result(conn)?;
    Ok(why_not(&job, &standing, now).unwrap_or(Refusal::Locked { scope: LockScope::Row }))
}

/// The recheck: what speaks against claiming this row now.
fn why_not(job: &Job, standing: &Standing, now: Timestamp) -> Option<Refusal> {
    let fence = Fence::new(standing.fence);
    let state = State::ALL.into_iter().find(|state| state.word() == standing.state)?;
    match state {
        State::Running => {
            let until = standing.lease.map(|At(until)| until);
            Some(Refusal::Held {
                worker: standing.worker.as_ref().and_then(|name| WorkerId::new(name).ok()),
                until,
                fence,
                expired: until.is_some_and(|until| until < now),
            })
        }
        State::Pending if !fence.can_rise() || budget(standing).is_spent(&tally(job)) => {
            Some(Refusal::Exhausted)
        }
        State::Pending if job.due > now => Some(Refusal::NotDue(job.due)),
        State::Pending => None,
        other => Some(Refusal::NotPending(other)),
    }
}

fn tally(job: &Job) -> Tally {
    Tally { failures: job.failures, crashes: job.crashes, interruptions: job.interruptions }
}

fn budget(standing: &Standing) -> Budget {
    Budget { max_failures: Some(standing.max_failures), max_crashes: Some(standing.max_crashes) }
}

fn is_lock_timeout(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(DatabaseErrorKind::Unknown, info)
        if info.message().contains("lock timeout"))
}

/// A store that claims by key in three steps, and does everything else as [`PgStore`] does.
#[derive(Debug, Clone)]
pub struct ThreeSteps(pub PgStore<Job>);

impl ClaimStore for ThreeSteps {
    type Key = i64;
    type Row = Job;

    fn claim(&self, key: &i64, ask: &ClaimRequest) -> Result<ClaimOutcome<i64, Job>, StoreError> {
        ask.check()?;
        let failed = |kind, why| StoreError::new(kind, "claiming in three steps", why);
        let pool = self.0.pool();
        let mut conn = pool.get().map_err(|why| failed(StoreErrorKind::Unavailable, why.to_string()))?;
        match claim(&mut conn, *key, ask) {
            Ok(Ok(claimed)) => Ok(ClaimOutcome::Claimed(claimed)),
            Ok(Err(refusal)) => Ok(ClaimOutcome::Refused(refusal)),
            Err(error) => Err(failed(StoreErrorKind::Other, error.to_string())),
        }
    }

    fn guarantees(&self) -> Guarantees {
        self.0.guarantees()
    }
    fn claim_next(&self, ask: &ClaimRequest) -> Result<Batch<i64, Job>, StoreError> {
        self.0.claim_next(ask)
    }
    fn renew(&self, claim: &mut Claim<i64>, lease: Duration) -> Result<(), RenewError> {
        self.0.renew(claim, lease)
    }
    fn renew_all(&self, claims: &[ClaimToken<i64>], lease: Duration) -> Result<Vec<Renewal>, StoreError> {
        self.0.renew_all(claims, lease)
    }
    fn settle(&self, claim: Claim<i64>, verdict: Verdict) -> Result<Receipt, SettleError<i64>> {
        self.0.settle(claim, verdict)
    }
    fn settle_all(&self, settled: Vec<(Claim<i64>, Verdict)>) -> Vec<Result<Receipt, SettleError<i64>>> {
        self.0.settle_all(settled)
    }
    fn settle_and_claim(
        &self,
        settled: Vec<(Claim<i64>, Verdict)>,
        ask: &ClaimRequest,
    ) -> SettledAndClaimed<i64, Job> {
        self.0.settle_and_claim(settled, ask)
    }
    fn resume(&self, token: &ClaimToken<i64>) -> Result<Claim<i64>, RenewError> {
        self.0.resume(token)
    }
}

impl RecoverStore for ThreeSteps {
    fn recover(&self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<i64>, StoreError> {
        self.0.recover(policy, limit)
    }
    fn preview(&self, policy: &RecoveryPolicy, limit: usize) -> Result<RecoveryPreview<i64>, StoreError> {
        self.0.preview(policy, limit)
    }
}
