//! What a row has cost so far, kept apart by cause.

use serde::{Deserialize, Serialize};

/// How often a row came back, by cause. Each count saturates; none of them is the fence.
///
/// A deploy costs nothing: releasing and snoozing are interruptions, and interruptions have no budget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The handler said that it failed.
    pub failures: i32,
    /// The lease ran out: the process died, hung, or lost its database.
    pub crashes: i32,
    /// Shutdown, release or snooze.
    pub interruptions: i32,
}

/// How much a row may cost before it is dead. `None`: the policy's default holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Failures at which the row is dead.
    pub max_failures: Option<i32>,
    /// Crashes at which the row is dead (or uncertain, as the policy says).
    pub max_crashes: Option<i32>,
}

impl Budget {
    /// Whether nothing is left of it: such a pending row is refused as exhausted, never claimed.
    #[must_use]
    pub fn is_spent(&self, tally: &Tally) -> bool {
        self.max_failures.is_some_and(|max| tally.failures >= max)
            || self.max_crashes.is_some_and(|max| tally.crashes >= max)
    }
}
