//! Ending abandoned claims in memory.

use claimstore_core::{
    ClaimRequest, Expired, Happened, InputError, RecoverStore, Recovered, RecoveredRow, RecoveryAction,
    RecoveryPolicy, RecoveryPreview, StoreError, Timestamp, WorkerId,
};

use super::{MemoryKey, MemoryStore, TABLE, Table};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    fn check_recovery(&self, policy: &RecoveryPolicy, limit: usize) -> Result<(), InputError> {
        policy.check()?;
        let anybody = WorkerId::new("recovery").expect("a valid name");
        ClaimRequest::new(&anybody).limit(limit).check()?;
        if !self.columns.lease {
            return Err(InputError::NoColumn { table: TABLE, column: "lease", what: "recovery" });
        }
        Ok(())
    }

    /// Expired rows, the longest expired first, and what is to become of each.
    fn abandoned(
        &self,
        table: &Table<K, R>,
        policy: &RecoveryPolicy,
        now: Timestamp,
    ) -> Vec<(Expired<K>, RecoveryAction)> {
        let latest = now.before(policy.grace_span());
        let mut found: Vec<_> =
            table.rows.iter().filter_map(|(key, row)| row.expired(key.clone(), latest)).collect();
        found.sort_by_key(|row| row.until);
        let has_word = |state| self.columns.has_word(state);
        let decided = |row: Expired<K>| {
            let action = match row.fence.can_rise() {
                true => policy.decide(&row, has_word, fastrand::f64()),
                false => RecoveryAction::Leave,
            };
            (row, action)
        };
        found.into_iter().map(decided).collect()
    }

    /// Writes what was decided. The table has been locked since the look, so nothing has changed.
    fn take(
        &self,
        table: &mut Table<K, R>,
        seen: Expired<K>,
        action: RecoveryAction,
        now: Timestamp,
    ) -> Option<RecoveredRow<K>> {
        let (to, row) = (action.state()?, table.rows.get_mut(&seen.key)?);
        row.fence = row.fence.raised()?;
        row.leave_running(to, now);
        row.tally.crashes = row.tally.crashes.saturating_add(1);
        row.tally = self.columns.kept(row.tally);
        row.last_error = Some(RecoveryAction::ABANDONED.to_owned());
        if let RecoveryAction::Requeue(delay) = action {
            row.due = now.after(delay);
        }
        let fence = row.fence;
        let recovered = Happened::Recovered { to, crashes: seen.tally.crashes.saturating_add(1) };
        self.note(table, format!("{:?}", seen.key), seen.worker.as_ref(), fence, recovered);
        Some(RecoveredRow { key: seen.key, fence, worker: seen.worker, action })
    }
}

impl<K: MemoryKey, R: Clone + Send + Sync + 'static> RecoverStore for MemoryStore<K, R> {
    fn recover(&self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<K>, StoreError> {
        self.check_recovery(policy, limit)?;
        let (mut table, now) = (self.table(), self.now());
        let mut done = Recovered { rows: Vec::new(), left: 0, failed: Vec::new() };
        for (seen, action) in self.abandoned(&table, policy, now) {
            if done.rows.len() == limit {
                break;
            }
            match self.take(&mut table, seen, action, now) {
                Some(row) => done.rows.push(row),
                None => done.left += 1,
            }
        }
        Ok(done)
    }

    fn preview(&self, policy: &RecoveryPolicy, limit: usize) -> Result<RecoveryPreview<K>, StoreError> {
        self.check_recovery(policy, limit)?;
        let table = self.table();
        let mut rows = self.abandoned(&table, policy, self.now());
        rows.truncate(limit);
        Ok(RecoveryPreview { rows })
    }
}
