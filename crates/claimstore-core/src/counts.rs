//! How many rows stand where.

use std::fmt;
use std::time::Duration;

use crate::{InputError, State, Timestamp};

/// A number of rows, and how far it can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// Counted.
    Exactly(u64),
    /// Counting stopped there.
    MoreThan(u64),
    /// The database's own estimate, as old as its statistics.
    About(u64),
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exactly(rows) => write!(f, "{rows}"),
            Count::MoreThan(rows) => write!(f, "more than {rows}"),
            Count::About(rows) => write!(f, "about {rows}"),
        }
    }
}

/// The state of a table in a few numbers. Each was true when it was read; they are not one snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// The deciding clock.
    pub clock: Timestamp,
    /// Rows in each state that the table has a word for.
    pub states: Vec<(State, Count)>,
    /// The due time of the pending row that has been due for longest, also one of a paused queue.
    pub oldest_due: Option<Timestamp>,
    /// Rows that were completed in the last minute; zero where the table does not store when.
    pub completed_last_minute: Count,
}

impl Counts {
    /// The greatest cap.
    pub const MAX_CAP: u32 = 1_000_000;

    /// Rows in this state; zero where the table has no word for it.
    #[must_use]
    pub fn of(&self, state: State) -> Count {
        let found = self.states.iter().find(|(of, _)| *of == state);
        found.map_or(Count::Exactly(0), |(_, count)| *count)
    }

    /// For how long the oldest due row has been waiting.
    #[must_use]
    pub fn oldest_wait(&self) -> Option<Duration> {
        self.oldest_due.map(|due| due.until(self.clock))
    }

    /// Refuses a cap that is not one.
    ///
    /// # Errors
    /// [`InputError::OutOfRange`].
    pub fn check_cap(cap: u32) -> Result<(), InputError> {
        if cap == 0 || cap > Self::MAX_CAP {
            let (given, high) = (cap.into(), Self::MAX_CAP.into());
            return Err(InputError::OutOfRange { field: "cap", given, low: 1, high });
        }
        Ok(())
    }
}
