//! What an operator can do to a row, and what each does: pure decisions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::input::{InputError, check_span};
use crate::{
    Expired, OperateError, Operator, RecoveryAction, RecoveryPolicy, Sighting, State, Tally, Timestamp,
};

/// What an operator does to a row. Each raises the row's fence, so that whoever held it is refused from then
/// on.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Once more, now, with all counts back at zero. Not from uncertain, which has to be resolved, and not from
    /// completed: see [`Action::Repeat`].
    Retry,
    /// Once more although it was completed. A verb of its own, because a settlement keeps the fence: a row that
    /// was seen running may have been completed since, and retrying it would do the work twice.
    Repeat,
    /// Never, unless somebody retries it. From pending and running.
    Cancel,
    /// Given up. From pending and running.
    DeadLetter,
    /// Decides an uncertain row.
    Resolve(Resolution),
    /// Pending with a new time or priority. A row that had ended begins again with all counts at zero; of others
    /// the counts are kept. Not from uncertain or completed.
    Requeue(Requeue),
    /// Ends a claim whose holder is known to be gone, as recovery would: it costs a crash, and the policy says
    /// what becomes of the row. From running. The policy's grace plays no part.
    Recover(RecoveryPolicy),
    /// Deletes the row; only its events are left. Not from uncertain.
    Delete,
}

/// What became of uncertain work.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resolution {
    /// It was done: the row is completed.
    Done,
    /// It was not: once more, with all counts at zero.
    Again,
    /// It is given up.
    Dead,
}

/// A new time or priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requeue {
    due: Option<Moment>,
    priority: Option<i32>,
}

/// When a row is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// So long after the write, by the deciding clock.
    In(Duration),
    /// Then.
    At(Timestamp),
}

/// What is to be written to one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where it goes; `None` deletes it.
    pub to: Option<State>,
    /// When it is due; `None` leaves it.
    pub due: Option<Moment>,
    /// The counts after it.
    pub tally: Tally,
    /// Its priority; `None` leaves it.
    pub priority: Option<i32>,
    /// The error text to keep; `None` leaves the last one.
    pub error: Option<String>,
}

impl Requeue {
    /// Due at once.
    #[must_use]
    pub fn now() -> Requeue {
        Requeue::after(Duration::ZERO)
    }

    /// Due after this long.
    #[must_use]
    pub fn after(delay: Duration) -> Requeue {
        Requeue { due: Some(Moment::In(delay)), priority: None }
    }

    /// Due at this instant.
    #[must_use]
    pub fn at(at: impl Into<Timestamp>) -> Requeue {
        Requeue { due: Some(Moment::At(at.into())), priority: None }
    }

    /// With this priority, due when it was.
    #[must_use]
    pub fn of_priority(priority: i32) -> Requeue {
        Requeue { due: None, priority: Some(priority) }
    }

    /// Also with this priority.
    #[must_use]
    pub fn priority(self, priority: i32) -> Requeue {
        Requeue { priority: Some(priority), ..self }
    }

    /// The time, if it changes.
    #[must_use]
    pub fn due(&self) -> Option<Moment> {
        self.due
    }

    /// The priority, if it changes.
    #[must_use]
    pub fn new_priority(&self) -> Option<i32> {
        self.priority
    }
}

