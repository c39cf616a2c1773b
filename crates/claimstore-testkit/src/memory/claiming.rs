//! Claiming rows in memory, and the trait that offers it all.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use claimstore_core::{
    Batch, Claim, ClaimOutcome, ClaimParts, ClaimRequest, ClaimStore, ClaimToken, Claimed, Guarantees,
    Happened, InputError, LocalInstant, Receipt, Refusal, RenewError, Renewal, SettleError,
    SettledAndClaimed, State, StoreError, Timestamp, Verdict,
};

use super::{MemoryKey, MemoryRow, MemoryStore, TABLE, Table};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    /// Writes a claim on a row that may be claimed.
    fn grant(&self, table: &mut Table<K, R>, key: &K, ask: &ClaimRequest, now: Timestamp) -> Claimed<K, R> {
        let columns = &self.columns;
        let row = table.rows.get_mut(key).expect("it was just looked at");
        row.state = State::Running;
        row.fence = row.fence.raised().expect("a row whose fence cannot rise is exhausted");
        row.worker = columns.worker.then(|| ask.worker().clone());
        row.claimed_at = columns.claimed_at.then_some(now);
        row.lease = columns.lease.then(|| now.after(ask.lease_span()));
        let parts = ClaimParts {
            key: key.clone(),
            fence: row.fence,
            worker: ask.worker().clone(),
            until: row.lease,
            tally: row.tally,
            budget: row.budget,
            discard: self.discards(&table.settings, row),
        };
        let (read, fence) = (row.row.clone(), row.fence);
        let claim = Claim::granted(parts, LocalInstant::now(), columns.lease.then(|| ask.lease_span()));
        self.note_all(table, key, Some(ask.worker()), fence, Happened::Claimed {});
        Claimed { row: read, claim }
    }

    /// The queues to look in; `None` where the table has no queues.
    fn queues(&self, ask: &ClaimRequest) -> Result<Option<Vec<String>>, InputError> {
        match (self.columns.queue, ask.named_queues()) {
            (true, _) => Ok(Some(ask.queue_list())),
            (false, None) => Ok(None),
            (false, Some(_)) => Err(InputError::NoQueueColumn { table: TABLE }),
        }
    }

    /// Claims the next rows that are not among `passed_over`; those only count as waiting.
    fn claim_among(
        &self,
        table: &mut Table<K, R>,
        ask: &ClaimRequest,
        passed_over: &HashSet<K>,
    ) -> Result<Batch<K, R>, StoreError> {
        ask.check()?;
        let (queues, now, columns) = (self.queues(ask)?, self.now(), &self.columns);
        let in_queue = |row: &MemoryRow<R>| queues.as_ref().is_none_or(|names| names.contains(&row.queue));
        let mut waiting: Vec<(&K, &MemoryRow<R>)> = table
            .rows
            .iter()
            .filter(|(_, row)| row.is_claimable() && in_queue(row) && !self.is_paused(&table.settings, row))
            .collect();
        waiting.sort_by_key(|(key, row)| {
            let priority = Reverse(if columns.priority { row.priority } else { 0 });
            (priority, columns.due_orders.then_some(row.due), *key)
        });
        let (mut ready, mut next_due) = (Vec::new(), None);
        for (key, row) in waiting {
            if ready.len() == ask.limit_rows() {
                break;
            }
            if !passed_over.contains(key) && row.is_due(columns, now) {
                ready.push(key.clone());
            } else if columns.due {
                next_due = Some(next_due.map_or(row.due, |other: Timestamp| other.min(row.due)));
            }
        }
        let claimed: Vec<_> = ready.iter().map(|key| self.grant(table, key, ask, now)).collect();
        let next_due = next_due.filter(|_| claimed.len() < ask.limit_rows());
        Ok(Batch { claimed, next_due })
    }
}

impl<K: MemoryKey, R: Clone + Send + Sync + 'static> ClaimStore for MemoryStore<K, R> {
    type Key = K;
    type Row = R;

    fn guarantees(&self) -> Guarantees {
        self.promises()
    }

    fn claim(&self, key: &K, ask: &ClaimRequest) -> Result<ClaimOutcome<K, R>, StoreError> {
        ask.check()?;
        let (mut table, now) = (self.table(), self.now());
        let Some(row) = table.rows.get(key) else {
            return Ok(ClaimOutcome::Refused(Refusal::Missing));
        };
        Ok(match row.refusal(&self.columns, now, self.is_paused(&table.settings, row)) {
            Some(why) => ClaimOutcome::Refused(why),
            None => ClaimOutcome::Claimed(self.grant(&mut table, key, ask, now)),
        })
    }

    fn claim_next(&self, ask: &ClaimRequest) -> Result<Batch<K, R>, StoreError> {
        self.claim_among(&mut self.table(), ask, &HashSet::new())
    }

    fn renew(&self, claim: &mut Claim<K>, lease: Duration) -> Result<(), RenewError> {
        self.renew_one(&mut self.table(), claim, lease)
    }

    fn renew_all(&self, claims: &[ClaimToken<K>], lease: Duration) -> Result<Vec<Renewal>, StoreError> {
        self.renew_each(&mut self.table(), claims, lease)
    }

    fn settle(&self, claim: Claim<K>, verdict: Verdict) -> Result<Receipt, SettleError<K>> {
        self.settle_one(&mut self.table(), claim, &verdict)
    }

    fn settle_all(&self, settled: Vec<(Claim<K>, Verdict)>) -> Vec<Result<Receipt, SettleError<K>>> {
        self.settle_each(&mut self.table(), settled)
    }

    /// Passes over every row that is named in the settling half, whatever became of it.
    fn settle_and_claim(
        &self,
        settled: Vec<(Claim<K>, Verdict)>,
        ask: &ClaimRequest,
    ) -> SettledAndClaimed<K, R> {
        let mut table = self.table();
        let named = settled.iter().map(|(claim, _)| claim.key().clone()).collect();
        let settled = self.settle_each(&mut table, settled);
        SettledAndClaimed { settled, claimed: self.claim_among(&mut table, ask, &named) }
    }

    fn resume(&self, token: &ClaimToken<K>) -> Result<Claim<K>, RenewError> {
        self.resume_from(&mut self.table(), token)
    }
}
