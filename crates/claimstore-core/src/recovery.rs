//! What an abandoned claim leads to.

use std::time::Duration;

use crate::input::{InputError, check_span};
use crate::{Backoff, Budget, Fence, State, StoreError, Tally, Timestamp, WorkerId};

/// What an expired lease leads to. The lease end stored in the row decides *whether* it is expired,
/// never a setting of the process that looks (field reports H12, H98).
///
/// An expired claim costs one crash. Below the crash budget the row is queued again after a delay;
/// work declared not idempotent is never queued again by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecoveryPolicy {
    grace: Duration,
    backoff: Backoff,
    max_crashes: i32,
    when_spent: Spent,
    when_unsafe: Unsafe,
}

/// What a row whose crash budget is spent becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spent {
    /// Dead.
    Dead,
    /// Uncertain: a person or a probe decides.
    Uncertain,
}

/// What an expired row whose work is declared not idempotent becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsafe {
    /// Uncertain: a person or a probe decides.
    Uncertain,
    /// It stays running and expired, untouched, until an operator acts.
    Leave,
}

/// What is to happen to one expired row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecoveryAction {
    /// Back to pending, due after this delay.
    Requeue(Duration),
    /// Given up.
    Dead,
    /// Parked until somebody decides.
    Uncertain,
    /// Left as it is.
    Leave,
}

impl RecoveryAction {
    /// What the last error of a recovered row says, where the table keeps one.
    pub const ABANDONED: &'static str = "abandoned: the lease ran out";

    /// The state it leads to; `None` for a row that is left.
    #[must_use]
    pub const fn state(self) -> Option<State> {
        match self {
            RecoveryAction::Requeue(_) => Some(State::Pending),
            RecoveryAction::Dead => Some(State::Dead),
            RecoveryAction::Uncertain => Some(State::Uncertain),
            RecoveryAction::Leave => None,
        }
    }
}

/// A running row whose lease has run out, as one look saw it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expired<K> {
    /// The row.
    pub key: K,
    /// Its fence at that look.
    pub fence: Fence,
    /// Its holder, where stored.
    pub worker: Option<WorkerId>,
    /// When its lease ended.
    pub until: Timestamp,
    /// What it has cost, without this crash.
    pub tally: Tally,
    /// What it may cost.
    pub budget: Budget,
    /// Whether its work may simply be repeated.
    pub idempotent: bool,
}

impl RecoveryPolicy {
    /// How long past its end a lease is left alone, 5 seconds unless set. One-shot recovery relies on
    /// it: it is what a healthy holder has to renew in after a short outage.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> RecoveryPolicy {
        self.grace = grace;
        self
    }

    /// The delay before an abandoned row is due again.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> RecoveryPolicy {
        self.backoff = backoff;
        self
    }

    /// Crashes at which a row is given up, 3 unless set, where the row itself names no budget.
    #[must_use]
    pub fn max_crashes(mut self, max: i32) -> RecoveryPolicy {
        self.max_crashes = max;
        self
    }

    /// What a row whose crash budget is spent becomes, dead unless set.
    #[must_use]
    pub fn when_spent(mut self, then: Spent) -> RecoveryPolicy {
        self.when_spent = then;
        self
    }

    /// What an expired row of work declared not idempotent becomes, uncertain unless set.
    #[must_use]
    pub fn when_unsafe(mut self, then: Unsafe) -> RecoveryPolicy {
        self.when_unsafe = then;
        self
    }

    /// The grace that is set.
    #[must_use]
    pub fn grace_span(&self) -> Duration {
        self.grace
    }

    /// Refuses what no store can serve.
    ///
    /// # Errors
    /// [`InputError`] for a grace above a hundred years or a crash budget below one.
    pub fn check(&self) -> Result<(), InputError> {
        check_span("grace", self.grace)?;
        if self.max_crashes < 1 {
            return Err(InputError::OutOfRange {
                field: "max_crashes",
                given: self.max_crashes.into(),
                low: 1,
                high: i32::MAX.into(),
            });
        }
        Ok(())
    }

    /// What this row's expiry leads to. Pure; `has_word` says which states the table has, and `random`
    /// in 0..1 feeds the jitter.
    ///
    /// A table without the word falls back to the next safer thing it has: uncertain, then dead, then
    /// leaving the row for an operator. It never falls back to repeating the work.
    #[must_use]
    pub fn decide<K>(
        &self,
        row: &Expired<K>,
        has_word: impl Fn(State) -> bool,
        random: f64,
    ) -> RecoveryAction {
        let crashes = row.tally.crashes.saturating_add(1);
        let spent = crashes >= row.budget.max_crashes.unwrap_or(self.max_crashes);
        let wanted: &[RecoveryAction] = match (row.idempotent, spent) {
            (false, _) => match self.when_unsafe {
                Unsafe::Leave => &[],
                Unsafe::Uncertain => &[RecoveryAction::Uncertain, RecoveryAction::Dead],
            },
            (true, true) => match self.when_spent {
                Spent::Dead => &[RecoveryAction::Dead, RecoveryAction::Uncertain],
                Spent::Uncertain => &[RecoveryAction::Uncertain, RecoveryAction::Dead],
            },
            (true, false) => {
                let nth = u32::try_from(crashes).unwrap_or(u32::MAX);
                return RecoveryAction::Requeue(self.backoff.delay(nth, random));
            }
        };
        let fits = |action: &&RecoveryAction| action.state().is_some_and(&has_word);
        wanted.iter().find(fits).copied().unwrap_or(RecoveryAction::Leave)
    }
}

