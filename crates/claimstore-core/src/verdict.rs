//! How a claim ends.

use std::time::Duration;

use crate::input::{InputError, check_span};
use crate::{Budget, RetryPolicy, State, Tally};

/// The longest error text kept; longer ones are cut at a character boundary.
const MAX_ERROR: usize = 8_000;

/// What the holder says of its work.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Done. Costs nothing.
    Complete,
    /// It failed. Costs one failure.
    Fail {
        /// What went wrong, for people.
        error: String,
        /// Whether and when it is tried again.
        again: Again,
    },
    /// Not done and handed back at once, as at shutdown. Costs one interruption.
    Release,
    /// Not done and not before this delay. Costs one interruption.
    Snooze(Duration),
}

/// Whether and when failed work is tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Again {
    /// As the retry policy says.
    ByPolicy,
    /// After this delay; the budget still holds.
    After(Duration),
    /// Never: the row is dead, whatever is left of its budget.
    Never,
}

impl Verdict {
    /// Done.
    #[must_use]
    pub fn complete() -> Verdict {
        Verdict::Complete
    }

    /// Failed; try again by policy.
    #[must_use]
    pub fn fail(error: impl Into<String>) -> Verdict {
        Verdict::Fail { error: error.into(), again: Again::ByPolicy }
    }

    /// Failed; try again after `delay`, within the budget.
    #[must_use]
    pub fn fail_after(error: impl Into<String>, delay: Duration) -> Verdict {
        Verdict::Fail { error: error.into(), again: Again::After(delay) }
    }

    /// Failed, and must not be tried again.
    #[must_use]
    pub fn fail_for_good(error: impl Into<String>) -> Verdict {
        Verdict::Fail { error: error.into(), again: Again::Never }
    }

    /// Handed back.
    #[must_use]
    pub fn release() -> Verdict {
        Verdict::Release
    }

    /// Not before `delay`.
    #[must_use]
    pub fn snooze(delay: Duration) -> Verdict {
        Verdict::Snooze(delay)
    }

    /// The verb, for logs and history.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Verdict::Complete => "complete",
            Verdict::Fail { .. } => "fail",
            Verdict::Release => "release",
            Verdict::Snooze(_) => "snooze",
        }
    }

    /// The error text, if it carries one.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match self {
            Verdict::Fail { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Refuses delays that no column can hold.
    ///
    /// # Errors
    /// [`InputError::SpanTooLong`].
    pub fn check(&self) -> Result<(), InputError> {
        match self {
            Verdict::Snooze(delay) | Verdict::Fail { again: Again::After(delay), .. } => {
                check_span("delay", *delay)
            }
            _ => Ok(()),
        }
    }

    /// What is to be written for a claim that has cost `tally` so far. Pure: `random` in 0..1 feeds
    /// the jitter.
    ///
    /// An error text is kept as far as every backend can store it: U+0000 becomes U+FFFD and the text
    /// is cut at 8,000 bytes. A handler's error message is not the place to fail over.
    #[must_use]
    pub fn settlement(
        &self,
        tally: &Tally,
        budget: &Budget,
        policy: &RetryPolicy,
        random: f64,
    ) -> Settlement {
        let pending = |delay| Settlement { to: State::Pending, delay, tally: *tally, error: None };
        match self {
            Verdict::Complete => Settlement { to: State::Completed, ..pending(None) },
            Verdict::Release => pending(None).interrupted(),
            Verdict::Snooze(delay) => pending(Some(*delay)).interrupted(),
            Verdict::Fail { error, again } => {
                let failures = tally.failures.saturating_add(1);
                let error = Some(storable(error));
                let tally = Tally { failures, ..*tally };
                let dead = Settlement { to: State::Dead, delay: None, tally, error: error.clone() };
                let nth = u32::try_from(failures).unwrap_or(u32::MAX);
                match again {
                    Again::Never => dead,
                    _ if policy.is_last(&Tally { failures: failures - 1, ..tally }, budget) => dead,
                    Again::After(delay) => Settlement { tally, error, ..pending(Some(*delay)) },
                    Again::ByPolicy => {
                        Settlement { tally, error, ..pending(Some(policy.backoff.delay(nth, random))) }
                    }
                }
            }
        }
    }
}

fn storable(error: &str) -> String {
    let mut text = error.replace('\0', "\u{fffd}");
    if text.len() > MAX_ERROR {
        let end = (0..=MAX_ERROR).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// What a verdict writes, decided before any statement is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// The state the row goes to.
    pub to: State,
    /// From now until it is due again; `None` leaves the due time as it is.
    pub delay: Option<Duration>,
    /// The counts after this settlement.
    pub tally: Tally,
    /// The error text to keep; `None` leaves the last one.
    pub error: Option<String>,
}

impl Settlement {
    fn interrupted(mut self) -> Settlement {
        self.tally.interruptions = self.tally.interruptions.saturating_add(1);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backoff;

    fn policy() -> RetryPolicy {
        RetryPolicy { backoff: Backoff::fixed(Duration::from_secs(7)), max_failures: 3 }
    }

    fn settle(verdict: &Verdict, failures: i32, max: Option<i32>) -> Settlement {
        let tally = Tally { failures, ..Tally::default() };
        verdict.settlement(&tally, &Budget { max_failures: max, max_crashes: None }, &policy(), 0.0)
    }

    #[test]
    fn a_failure_is_tried_again_until_the_budget_is_spent() {
        let first = settle(&Verdict::fail("no"), 0, None);
        assert_eq!((first.to, first.delay), (State::Pending, Some(Duration::from_secs(7))));
        assert_eq!(first.tally.failures, 1);
        assert_eq!(settle(&Verdict::fail("no"), 2, None).to, State::Dead);
        assert_eq!(settle(&Verdict::fail("no"), 2, Some(9)).to, State::Pending);
    }

    #[test]
    fn the_cap_holds_on_every_path() {
        assert_eq!(settle(&Verdict::fail_after("no", Duration::ZERO), 2, None).to, State::Dead);
        assert_eq!(settle(&Verdict::fail_for_good("no"), 0, None).to, State::Dead);
        assert_eq!(settle(&Verdict::fail("no"), i32::MAX, None).tally.failures, i32::MAX);
    }

    #[test]
    fn interruptions_cost_no_failure() {
        for verdict in [Verdict::release(), Verdict::snooze(Duration::from_secs(1))] {
            let s = settle(&verdict, 2, None);
            assert_eq!((s.to, s.tally.failures, s.tally.interruptions), (State::Pending, 2, 1));
        }
    }

    #[test]
    fn error_texts_are_made_storable() {
        let long = format!("a\0{}", "é".repeat(5000));
        let kept = settle(&Verdict::fail(long), 0, None).error.expect("an error");
        assert!(kept.len() <= MAX_ERROR && !kept.contains('\0'));
    }
}
