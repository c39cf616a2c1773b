//! What plain SQL has to know of a table under test.

use claimstore_core::State;
use claimstore_testkit::Columns;

/// How a column holds an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// `TIMESTAMPTZ`.
    Zoned,
    /// `TIMESTAMP`, in UTC.
    Plain,
    /// Microseconds since 1970.
    Micros,
    /// `2026-01-31 12:00:00.000000`.
    Text,
}

/// A table's columns and words, written down by hand a second time: what the derive makes of a
/// declaration is under test, so nothing here is taken from it.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The table.
    pub table: &'static str,
    /// The key column.
    pub key: &'static str,
    /// The state column.
    pub state: &'static str,
    /// The fence column.
    pub fence: &'static str,
    /// The words of a row that waits.
    pub pending: &'static [&'static str],
    /// The words of the other states.
    pub words: &'static [(State, &'static str)],
    /// Who has it.
    pub worker: Option<&'static str>,
    /// The queue column.
    pub queue: Option<&'static str>,
    /// The kind column.
    pub kind: Option<&'static str>,
    /// The priority column.
    pub priority: Option<&'static str>,
    /// The column of the last error.
    pub last_error: Option<&'static str>,
    /// Since when it is held.
    pub claimed_at: Option<(&'static str, Time)>,
    /// The end of the lease.
    pub lease: Option<(&'static str, Time)>,
    /// From when it is due.
    pub due: Option<(&'static str, Time)>,
    /// When it was finished.
    pub finished: Option<(&'static str, Time)>,
    /// Failures, crashes and interruptions so far.
    pub counts: [Option<&'static str>; 3],
    /// The most failures and crashes.
    pub budgets: Option<[&'static str; 2]>,
    /// Whether it may be repeated.
    pub idempotent: Option<&'static str>,
    /// Columns that want a value, and the value as SQL.
    pub constants: &'static [(&'static str, &'static str)],
    /// Between equal priorities the earlier due comes first.
    pub due_orders: bool,
    /// Events are recorded.
    pub late_writers: bool,
    /// Queues and kinds can be paused.
    pub pauses: bool,
}

impl Spec {
    /// Key, state and fence, and nothing else.
    #[must_use]
    pub const fn bare(
        table: &'static str,
        [key, state, fence]: [&'static str; 3],
        pending: &'static [&'static str],
        words: &'static [(State, &'static str)],
    ) -> Spec {
        Spec {
            table,
            key,
            state,
            fence,
            pending,
            words,
            worker: None,
            queue: None,
            kind: None,
            priority: None,
            last_error: None,
            claimed_at: None,
            lease: None,
            due: None,
            finished: None,
            counts: [None; 3],
            budgets: None,
            idempotent: None,
            constants: &[],
            due_orders: false,
            late_writers: false,
            pauses: false,
        }
    }

    /// The same, as the scenarios ask for it.
    #[must_use]
    pub fn columns(&self) -> Columns {
        let [failures, crashes, interruptions] = self.counts.map(|column| column.is_some());
        let others = self.words.iter().map(|(state, _)| *state);
        Columns {
            queue: self.queue.is_some(),
            kind: self.kind.is_some(),
            priority: self.priority.is_some(),
            worker: self.worker.is_some(),
            claimed_at: self.claimed_at.is_some(),
            lease: self.lease.is_some(),
            due: self.due.is_some(),
            due_orders: self.due_orders,
            failures,
            crashes,
            interruptions,
            budgets: self.budgets.is_some(),
            idempotent: self.idempotent.is_some(),
            last_error: self.last_error.is_some(),
            finished: self.finished.is_some(),
            late_writers: self.late_writers,
            pauses: self.pauses,
            words: [State::Pending].into_iter().chain(others).collect(),
        }
    }

    /// All words that mean `state`.
    pub(super) fn words_of(&self, state: State) -> Vec<&'static str> {
        match state {
            State::Pending => self.pending.to_vec(),
            _ => self.words.iter().filter(|(known, _)| *known == state).map(|(_, word)| *word).collect(),
        }
    }

    /// What `word` means.
    ///
    /// # Panics
    /// Where the table has no such word.
    pub(super) fn state_of(&self, word: &str) -> State {
        if self.pending.contains(&word) {
            return State::Pending;
        }
        let found = self.words.iter().find(|(_, known)| *known == word);
        found.unwrap_or_else(|| panic!("{} has no word {word:?}", self.table)).0
    }
}
