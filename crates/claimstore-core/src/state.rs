//! The states a contested row goes through.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a row stands. Tables may use words of their own; the declaration maps them to these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Waiting to be claimed, now or when due.
    Pending,
    /// Claimed: somebody holds it under a fence and, where the table stores it, a lease.
    Running,
    /// Finished well. Final.
    Completed,
    /// Given up: the budget of failures or crashes is spent, or the handler said never again.
    Dead,
    /// Called off by an operator. Final.
    Cancelled,
    /// The holder vanished and the work must not simply be repeated; a person or a probe decides.
    Uncertain,
}

impl State {
    /// All states, in the order of a row's life.
    pub const ALL: [State; 6] =
        [State::Pending, State::Running, State::Completed, State::Dead, State::Cancelled, State::Uncertain];

    /// The word of the built-in table, also used in messages.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Running => "running",
            State::Completed => "completed",
            State::Dead => "dead",
            State::Cancelled => "cancelled",
            State::Uncertain => "uncertain",
        }
    }

    /// Whether nothing happens to such a row by itself any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, State::Completed | State::Dead | State::Cancelled)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
