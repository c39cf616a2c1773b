//! The memory store under test, in three shapes of table.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use claimstore_core::{Budget, Event, Fence, History, State, Tally, Timestamp};

use super::{MemoryKey, MemoryRow, MemoryStore};
use crate::{Clock, Columns, Due, Harness, ManualClock, Seed, Snapshot};

/// A memory store with a clock that stands still but for [`advance`](MemoryHarness::advance).
pub struct MemoryHarness<K> {
    store: MemoryStore<K, ()>,
    clock: ManualClock,
    columns: Columns,
    next: AtomicU32,
    key: fn(u32) -> K,
}

impl MemoryHarness<i64> {
    /// Everything stored, as in the built-in job table.
    #[must_use]
    pub fn jobs() -> MemoryHarness<i64> {
        MemoryHarness::shaped(Columns::all(), i64::from)
    }

    /// Key, state and fence, and nothing more.
    #[must_use]
    pub fn minimal() -> MemoryHarness<i64> {
        MemoryHarness::shaped(Columns::minimal(), i64::from)
    }
}

impl MemoryHarness<String> {
    /// A text key, with holder, lease, due time and priority, but no queues and no counts.
    #[must_use]
    pub fn invoices() -> MemoryHarness<String> {
        let minimal = Columns::minimal();
        let words = [State::Pending, State::Running, State::Completed, State::Dead].to_vec();
        let columns = Columns { worker: true, lease: true, due: true, priority: true, words, ..minimal };
        MemoryHarness::shaped(columns, |n| format!("INV-{n:06}"))
    }
}

impl<K: MemoryKey> MemoryHarness<K> {
    /// A table with these columns, whose n-th key is `key(n)`, rising with n.
    #[must_use]
    pub fn shaped(columns: Columns, key: fn(u32) -> K) -> MemoryHarness<K> {
        let clock = ManualClock::default();
        let store = MemoryStore::new().columns(columns.clone()).clock(clock.clone());
        MemoryHarness { store, clock, columns, next: AtomicU32::new(1), key }
    }

    /// Moves the deciding clock on.
    pub fn advance(&self, span: Duration) {
        self.clock.advance(span);
    }

    fn row(&self, seed: Seed) -> MemoryRow<()> {
        assert_ne!(seed.state, State::Running, "a running row is made by claiming it");
        let columns = &self.columns;
        let due = match seed.due {
            Due::Ago(span) => self.clock.now().before(span),
            Due::In(span) => self.clock.now().after(span),
        };
        MemoryRow {
            queue: seed.queue,
            kind: seed.kind,
            priority: seed.priority,
            state: seed.state,
            fence: seed.fence,
            tally: columns.kept(seed.tally),
            budget: if columns.budgets { seed.budget } else { Budget::default() },
            idempotent: seed.idempotent || !columns.idempotent,
            ..MemoryRow::pending((), due)
        }
    }

    fn edit(&self, key: &K, change: impl FnOnce(&mut MemoryRow<()>)) {
        assert!(self.store.edit(key, change), "there is no row {key:?}");
    }
}

impl<K: MemoryKey> Harness for MemoryHarness<K> {
    type Store = MemoryStore<K, ()>;

    fn store(&self) -> &Self::Store {
        &self.store
    }

    fn columns(&self) -> Columns {
        self.columns.clone()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn seed(&self, seed: Seed) -> K {
        let key = (self.key)(self.next.fetch_add(1, Ordering::SeqCst));
        self.store.put(key.clone(), self.row(seed));
        key
    }

    fn seed_again(&self, key: &K, seed: Seed) {
        assert!(self.store.get(key).is_none(), "the row {key:?} is still there");
        self.store.put(key.clone(), self.row(seed));
    }

    fn read(&self, key: &K) -> Option<Snapshot> {
        let (row, columns) = (self.store.get(key)?, &self.columns);
        Some(Snapshot {
            state: row.state,
            fence: row.fence,
            worker: row.worker.map(String::from),
            claimed_at: row.claimed_at,
            lease: row.lease,
            priority: columns.priority.then_some(row.priority),
            due: columns.due.then_some(row.due),
            failures: columns.failures.then_some(row.tally.failures),
            crashes: columns.crashes.then_some(row.tally.crashes),
            interruptions: columns.interruptions.then_some(row.tally.interruptions),
            last_error: row.last_error.filter(|_| columns.last_error),
            finished: row.finished.filter(|_| columns.finished),
        })
    }

    fn count_in(&self, state: State) -> usize {
        self.store.all().iter().filter(|(_, row)| row.state == state).count()
    }

    fn events(&self) -> Vec<Event> {
        self.store.events()
    }

    fn expire(&self, key: &K, by: Duration) {
        let end = self.columns.lease.then(|| self.clock.now().before(by));
        self.edit(key, |row| row.lease = end);
    }

    fn make_due(&self, key: &K) {
        self.clock.advance(Duration::from_micros(1));
        let now = self.clock.now();
        self.edit(key, |row| row.due = now);
    }

    fn age(&self, key: &K, by: Duration) {
        let (since, columns) = (self.clock.now().before(by), &self.columns);
        self.edit(key, |row| match row.state {
            State::Pending => row.due = since,
            State::Running | State::Uncertain => row.claimed_at = columns.claimed_at.then_some(since),
            _ => row.finished = Some(since),
        });
    }

    fn age_events(&self, by: Duration) {
        self.store.edit_events(|event| event.at = event.at.before(by));
    }

    fn delete(&self, key: &K) {
        assert!(self.store.remove(key).is_some(), "there is no row {key:?}");
    }

    fn set_fence(&self, key: &K, fence: Fence) {
        self.edit(key, |row| row.fence = fence);
    }

    fn set_tally(&self, key: &K, tally: Tally) {
        let kept = self.columns.kept(tally);
        self.edit(key, |row| row.tally = kept);
    }

    fn telling_all(&self) -> Self::Store {
        self.store.twin().recording(History::All)
    }

    fn rounds(&self) -> usize {
        500
    }
}
