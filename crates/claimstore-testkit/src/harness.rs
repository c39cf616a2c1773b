//! A store under test.

use std::time::Duration;

use claimstore_core::{ClaimStore, Event, Fence, Happened, LateWrite, RecoverStore, State, Tally, Timestamp};

use crate::{Columns, Seed, Snapshot};

/// The key of a harness's table.
pub type Key<H> = <<H as Harness>::Store as ClaimStore>::Key;

/// A store under test, and beside it a way to prepare and read its rows that is *not* the store: raw
/// SQL over a connection of its own, say. What a store says of itself proves nothing.
///
/// A harness starts with an empty table that nobody else uses, and commits what it writes. Its methods
/// panic where they cannot do their work: a test that cannot run fails. Columns that the table does not
/// have are ignored when writing and `None` when reading.
pub trait Harness: Sync {
    /// The store. One over a table without a lease column refuses every recovery.
    type Store: RecoverStore;

    /// The store under test.
    fn store(&self) -> &Self::Store;

    /// Another way to the same rows, with connections of its own where the store has connections.
    fn other(&self) -> &Self::Store {
        self.store()
    }

    /// What the table stores.
    fn columns(&self) -> Columns;

    /// The clock that decides: the server's on PostgreSQL, the host's on SQLite.
    fn now(&self) -> Timestamp;

    /// Inserts a row. Each has a greater key than all before it, by the order the table claims in. A
    /// table with several pending words uses them in turn.
    fn seed(&self, seed: Seed) -> Key<Self>;

    /// Inserts rows, as [`seed`](Harness::seed) one by one does, but perhaps faster.
    fn seed_many(&self, seeds: Vec<Seed>) -> Vec<Key<Self>> {
        seeds.into_iter().map(|seed| self.seed(seed)).collect()
    }

    /// Inserts a row again under a key that was deleted.
    fn seed_again(&self, key: &Key<Self>, seed: Seed);

    /// The row now, or `None` where there is none.
    fn read(&self, key: &Key<Self>) -> Option<Snapshot>;

    /// How many rows stand in `state`.
    fn count_in(&self, state: State) -> usize;

    /// The events that were recorded for this table, oldest first; none where it keeps none.
    fn events(&self) -> Vec<Event>;

    /// The refused late writers among them.
    fn late_writers(&self) -> Vec<LateWrite> {
        let late = |event: Event| match event.what {
            Happened::LateWriter(late) => Some(late),
            _ => None,
        };
        self.events().into_iter().filter_map(late).collect()
    }

    /// Lets the lease of a running row have ended `by` ago.
    fn expire(&self, key: &Key<Self>, by: Duration);

    /// Lets a pending row be due since just now, and after those that were made due before it.
    fn make_due(&self, key: &Key<Self>);

    /// Lets a row have stood as it does for this long: a pending one due, a running or uncertain one claimed, an
    /// ended one finished so long ago.
    fn age(&self, key: &Key<Self>, by: Duration);

    /// Lets every event have happened this much earlier.
    fn age_events(&self, by: Duration);

    /// Deletes the row, whatever its state.
    fn delete(&self, key: &Key<Self>);

    /// Writes the fence.
    fn set_fence(&self, key: &Key<Self>, fence: Fence);

    /// Writes the counts.
    fn set_tally(&self, key: &Key<Self>, tally: Tally);

    /// A further store over the same rows, which records every transition. Wanted by the scenarios of operators
    /// alone.
    fn telling_all(&self) -> Self::Store {
        panic!("this harness has no store that records every transition")
    }

    /// How often a race is run. More finds more and takes longer.
    fn rounds(&self) -> usize {
        50
    }
}
