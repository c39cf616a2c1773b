//! The whole contract behind one mutex: the model that other stores are compared with.

mod claiming;
mod events;
mod filter;
mod harness;
mod inspecting;
mod operating;
mod queues;
mod recovering;
mod retaining;
mod row;
mod settling;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

use claimstore_core::{Event, Guarantees, History, Pausable, RetryPolicy, RowLocks, Timestamp};

pub use harness::MemoryHarness;
pub use row::MemoryRow;

use queues::Setting;

use crate::{Clock, Columns, HostClock};

const TABLE: &str = "memory";

/// What can be a key in memory.
pub trait MemoryKey: Clone + Ord + Hash + Debug + Send + Sync + 'static {}
impl<K: Clone + Ord + Hash + Debug + Send + Sync + 'static> MemoryKey for K {}

/// A store in this process's memory, for keys `K` and rows that carry an `R`.
///
/// It keeps every promise of the contract, also the weaker ones of a table with fewer
/// [`Columns`]. It forgets everything with the process, so it is for tests.
pub struct MemoryStore<K, R> {
    columns: Columns,
    retry: RetryPolicy,
    clock: Arc<dyn Clock>,
    recorded: History,
    table: Arc<Mutex<Table<K, R>>>,
}

/// The rows, and beside them what is recorded of them and what is set for their queues and kinds.
struct Table<K, R> {
    rows: BTreeMap<K, MemoryRow<R>>,
    events: Vec<Event>,
    /// The id of the next event; those of deleted ones are not used again.
    next_event: i64,
    settings: BTreeMap<Pausable, Setting>,
}

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    /// Empty, with all columns, the default retry policy and the host's clock.
    #[must_use]
    pub fn new() -> MemoryStore<K, R> {
        MemoryStore {
            columns: Columns::all(),
            retry: RetryPolicy::default(),
            clock: Arc::new(HostClock),
            recorded: History::Notable,
            table: Arc::new(Mutex::new(Table {
                rows: BTreeMap::new(),
                events: Vec::new(),
                next_event: 1,
                settings: BTreeMap::new(),
            })),
        }
    }

    /// As a table with these columns would be.
    #[must_use]
    pub fn columns(self, columns: Columns) -> MemoryStore<K, R> {
        MemoryStore { columns, ..self }
    }

    /// With this policy for failures.
    #[must_use]
    pub fn retry(self, retry: RetryPolicy) -> MemoryStore<K, R> {
        MemoryStore { retry, ..self }
    }

    /// Judging by this clock.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> MemoryStore<K, R> {
        MemoryStore { clock: Arc::new(clock), ..self }
    }

    /// Recording this much.
    #[must_use]
    pub fn recording(self, recorded: History) -> MemoryStore<K, R> {
        MemoryStore { recorded, ..self }
    }

    /// Another store over the same rows.
    #[must_use]
    pub fn twin(&self) -> MemoryStore<K, R> {
        MemoryStore {
            columns: self.columns.clone(),
            retry: self.retry,
            clock: Arc::clone(&self.clock),
            recorded: self.recorded,
            table: Arc::clone(&self.table),
        }
    }

    /// Now, by the clock that decides.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Puts a row, in place of one that had this key.
    pub fn put(&self, key: K, row: MemoryRow<R>) {
        self.table().rows.insert(key, row);
    }

    /// Takes a row out, whatever its state.
    pub fn remove(&self, key: &K) -> Option<MemoryRow<R>> {
        self.table().rows.remove(key)
    }

    /// A copy of a row.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<MemoryRow<R>> {
        self.table().rows.get(key).cloned()
    }

    /// A copy of every row, in key order.
    #[must_use]
    pub fn all(&self) -> Vec<(K, MemoryRow<R>)> {
        self.table().rows.iter().map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    /// Changes a row past all rules, as SQL by hand would. Says whether there was one.
    pub fn edit(&self, key: &K, change: impl FnOnce(&mut MemoryRow<R>)) -> bool {
        self.table().rows.get_mut(key).map(change).is_some()
    }

    /// A copy of every event, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.table().events.clone()
    }

    /// Changes every event past all rules, as SQL by hand would.
    pub fn edit_events(&self, change: impl FnMut(&mut Event)) {
        self.table().events.iter_mut().for_each(change);
    }

    fn promises(&self) -> Guarantees {
        let columns = &self.columns;
        Guarantees {
            backend: "memory",
            table: TABLE,
            locks: RowLocks::Process,
            clock: "the store's own",
            leases: columns.lease,
            holders: columns.worker,
            due_times: columns.due,
            failure_budget: columns.failures,
            crash_budget: columns.crashes,
            late_writers: columns.late_writers,
            pauses: columns.pauses,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table<K, R>> {
        self.table.lock().expect("nobody panics while holding the table")
    }
}

impl<K: MemoryKey, R: Clone> Default for MemoryStore<K, R> {
    fn default() -> Self {
        MemoryStore::new()
    }
}
