//! What `#[derive(ClaimTable)]` knows of a table.

use claimstore_core::{PageOrder, State};

/// The columns and words of a claimed table. Names are as in SQL, unquoted.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// The table, for messages.
    pub table: &'static str,
    /// The columns by role.
    pub columns: Columns,
    /// The state words.
    pub words: Words,
    /// The order in which rows are claimed.
    pub order: &'static [Order],
    /// Lock rows `FOR NO KEY UPDATE` instead of `FOR UPDATE`, so that inserts of foreign-key children
    /// do not wait for a claim (PostgreSQL).
    pub no_key_update: bool,
    /// A row whose due column is NULL is due now.
    pub null_due_is_now: bool,
    /// What happens beyond the ordinary is recorded in `claimstore_events`.
    pub events: bool,
    /// What is set for its queues and kinds stands in `claimstore_queues`.
    pub queues: bool,
}

/// Column names by role; what a table lacks is `None`.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// Names a row.
    pub key: &'static str,
    /// Holds the state word.
    pub state: &'static str,
    /// Holds the fence.
    pub fence: &'static str,
    /// Who has it.
    pub worker: Option<&'static str>,
    /// Until when.
    pub lease: Option<&'static str>,
    /// Since when.
    pub claimed_at: Option<&'static str>,
    /// From when it may be claimed.
    pub due: Option<&'static str>,
    /// Which queue it waits in.
    pub queue: Option<&'static str>,
    /// What kind of work it is.
    pub kind: Option<&'static str>,
    /// What comes first; for operators, who may change it.
    pub priority: Option<&'static str>,
    /// Only one row of its kind that has not ended has this key.
    pub unique_key: Option<&'static str>,
    /// Failures so far.
    pub failures: Option<&'static str>,
    /// Crashes so far.
    pub crashes: Option<&'static str>,
    /// Interruptions so far.
    pub interruptions: Option<&'static str>,
    /// Failures at which it is dead.
    pub max_failures: Option<&'static str>,
    /// Crashes at which it is dead.
    pub max_crashes: Option<&'static str>,
    /// Whether its work may be repeated.
    pub idempotent: Option<&'static str>,
    /// The last error.
    pub last_error: Option<&'static str>,
    /// When it was completed or given up.
    pub finished_at: Option<&'static str>,
}

/// State words. A table needs at least pending and running.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// Words that may be claimed. The first is what a release writes.
    pub pending: &'static [&'static str],
    /// The word of a held row.
    pub running: &'static str,
    /// Done.
    pub completed: Option<&'static str>,
    /// Given up.
    pub dead: Option<&'static str>,
    /// Called off.
    pub cancelled: Option<&'static str>,
    /// Parked.
    pub uncertain: Option<&'static str>,
}

/// One column of the claim order.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// The column.
    pub column: &'static str,
    /// Greatest first.
    pub descending: bool,
}

impl Columns {
    /// The role and the column by which rows of a state age.
    pub(crate) fn ages_by(&self, state: State) -> (&'static str, Option<&'static str>) {
        match state {
            State::Pending => ("due", self.due),
            State::Running | State::Uncertain => ("claimed_at", self.claimed_at),
            State::Completed | State::Dead | State::Cancelled => ("finished_at", self.finished_at),
        }
    }

    /// The column whose time comes before the key in this order.
    pub(crate) fn ordered_by(&self, order: PageOrder) -> Option<&'static str> {
        match order {
            PageOrder::Due => self.due,
            PageOrder::Lease => self.lease,
            PageOrder::Finished => self.finished_at,
            PageOrder::Key | PageOrder::Newest => None,
        }
    }
}

impl Words {
    /// The word this table writes for `state`.
    #[must_use]
    pub fn word(&self, state: State) -> Option<&'static str> {
        match state {
            State::Pending => self.pending.first().copied(),
            State::Running => Some(self.running),
            State::Completed => self.completed,
            State::Dead => self.dead,
            State::Cancelled => self.cancelled,
            State::Uncertain => self.uncertain,
        }
    }

    /// The state that `word` means.
    #[must_use]
    pub fn state(&self, word: &str) -> Option<State> {
        if self.pending.contains(&word) {
            return Some(State::Pending);
        }
        State::ALL.into_iter().find(|state| self.word(*state) == Some(word))
    }
}
