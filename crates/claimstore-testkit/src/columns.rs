//! What a table under test stores.

use claimstore_core::{State, Tally};

/// The optional columns and the words of a table. Key, fence and state are always there.
///
/// A scenario asks the store's [`Guarantees`](claimstore_core::Guarantees) for what it promises, and
/// this for the rest; where a column is missing it asserts the weaker promise instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    /// Rows stand in queues.
    pub queue: bool,
    /// Rows are of a kind.
    pub kind: bool,
    /// Greater priority comes first.
    pub priority: bool,
    /// The holder is stored.
    pub worker: bool,
    /// Since when a row is held is stored.
    pub claimed_at: bool,
    /// The end of the lease is stored.
    pub lease: bool,
    /// A row can wait until it is due.
    pub due: bool,
    /// Between equal priorities the earlier due comes first; else the lesser key does at once.
    pub due_orders: bool,
    /// Failures are counted.
    pub failures: bool,
    /// Crashes are counted.
    pub crashes: bool,
    /// Interruptions are counted.
    pub interruptions: bool,
    /// A row may name its own most failures and crashes.
    pub budgets: bool,
    /// A row says whether its work may be repeated; else all of it may.
    pub idempotent: bool,
    /// The last error text is stored.
    pub last_error: bool,
    /// The time a row was finished is stored.
    pub finished: bool,
    /// Events are recorded: refused late writers, failures, recoveries and operators' actions.
    pub late_writers: bool,
    /// Queues and kinds can be paused.
    pub pauses: bool,
    /// The states the table has a word for; pending, running and completed at least.
    pub words: Vec<State>,
}

impl Columns {
    /// Everything, as in the built-in job table: priority first, then due, then key.
    #[must_use]
    pub fn all() -> Columns {
        Columns {
            queue: true,
            kind: true,
            priority: true,
            worker: true,
            claimed_at: true,
            lease: true,
            due: true,
            due_orders: true,
            failures: true,
            crashes: true,
            interruptions: true,
            budgets: true,
            idempotent: true,
            last_error: true,
            finished: true,
            late_writers: true,
            pauses: true,
            words: State::ALL.to_vec(),
        }
    }

    /// Key, state and fence, and three words.
    #[must_use]
    pub fn minimal() -> Columns {
        Columns {
            queue: false,
            kind: false,
            priority: false,
            worker: false,
            claimed_at: false,
            lease: false,
            due: false,
            due_orders: false,
            failures: false,
            crashes: false,
            interruptions: false,
            budgets: false,
            idempotent: false,
            last_error: false,
            finished: false,
            late_writers: false,
            pauses: false,
            words: vec![State::Pending, State::Running, State::Completed],
        }
    }

    /// Whether the table has a word for `state`.
    #[must_use]
    pub fn has_word(&self, state: State) -> bool {
        self.words.contains(&state)
    }

    /// What the table remembers of `tally`; a count without a column reads as zero.
    #[must_use]
    pub fn kept(&self, tally: Tally) -> Tally {
        let kept = |stored, count| if stored { count } else { 0 };
        Tally {
            failures: kept(self.failures, tally.failures),
            crashes: kept(self.crashes, tally.crashes),
            interruptions: kept(self.interruptions, tally.interruptions),
        }
    }
}
