//! Deleting from memory what has been kept for long enough.

use std::time::Duration;

use claimstore_core::{InputError, Pruned, RetainStore, Retention, State, StoreError, check_limit};

use super::{MemoryKey, MemoryStore, TABLE, Table};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    fn check_retention(&self, retention: &Retention, limit: usize) -> Result<(), InputError> {
        retention.check()?;
        check_limit(limit)?;
        let of_rows = State::ALL.into_iter().any(|state| retention.age_of(state).is_some());
        if of_rows && !self.columns.finished {
            let (column, what) = ("finished_at", "retention of rows");
            return Err(InputError::NoColumn { table: TABLE, column, what });
        }
        retention.events_age().map_or(Ok(()), |_| self.keeps_events())
    }

    /// Deletes the rows of this state that finished longest ago, at most so many.
    fn prune_rows(&self, table: &mut Table<K, R>, state: State, age: Duration, limit: usize) -> usize {
        let latest = self.now().before(age);
        let in_state = table.rows.iter().filter(|(_, row)| row.state == state);
        let mut old: Vec<_> = in_state
            .filter_map(|(key, row)| Some((row.finished.filter(|at| *at < latest)?, key.clone())))
            .collect();
        old.sort();
        old.truncate(limit);
        old.iter().for_each(|(_, key)| drop(table.rows.remove(key)));
        old.len()
    }

    fn prune_events(&self, table: &mut Table<K, R>, age: Duration, limit: usize) -> usize {
        let (latest, mut taken) = (self.now().before(age), 0);
        table.events.retain(|event| {
            let goes = taken < limit && event.at < latest;
            taken += usize::from(goes);
            !goes
        });
        taken
    }
}

impl<K: MemoryKey, R: Clone + Send + Sync + 'static> RetainStore for MemoryStore<K, R> {
    fn prune(&self, retention: &Retention, limit: usize) -> Result<Pruned, StoreError> {
        self.check_retention(retention, limit)?;
        let (mut table, mut pruned) = (self.table(), Pruned::default());
        for state in State::ALL {
            let Some(age) = retention.age_of(state) else { continue };
            let rows = self.prune_rows(&mut table, state, age, limit);
            pruned.rows += rows;
            pruned.more |= rows == limit;
        }
        if let Some(age) = retention.events_age() {
            pruned.events = self.prune_events(&mut table, age, limit);
            pruned.more |= pruned.events == limit;
        }
        Ok(pruned)
    }
}