impl Action {
    /// Its verb, as recorded.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Action::Retry => "retry",
            Action::Repeat => "repeat",
            Action::Cancel => "cancel",
            Action::DeadLetter => "dead_letter",
            Action::Resolve(_) => "resolve",
            Action::Requeue(_) => "requeue",
            Action::Recover(_) => "recover",
            Action::Delete => "delete",
        }
    }

    /// The states it can begin from.
    #[must_use]
    pub const fn from(&self) -> &'static [State] {
        match self {
            Action::Retry | Action::Requeue(_) => {
                &[State::Pending, State::Running, State::Dead, State::Cancelled]
            }
            Action::Repeat => &[State::Completed],
            Action::Delete => {
                &[State::Pending, State::Running, State::Completed, State::Dead, State::Cancelled]
            }
            Action::Cancel | Action::DeadLetter => &[State::Pending, State::Running],
            Action::Resolve(_) => &[State::Uncertain],
            Action::Recover(_) => &[State::Running],
        }
    }

    /// Refuses what no store can serve.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn check(&self) -> Result<(), InputError> {
        match self {
            Action::Requeue(Requeue { due: None, priority: None }) => {
                Err(InputError::Empty { field: "requeue (a time or a priority)" })
            }
            Action::Requeue(Requeue { due: Some(Moment::In(delay)), .. }) => check_span("delay", *delay),
            Action::Requeue(Requeue { due: Some(Moment::At(at)), .. }) => at.check("due"),
            Action::Recover(policy) => policy.check(),
            _ => Ok(()),
        }
    }

    /// What it does to this row. Pure: `has_word` says which states the table has, and `random` in 0..1 feeds
    /// the jitter of a recovery's delay.
    ///
    /// # Errors
    /// [`OperateError::NotFrom`], [`OperateError::Held`], or [`OperateError::Store`] where the table has no word
    /// for where the row should go.
    pub fn decide<K: Clone>(
        &self,
        row: &Sighting<K>,
        by: &Operator,
        table: &'static str,
        has_word: impl Fn(State) -> bool,
        random: f64,
    ) -> Result<Step, OperateError<K>> {
        if !self.from().contains(&row.state) {
            return Err(OperateError::NotFrom { verb: self.verb(), state: row.state });
        }
        if row.is_live() && !by.forces() {
            return Err(OperateError::Held {
                worker: row.worker.clone(),
                until: row.until,
                fence: row.fence,
            });
        }
        let kept = Step { to: None, due: None, tally: row.tally, priority: None, error: None };
        let to = |state| Step { to: Some(state), ..kept.clone() };
        let now = Some(Moment::In(Duration::ZERO));
        let again = || Step { due: now, tally: Tally::default(), ..to(State::Pending) };
        let step = match self {
            Action::Retry | Action::Repeat | Action::Resolve(Resolution::Again) => again(),
            Action::Cancel => to(State::Cancelled),
            Action::DeadLetter | Action::Resolve(Resolution::Dead) => to(State::Dead),
            Action::Resolve(Resolution::Done) => to(State::Completed),
            Action::Requeue(Requeue { due, priority }) => {
                let tally = if row.state.is_final() { Tally::default() } else { row.tally };
                Step { due: *due, priority: *priority, tally, ..to(State::Pending) }
            }
            Action::Recover(policy) => return recovered(row, policy, has_word, random),
            Action::Delete => kept,
        };
        match step.to.filter(|state| !has_word(*state)) {
            Some(state) => Err(OperateError::Store(InputError::NoWord { table, state }.into())),
            None => Ok(step),
        }
    }
}

