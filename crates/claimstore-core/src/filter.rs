//! Which rows a page shows or an operator means.

use std::time::Duration;

use crate::input::{InputError, check_span, check_text};
use crate::{State, WorkerId};

/// Which rows. Each condition narrows it further.
///
/// ```
/// # use claimstore_core::{Filter, State};
/// # use std::time::Duration;
/// let old_dead_mail = Filter::of(State::Dead).queue("mail").older_than(Duration::from_secs(86_400));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    states: Vec<State>,
    queue: Option<String>,
    kind: Option<String>,
    worker: Option<WorkerId>,
    older_than: Option<Duration>,
    all: bool,
}

impl Filter {
    /// No condition yet. Enough to look at rows; to act on all of them it must be said with
    /// [`all`](Filter::all).
    #[must_use]
    pub fn any() -> Filter {
        Filter::default()
    }

    /// Every row, on purpose.
    #[must_use]
    pub fn all() -> Filter {
        Filter { all: true, ..Filter::default() }
    }

    /// Rows in this state.
    #[must_use]
    pub fn of(state: State) -> Filter {
        Filter::any().state(state)
    }

    /// Also rows in this state.
    #[must_use]
    pub fn state(mut self, state: State) -> Filter {
        if !self.states.contains(&state) {
            self.states.push(state);
        }
        self
    }

    /// Rows of this queue.
    #[must_use]
    pub fn queue(self, queue: impl Into<String>) -> Filter {
        Filter { queue: Some(queue.into()), ..self }
    }

    /// Rows of this kind.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Filter {
        Filter { kind: Some(kind.into()), ..self }
    }

    /// Rows that this worker holds or held when they ended: exactly this name, no prefix of it.
    #[must_use]
    pub fn worker(self, worker: &WorkerId) -> Filter {
        Filter { worker: Some(worker.clone()), ..self }
    }

    /// Rows that have stood so for longer than this: pending ones due for longer, running and uncertain ones
    /// claimed before, others finished before.
    #[must_use]
    pub fn older_than(self, age: Duration) -> Filter {
        Filter { older_than: Some(age), ..self }
    }

    /// The states asked for; empty for all.
    #[must_use]
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The queue asked for.
    #[must_use]
    pub fn queue_name(&self) -> Option<&str> {
        self.queue.as_deref()
    }

    /// The kind asked for.
    #[must_use]
    pub fn kind_name(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The worker asked for.
    #[must_use]
    pub fn worker_id(&self) -> Option<&WorkerId> {
        self.worker.as_ref()
    }

    /// The least age asked for.
    #[must_use]
    pub fn least_age(&self) -> Option<Duration> {
        self.older_than
    }

    /// Narrowed to those of its states that are in `states`.
    #[must_use]
    pub fn within(&self, states: &[State]) -> Filter {
        let wanted = |state: &State| self.states.is_empty() || self.states.contains(state);
        Filter { states: states.iter().copied().filter(wanted).collect(), ..self.clone() }
    }

    /// Refuses what no row can match.
    ///
    /// # Errors
    /// [`InputError`], naming the condition.
    pub fn check(&self) -> Result<(), InputError> {
        self.queue.as_ref().map_or(Ok(()), |queue| check_text("queue", queue, 200))?;
        self.kind.as_ref().map_or(Ok(()), |kind| check_text("kind", kind, 200))?;
        check_span("older_than", self.older_than.unwrap_or_default())
    }

    /// Refuses, beyond that, a filter that says nothing: acting on every row is said with
    /// [`Filter::all`].
    ///
    /// # Errors
    /// [`InputError::NoFilter`], or as [`check`](Filter::check).
    pub fn check_to_act(&self) -> Result<(), InputError> {
        let says = !self.states.is_empty()
            || self.queue.is_some()
            || self.kind.is_some()
            || self.worker.is_some()
            || self.older_than.is_some();
        if !says && !self.all {
            return Err(InputError::NoFilter);
        }
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acting_on_everything_has_to_be_said() {
        assert_eq!(Filter::any().check_to_act(), Err(InputError::NoFilter));
        assert!(Filter::all().check_to_act().is_ok());
        assert!(Filter::of(State::Dead).check_to_act().is_ok());
        assert!(Filter::all().queue("").check_to_act().is_err());
        assert!(Filter::any().older_than(Duration::MAX).check().is_err());
    }

    #[test]
    fn states_only_narrow() {
        let both = Filter::of(State::Dead).state(State::Pending);
        assert_eq!(both.within(&[State::Dead, State::Running]).states(), [State::Dead]);
        assert_eq!(Filter::any().within(&[State::Dead]).states(), [State::Dead]);
    }
}
