//! Which rows in memory a filter means.

use claimstore_core::{Filter, InputError, Sighting, State, Timestamp};

use super::{MemoryKey, MemoryStore, TABLE};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    /// Refuses a condition on a column that the table does not have.
    pub(super) fn check_filter(&self, filter: &Filter) -> Result<(), InputError> {
        filter.check()?;
        let columns = &self.columns;
        if filter.queue_name().is_some() && !columns.queue {
            return Err(InputError::NoQueueColumn { table: TABLE });
        }
        let missing = |column, what| Err(InputError::NoColumn { table: TABLE, column, what });
        if filter.kind_name().is_some() && !columns.kind {
            return missing("kind", "a filter by kind");
        }
        if filter.worker_id().is_some() && !columns.worker {
            return missing("worker", "a filter by worker");
        }
        if filter.least_age().is_none() {
            return Ok(());
        }
        for state in columns.words.iter().filter(|state| means(filter, **state)) {
            let (stored, column) = match state {
                State::Pending => (columns.due, "due"),
                State::Running | State::Uncertain => (columns.claimed_at, "claimed_at"),
                _ => (columns.finished, "finished_at"),
            };
            if !stored {
                return missing(column, "a filter by age");
            }
        }
        Ok(())
    }
}

/// Whether the filter means rows in this state.
fn means(filter: &Filter, state: State) -> bool {
    filter.states().is_empty() || filter.states().contains(&state)
}

/// Whether the filter means this row.
pub(super) fn matches<K>(filter: &Filter, row: &Sighting<K>) -> bool {
    let same = |wanted: Option<&str>, is: Option<&str>| wanted.is_none() || wanted == is;
    let old_enough = |age| stands_since(row).is_some_and(|since| since < row.clock.before(age));
    means(filter, row.state)
        && same(filter.queue_name(), row.queue.as_deref())
        && same(filter.kind_name(), row.kind.as_deref())
        && filter.worker_id().is_none_or(|worker| row.worker.as_ref() == Some(worker))
        && filter.least_age().is_none_or(old_enough)
}

/// Since when it has stood so.
fn stands_since<K>(row: &Sighting<K>) -> Option<Timestamp> {
    match row.state {
        State::Pending => row.due,
        State::Running | State::Uncertain => row.claimed_at,
        _ => row.finished_at,
    }
}
