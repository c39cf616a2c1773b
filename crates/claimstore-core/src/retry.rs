//! What a failure leads to.

use crate::{Backoff, Budget, Tally};

/// What a reported failure leads to: another try after a delay, until the budget is spent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RetryPolicy {
    /// The delay before the next try.
    pub backoff: Backoff,
    /// Failures at which a row is dead, where the row itself names no budget.
    pub max_failures: i32,
}

impl RetryPolicy {
    /// Whether one more failure on top of `tally` spends the budget. The row's own budget wins over
    /// the policy's.
    #[must_use]
    pub fn is_last(&self, tally: &Tally, budget: &Budget) -> bool {
        tally.failures.saturating_add(1) >= budget.max_failures.unwrap_or(self.max_failures)
    }
}

impl Default for RetryPolicy {
    /// Twenty failures, one second doubling to one hour.
    fn default() -> Self {
        RetryPolicy { backoff: Backoff::default(), max_failures: 20 }
    }
}