impl Default for RecoveryPolicy {
    /// Five seconds of grace, one second doubling to five minutes before the next try, three crashes.
    fn default() -> Self {
        RecoveryPolicy {
            grace: Duration::from_secs(5),
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(300)).jitter(0.25),
            max_crashes: 3,
            when_spent: Spent::Dead,
            when_unsafe: Unsafe::Uncertain,
        }
    }
}

/// One row that a recovery has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveredRow<K> {
    /// The row.
    pub key: K,
    /// The fence it carries now; the old holder's is refused from here on.
    pub fence: Fence,
    /// Who had it, where stored.
    pub worker: Option<WorkerId>,
    /// What became of it.
    pub action: RecoveryAction,
}

/// What a recovery has done. It counts rows that were really changed.
#[derive(Debug)]
pub struct Recovered<K> {
    /// The rows that were changed.
    pub rows: Vec<RecoveredRow<K>>,
    /// Expired rows the policy leaves to an operator.
    pub left: usize,
    /// Rows whose change the database refused, each on its own; the others were not held up by them.
    pub failed: Vec<(K, StoreError)>,
}

impl<K> Recovered<K> {
    /// Rows that went to `state`.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.rows.iter().filter(|row| row.action.state() == Some(state)).count()
    }
}

/// What a recovery would do now. Nothing was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveryPreview<K> {
    /// Each expired row and what would become of it.
    pub rows: Vec<(Expired<K>, RecoveryAction)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(crashes: i32, max: Option<i32>, idempotent: bool) -> Expired<i64> {
        Expired {
            key: 1,
            fence: Fence::new(1),
            worker: None,
            until: Timestamp::from_micros(0),
            tally: Tally { crashes, ..Tally::default() },
            budget: Budget { max_failures: None, max_crashes: max },
            idempotent,
        }
    }

    fn decide(policy: RecoveryPolicy, row: &Expired<i64>) -> RecoveryAction {
        policy.decide(row, |_| true, 0.0)
    }

    #[test]
    fn crashes_requeue_until_the_budget_is_spent() {
        let policy = RecoveryPolicy::default();
        assert!(matches!(decide(policy, &row(0, None, true)), RecoveryAction::Requeue(_)));
        assert!(matches!(decide(policy, &row(1, None, true)), RecoveryAction::Requeue(_)));
        assert_eq!(decide(policy, &row(2, None, true)), RecoveryAction::Dead);
        assert!(matches!(decide(policy, &row(2, Some(9), true)), RecoveryAction::Requeue(_)));
        assert_eq!(decide(policy, &row(i32::MAX, Some(i32::MAX), true)), RecoveryAction::Dead);
        let parked = policy.when_spent(Spent::Uncertain);
        assert_eq!(decide(parked, &row(2, None, true)), RecoveryAction::Uncertain);
    }

    #[test]
    fn unsafe_work_is_never_repeated_by_itself() {
        let policy = RecoveryPolicy::default();
        assert_eq!(decide(policy, &row(0, None, false)), RecoveryAction::Uncertain);
        assert_eq!(decide(policy.when_unsafe(Unsafe::Leave), &row(0, None, false)), RecoveryAction::Leave);
        let no_uncertain = |state| state != State::Uncertain;
        assert_eq!(policy.decide(&row(0, None, false), no_uncertain, 0.0), RecoveryAction::Dead);
        let only_two = |state| matches!(state, State::Pending | State::Running);
        assert_eq!(policy.decide(&row(0, None, false), only_two, 0.0), RecoveryAction::Leave);
    }

    #[test]
    fn impossible_policies_are_refused() {
        assert!(RecoveryPolicy::default().check().is_ok());
        assert!(RecoveryPolicy::default().grace(Duration::MAX).check().is_err());
        assert!(RecoveryPolicy::default().max_crashes(0).check().is_err());
    }
}
