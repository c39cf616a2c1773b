//! Ending and extending claims in memory, each write under the guard.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use claimstore_core::{
    Again, AlreadySettled, Claim, ClaimParts, ClaimRequest, ClaimToken, Fence, Fenced, Happened, InputError,
    LateWrite, LocalInstant, Now, Receipt, RenewError, Renewal, Seen, SettleCause, SettleError, Settlement,
    State, StoreError, Timestamp, Verdict, WorkerId, explain_unsettled,
};

use super::{MemoryKey, MemoryStore, TABLE, Table};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    pub(super) fn settle_each(
        &self,
        table: &mut Table<K, R>,
        settled: Vec<(Claim<K>, Verdict)>,
    ) -> Vec<Result<Receipt, SettleError<K>>> {
        match twice(settled.iter().map(|(claim, _)| (claim.key(), claim.fence()))) {
            None => {
                settled.into_iter().map(|(claim, verdict)| self.settle_one(table, claim, &verdict)).collect()
            }
            Some(double) => settled
                .into_iter()
                .map(|(claim, _)| Err(SettleError::new(SettleCause::Store(double.clone().into()), claim)))
                .collect(),
        }
    }

    pub(super) fn settle_one(
        &self,
        table: &mut Table<K, R>,
        claim: Claim<K>,
        verdict: &Verdict,
    ) -> Result<Receipt, SettleError<K>> {
        self.write_verdict(table, &claim, verdict).map_err(|cause| SettleError::new(cause, claim))
    }

    fn write_verdict(
        &self,
        table: &mut Table<K, R>,
        claim: &Claim<K>,
        verdict: &Verdict,
    ) -> Result<Receipt, SettleCause> {
        self.check(verdict).map_err(refused)?;
        let now = self.now();
        let mut want = verdict.settlement(&claim.tally(), &claim.budget(), &self.retry, fastrand::f64());
        // A count that the table does not keep must not make a repeated verdict look like another one.
        want.tally = self.columns.kept(want.tally);
        if !self.columns.has_word(want.to) {
            return Err(refused(InputError::NoWord { table: TABLE, state: want.to }));
        }
        match table.rows.get_mut(claim.key()) {
            Some(row) if row.is_held(&self.columns, claim.fence(), claim.worker()) => {
                if claim.discards() && want.to == State::Completed {
                    table.rows.remove(claim.key());
                } else {
                    row.settle(&self.columns, &want, now);
                }
                self.note_settled(table, claim, verdict, &want);
                Ok(Receipt { state: want.to, already: false })
            }
            _ => {
                let (key, seen) = (format!("{:?}", claim.key()), self.look(table, claim.key()));
                let told = explain_unsettled(TABLE, key, claim.fence(), &want, seen.as_ref());
                told.map_err(|cause| match cause {
                    SettleCause::Fenced(fenced) => SettleCause::Fenced(self.note_late(
                        table,
                        fenced,
                        claim.worker(),
                        verdict.verb(),
                        verdict.error(),
                    )),
                    other => other,
                })
            }
        }
    }

    /// A failure is worth an event; what else a verdict says is so only where everything is.
    fn note_settled(&self, table: &mut Table<K, R>, claim: &Claim<K>, verdict: &Verdict, to: &Settlement) {
        let (worker, fence) = (Some(claim.worker()), claim.fence());
        if verdict.error().is_some() {
            let failed = Happened::Failed { to: to.to, error: to.error.clone(), tally: to.tally };
            self.note(table, format!("{:?}", claim.key()), worker, fence, failed);
        } else {
            let settled = Happened::Settled { verb: verdict.verb().to_owned(), to: to.to };
            self.note_all(table, claim.key(), worker, fence, settled);
        }
    }

    /// Refuses what the table cannot hold.
    fn check(&self, verdict: &Verdict) -> Result<(), InputError> {
        verdict.check()?;
        let needs_due = match verdict {
            Verdict::Snooze(_) => Some("a snooze"),
            Verdict::Fail { again: Again::After(_), .. } => Some("a delay"),
            _ => None,
        };
        match needs_due {
            Some(what) if !self.columns.due => {
                Err(InputError::NoColumn { table: TABLE, column: "due", what })
            }
            _ => Ok(()),
        }
    }

    /// Records a refused writer where the table keeps them, and hands it back where it does not.
    fn note_late(
        &self,
        table: &mut Table<K, R>,
        mut fenced: Box<Fenced>,
        worker: &WorkerId,
        verb: &str,
        error: Option<&str>,
    ) -> Box<Fenced> {
        let late = LateWrite {
            table: TABLE.to_owned(),
            key: fenced.key.clone(),
            worker: worker.clone(),
            held: fenced.held,
            now: fenced.now.clone(),
            verb: verb.to_owned(),
            error: error.map(ToOwned::to_owned),
        };
        if self.columns.late_writers {
            let key = fenced.key.clone();
            self.note(table, key, Some(worker), fenced.held, Happened::LateWriter(late));
        } else {
            fenced.late = Some(Box::new(late));
        }
        fenced
    }

    pub(super) fn renew_one(
        &self,
        table: &mut Table<K, R>,
        claim: &mut Claim<K>,
        lease: Duration,
    ) -> Result<(), RenewError> {
        let asked = LocalInstant::now();
        let until = self.extend(table, &claim.token(), lease)?;
        claim.extended(until, asked, lease);
        Ok(())
    }

    pub(super) fn renew_each(
        &self,
        table: &mut Table<K, R>,
        claims: &[ClaimToken<K>],
        lease: Duration,
    ) -> Result<Vec<Renewal>, StoreError> {
        if let Some(double) = twice(claims.iter().map(|token| (&token.key, token.fence))) {
            return Err(double.into());
        }
        let answer = |token| match self.extend(table, token, lease) {
            Ok(until) => Ok(Renewal::Renewed(until)),
            Err(RenewError::Fenced(fenced)) => Ok(Renewal::Fenced(fenced)),
            Err(RenewError::AlreadySettled(settled)) => Ok(Renewal::AlreadySettled(settled.state)),
            Err(RenewError::Store(error)) => Err(error),
            Err(_) => Ok(Renewal::Busy),
        };
        claims.iter().map(answer).collect()
    }

    /// Lets the lease end `lease` from now; without a lease column it only confirms the claim.
    fn extend(
        &self,
        table: &mut Table<K, R>,
        token: &ClaimToken<K>,
        lease: Duration,
    ) -> Result<Option<Timestamp>, RenewError> {
        ClaimRequest::new(&token.worker).lease(lease).check().map_err(|bad| RenewError::Store(bad.into()))?;
        match table.rows.get_mut(&token.key) {
            Some(row) if row.is_held(&self.columns, token.fence, &token.worker) => {
                row.lease = self.columns.lease.then(|| self.now().after(lease));
                Ok(row.lease)
            }
            _ => Err(self.why_not_held(table, token, "renew")),
        }
    }

    pub(super) fn resume_from(
        &self,
        table: &mut Table<K, R>,
        token: &ClaimToken<K>,
    ) -> Result<Claim<K>, RenewError> {
        match table.rows.get(&token.key) {
            Some(row) if row.is_held(&self.columns, token.fence, &token.worker) => {
                let parts = ClaimParts {
                    key: token.key.clone(),
                    fence: row.fence,
                    worker: token.worker.clone(),
                    until: row.lease,
                    tally: row.tally,
                    budget: row.budget,
                    discard: self.discards(&table.settings, row),
                };
                let left = row.lease.map(|end| self.now().until(end));
                Ok(Claim::granted(parts, LocalInstant::now(), left))
            }
            _ => Err(self.explain_unheld(table, token)),
        }
    }

    /// As [`explain_unheld`](Self::explain_unheld), and a lost claim is noted as a late writer.
    fn why_not_held(&self, table: &mut Table<K, R>, token: &ClaimToken<K>, verb: &str) -> RenewError {
        match self.explain_unheld(table, token) {
            RenewError::Fenced(fenced) => {
                RenewError::Fenced(self.note_late(table, fenced, &token.worker, verb, None))
            }
            other => other,
        }
    }

    fn look(&self, table: &Table<K, R>, key: &K) -> Option<Seen> {
        let row = table.rows.get(key)?;
        Some(row.seen(self.now(), self.is_paused(&table.settings, row)))
    }

    fn explain_unheld(&self, table: &Table<K, R>, token: &ClaimToken<K>) -> RenewError {
        let seen = self.look(table, &token.key);
        let (key, fence) = (format!("{:?}", token.key), token.fence);
        match seen {
            Some(seen) if seen.fence == fence && seen.state != State::Running => {
                RenewError::AlreadySettled(AlreadySettled { table: TABLE, key, fence, state: seen.state })
            }
            seen => {
                let now = Now::of(seen.as_ref());
                RenewError::Fenced(Box::new(Fenced { table: TABLE, key, held: fence, now, late: None }))
            }
        }
    }
}

fn refused(input: InputError) -> SettleCause {
    SettleCause::Store(input.into())
}

/// The first claim that stands twice in one batch.
fn twice<'k, K: MemoryKey + Hash>(claims: impl Iterator<Item = (&'k K, Fence)>) -> Option<InputError> {
    let mut seen = HashSet::new();
    let double = claims.into_iter().find(|claim| !seen.insert(*claim));
    double.map(|(key, _)| InputError::Twice { key: format!("{key:?}") })
}
