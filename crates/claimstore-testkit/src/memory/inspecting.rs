//! Looking at rows in memory.

use std::cmp::{Ordering, Reverse};
use std::time::Duration;

use claimstore_core::{
    Count, Counts, Cursor, Explanation, Happened, InspectStore, LateWrite, Page, PageOrder, PageRequest,
    Sighting, State, StoreError, Timestamp, Why,
};

use super::filter::matches;
use super::{MemoryKey, MemoryStore, Table};

/// How many late writers an explanation names.
const LATE: usize = 10;

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    pub(super) fn sight(&self, table: &Table<K, R>, key: &K) -> Option<Sighting<K>> {
        let row = table.rows.get(key)?;
        Some(row.sighting(key.clone(), &self.columns, self.is_paused(&table.settings, row), self.now()))
    }

    /// Every row, in key order.
    pub(super) fn sight_all(&self, table: &Table<K, R>) -> Vec<Sighting<K>> {
        table.rows.keys().filter_map(|key| self.sight(table, key)).collect()
    }

    /// Counts up to the cap.
    fn count(&self, rows: impl Iterator<Item = Sighting<K>>, cap: u32) -> Count {
        let (cap, found) = (u64::from(cap), rows.take(cap as usize + 1).count() as u64);
        if found > cap { Count::MoreThan(cap) } else { Count::Exactly(found) }
    }
}

/// How two rows follow each other. Those without a time come after those with one, by key alone.
fn compare<K: Ord>(
    order: PageOrder,
    one: (Option<Timestamp>, &K),
    other: (Option<Timestamp>, &K),
) -> Ordering {
    let timeless = one.0.is_none().cmp(&other.0.is_none());
    let place = match order.descends() {
        true => Reverse(one).cmp(&Reverse(other)),
        false => one.cmp(&other),
    };
    timeless.then(place)
}

impl<K: MemoryKey, R: Clone + Send + Sync + 'static> InspectStore for MemoryStore<K, R> {
    fn show(&self, key: &K) -> Result<Option<Sighting<K>>, StoreError> {
        Ok(self.sight(&self.table(), key))
    }

    fn read(&self, key: &K) -> Result<Option<R>, StoreError> {
        Ok(self.table().rows.get(key).map(|row| row.row.clone()))
    }

    fn page(&self, ask: &PageRequest<K>) -> Result<Page<K>, StoreError> {
        ask.check()?;
        self.check_filter(ask.filter())?;
        let order = PageOrder::of(ask.filter().states());
        let after = |row: &Sighting<K>, cursor: &Cursor<K>| {
            compare(order, (order.time(row), &row.key), (cursor.at, &cursor.key)).is_gt()
        };
        let mut rows = self.sight_all(&self.table());
        rows.retain(|row| matches(ask.filter(), row) && ask.cursor().is_none_or(|cursor| after(row, cursor)));
        rows.sort_by(|one, other| {
            compare(order, (order.time(one), &one.key), (order.time(other), &other.key))
        });
        let more = rows.len() > ask.limit_rows();
        rows.truncate(ask.limit_rows());
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| Cursor { at: order.time(row), key: row.key.clone() });
        Ok(Page { rows, next })
    }

    fn counts(&self, cap: u32) -> Result<Counts, StoreError> {
        Counts::check_cap(cap)?;
        let (rows, clock) = (self.sight_all(&self.table()), self.now());
        let known = State::ALL.into_iter().filter(|state| self.columns.has_word(*state));
        let of = |state| rows.iter().filter(move |row| row.state == state).cloned();
        let states = known.map(|state| (state, self.count(of(state), cap))).collect();
        let oldest_due = of(State::Pending).filter_map(|row| row.due).filter(|due| *due <= clock).min();
        let a_minute_ago = clock.before(Duration::from_secs(60));
        let recent = |row: &Sighting<K>| row.finished_at.is_some_and(|at| at > a_minute_ago);
        let completed_last_minute = self.count(of(State::Completed).filter(recent), cap);
        Ok(Counts { clock, states, oldest_due, completed_last_minute })
    }

    fn explain(&self, key: &K) -> Result<Explanation<K>, StoreError> {
        let table = self.table();
        let row = self.sight(&table, key);
        let printed = format!("{key:?}");
        let late = table.events_of(&printed).filter_map(|event| match &event.what {
            Happened::LateWriter(late) => Some(late.clone()),
            _ => None,
        });
        // Of a row that is gone nobody has to decide anything.
        let most = if row.is_some() { LATE } else { 0 };
        let late: Vec<LateWrite> = late.take(most).collect();
        Ok(Explanation { why: Why::of(row.as_ref(), false, self.columns.due), row, lock: None, late })
    }
}
