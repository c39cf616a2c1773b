//! The whole contract behind one mutex: the model that other stores are compared with.

mod claiming;
mod harness;
mod recovering;
mod row;
mod settling;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

use claimstore_core::{Guarantees, LateWrite, RetryPolicy, RowLocks, Timestamp};

pub use harness::MemoryHarness;
pub use row::MemoryRow;

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
    table: Mutex<Table<K, R>>,
}

/// The rows, and beside them the refused late writers.
struct Table<K, R> {
    rows: BTreeMap<K, MemoryRow<R>>,
    late: Vec<LateWrite>,
}

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    /// Empty, with all columns, the default retry policy and the host's clock.
    #[must_use]
    pub fn new() -> MemoryStore<K, R> {
        MemoryStore {
            columns: Columns::all(),
            retry: RetryPolicy::default(),
            clock: Arc::new(HostClock),
            table: Mutex::new(Table { rows: BTreeMap::new(), late: Vec::new() }),
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

    /// The refused late writers, oldest first.
    #[must_use]
    pub fn late_writers(&self) -> Vec<LateWrite> {
        self.table().late.clone()
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
