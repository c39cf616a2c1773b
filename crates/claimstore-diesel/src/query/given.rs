//! Several rows handed to one statement.

use claimstore_core::{Fence, Moment, RecoveryAction, Settlement, State, Step, Timestamp};

use crate::sql_types::At;

/// What is given of several rows, column by column.
#[derive(Debug, Clone)]
pub struct Given<K> {
    /// The host's clock, from which SQLite counts the delays.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "PostgreSQL asks its own clock"))]
    pub(crate) from: Timestamp,
    pub(crate) keys: Vec<K>,
    pub(crate) fences: Vec<i64>,
    pub(crate) workers: Vec<String>,
    pub(crate) states: Vec<i32>,
    /// Microseconds; `None` leaves the due time.
    pub(crate) delays: Vec<Option<i64>>,
    pub(crate) failures: Vec<i32>,
    pub(crate) crashes: Vec<i32>,
    pub(crate) interruptions: Vec<i32>,
    pub(crate) errors: Vec<Option<String>>,
    pub(crate) priorities: Vec<Option<i32>>,
    /// The due time; `None` leaves it to the delay.
    pub(crate) ats: Vec<Option<At>>,
}

impl<K> Default for Given<K> {
    fn default() -> Self {
        Given {
            from: Timestamp::of_this_host(),
            keys: Vec::new(),
            fences: Vec::new(),
            workers: Vec::new(),
            states: Vec::new(),
            delays: Vec::new(),
            failures: Vec::new(),
            crashes: Vec::new(),
            interruptions: Vec::new(),
            errors: Vec::new(),
            priorities: Vec::new(),
            ats: Vec::new(),
        }
    }
}

/// One column of what is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenColumn {
    /// The key.
    Key,
    /// The fence that is shown.
    Fence,
    /// The worker that shows it.
    Worker,
    /// Where the row goes, as a number.
    State,
    /// When it is due again.
    Delay,
    /// Failures so far.
    Failures,
    /// Crashes so far.
    Crashes,
    /// Interruptions so far.
    Interruptions,
    /// The error text.
    Error,
    /// The priority.
    Priority,
    /// The instant at which it is due again.
    At,
}

impl GivenColumn {
    /// Its name in the derived table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            GivenColumn::Key => "row_key",
            GivenColumn::Fence => "fence",
            GivenColumn::Worker => "worker",
            GivenColumn::State => "state",
            GivenColumn::Delay => "delay",
            GivenColumn::Failures => "failures",
            GivenColumn::Crashes => "crashes",
            GivenColumn::Interruptions => "interruptions",
            GivenColumn::Error => "error",
            GivenColumn::Priority => "priority",
            GivenColumn::At => "at",
        }
    }
}

/// The parts from which a dialect makes the head of a statement over several rows.
#[derive(Debug)]
pub struct LockedRows<'a> {
    /// The table, quoted.
    pub table: &'a str,
    /// The table without its schema, quoted.
    pub bare: &'a str,
    /// The key column, qualified.
    pub key: &'a str,
    /// What is given.
    pub columns: &'a [GivenColumn],
    /// The guards that tie a row to what is given of it.
    pub guards: &'a str,
    /// Pass over rows that somebody has locked.
    pub skip_locked: bool,
    /// `FOR NO KEY UPDATE`.
    pub no_key_update: bool,
}

pub(crate) fn state_number(state: State) -> i32 {
    State::ALL.iter().position(|s| *s == state).map_or(0, |at| at as i32)
}

impl<K> Given<K> {
    /// The keys.
    #[must_use]
    pub fn keys(&self) -> &Vec<K> {
        &self.keys
    }

    pub(crate) fn except<'a>(&mut self, keys: impl IntoIterator<Item = &'a K>)
    where
        K: Clone + 'a,
    {
        keys.into_iter().for_each(|key| self.push(key.clone(), Fence::NEVER, ""));
    }

    pub(crate) fn push(&mut self, key: K, fence: Fence, worker: &str) {
        self.keys.push(key);
        self.fences.push(fence.get());
        self.workers.push(worker.to_owned());
    }

    pub(crate) fn push_settlement(&mut self, to: &Settlement) {
        self.states.push(state_number(to.to));
        self.delays.push(to.delay.map(micros));
        self.failures.push(to.tally.failures);
        self.crashes.push(to.tally.crashes);
        self.interruptions.push(to.tally.interruptions);
        self.errors.push(to.error.clone());
    }

    pub(crate) fn push_step(&mut self, to: State, step: &Step) {
        let (delay, at) = match step.due {
            Some(Moment::In(delay)) => (Some(delay), None),
            Some(Moment::At(at)) => (None, Some(At(at))),
            None => (None, None),
        };
        self.states.push(state_number(to));
        self.delays.push(delay.map(micros));
        self.ats.push(at);
        self.failures.push(step.tally.failures);
        self.crashes.push(step.tally.crashes);
        self.interruptions.push(step.tally.interruptions);
        self.priorities.push(step.priority);
        self.errors.push(step.error.clone());
    }

    pub(crate) fn push_recovery(&mut self, action: RecoveryAction, crashes: i32) {
        self.states.push(action.state().map_or(0, state_number));
        self.delays.push(match action {
            RecoveryAction::Requeue(delay) => Some(micros(delay)),
            _ => None,
        });
        self.crashes.push(crashes);
    }
}

fn micros(span: std::time::Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
