//! A row as the independent reader saw it.

use claimstore_core::{Fence, State, Timestamp};

/// The claim columns of one row, read past the store. `None` where the column is NULL or missing.
///
/// Two snapshots are equal exactly when nothing of this was written in between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Its state, whatever word the table uses.
    pub state: State,
    /// Its fence.
    pub fence: Fence,
    /// Its holder, as stored.
    pub worker: Option<String>,
    /// Since when it is, or was last, held.
    pub claimed_at: Option<Timestamp>,
    /// The end of its lease.
    pub lease: Option<Timestamp>,
    /// When it is due.
    pub due: Option<Timestamp>,
    /// Its priority.
    pub priority: Option<i32>,
    /// Failures counted.
    pub failures: Option<i32>,
    /// Crashes counted.
    pub crashes: Option<i32>,
    /// Interruptions counted.
    pub interruptions: Option<i32>,
    /// The last error text.
    pub last_error: Option<String>,
    /// When it was finished.
    pub finished: Option<Timestamp>,
}