/// What a recovery would do to a row whose lease has run out.
fn recovered<K: Clone>(
    row: &Sighting<K>,
    policy: &RecoveryPolicy,
    has_word: impl Fn(State) -> bool,
    random: f64,
) -> Result<Step, OperateError<K>> {
    let expired = Expired {
        key: row.key.clone(),
        fence: row.fence,
        worker: row.worker.clone(),
        until: row.until.unwrap_or(Timestamp::MIN),
        tally: row.tally,
        budget: row.budget,
        idempotent: row.idempotent,
    };
    let action = policy.decide(&expired, has_word, random);
    let Some(to) = action.state() else {
        return Err(OperateError::NotFrom { verb: "recover", state: row.state });
    };
    let due = match action {
        RecoveryAction::Requeue(delay) => Some(Moment::In(delay)),
        _ => None,
    };
    let tally = Tally { crashes: row.tally.crashes.saturating_add(1), ..row.tally };
    let error = Some(RecoveryAction::ABANDONED.to_owned());
    Ok(Step { to: Some(to), due, tally, priority: None, error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Fence};

    fn row(state: State, until: Option<i64>) -> Sighting<i64> {
        Sighting {
            key: 1,
            state,
            fence: Fence::new(5),
            worker: None,
            claimed_at: None,
            until: until.map(Timestamp::from_micros),
            due: None,
            queue: None,
            kind: None,
            priority: None,
            tally: Tally { failures: 3, crashes: 1, interruptions: 2 },
            budget: Budget::default(),
            idempotent: true,
            last_error: None,
            finished_at: None,
            paused: false,
            clock: Timestamp::from_micros(100),
        }
    }

    fn decide(action: &Action, row: &Sighting<i64>, force: bool) -> Result<Step, OperateError<i64>> {
        let by = Operator::new("anna", "why").expect("valid");
        let by = if force { by.force() } else { by };
        action.decide(row, &by, "t", |_| true, 0.0)
    }

    #[test]
    fn a_live_claim_is_ended_by_force_only() {
        let (live, expired) = (row(State::Running, Some(101)), row(State::Running, Some(99)));
        for action in [Action::Retry, Action::Cancel, Action::DeadLetter, Action::Delete] {
            assert!(matches!(decide(&action, &live, false), Err(OperateError::Held { .. })), "{action:?}");
            assert!(decide(&action, &live, true).is_ok(), "{action:?}");
            assert!(decide(&action, &expired, false).is_ok(), "{action:?}");
        }
        // Without a lease nobody can tell: it counts as live.
        assert!(decide(&Action::Cancel, &row(State::Running, None), false).is_err());
    }

    #[test]
    fn uncertain_rows_are_resolved_and_nothing_else() {
        let uncertain = row(State::Uncertain, None);
        for action in [Action::Retry, Action::Cancel, Action::DeadLetter, Action::Delete] {
            let refused = decide(&action, &uncertain, true);
            assert!(matches!(refused, Err(OperateError::NotFrom { .. })), "{action:?}");
        }
        let to = |resolution| {
            decide(&Action::Resolve(resolution), &uncertain, false).expect("an uncertain row is resolved")
        };
        assert_eq!(to(Resolution::Done).to, Some(State::Completed));
        assert_eq!(to(Resolution::Dead).to, Some(State::Dead));
        assert_eq!(
            (to(Resolution::Again).to, to(Resolution::Again).tally),
            (Some(State::Pending), Tally::default())
        );
        assert!(decide(&Action::Resolve(Resolution::Done), &row(State::Dead, None), true).is_err());
    }

    /// A settlement keeps the fence: what was seen running may be completed under the same one.
    #[test]
    fn completed_work_is_repeated_on_purpose_only() {
        let completed = row(State::Completed, None);
        for action in [Action::Retry, Action::Requeue(Requeue::now())] {
            let refused = decide(&action, &completed, true);
            assert!(matches!(refused, Err(OperateError::NotFrom { .. })), "{action:?}");
        }
        assert_eq!(
            decide(&Action::Repeat, &completed, false).map(|step| step.to).ok(),
            Some(Some(State::Pending))
        );
        assert!(decide(&Action::Repeat, &row(State::Dead, None), true).is_err());
    }

    #[test]
    fn counts_begin_anew_where_the_row_does() {
        let requeue = Action::Requeue(Requeue::of_priority(7));
        let pending = decide(&requeue, &row(State::Pending, None), false).expect("it is requeued");
        assert_eq!((pending.tally.failures, pending.due, pending.priority), (3, None, Some(7)));
        let dead = decide(&requeue, &row(State::Dead, None), false).expect("it is requeued");
        assert_eq!(dead.tally, Tally::default());
        assert!(Action::Requeue(Requeue::default()).check().is_err());
    }

    #[test]
    fn recovering_by_hand_costs_a_crash() {
        let recover = Action::Recover(RecoveryPolicy::default());
        let step = decide(&recover, &row(State::Running, Some(1)), false).expect("it is recovered");
        assert_eq!((step.to, step.tally.crashes), (Some(State::Pending), 2));
        let spent =
            Sighting { tally: Tally { crashes: 2, ..Tally::default() }, ..row(State::Running, Some(1)) };
        assert_eq!(decide(&recover, &spent, false).expect("it is given up").to, Some(State::Dead));
    }
}
