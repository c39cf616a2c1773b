//! How long finished rows and events are kept.

use std::time::Duration;

use crate::input::{InputError, check_span};
use crate::{ClaimStore, State, StoreError};

/// How long finished rows and events are kept. What is not named is kept for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    completed: Option<Duration>,
    dead: Option<Duration>,
    cancelled: Option<Duration>,
    events: Option<Duration>,
}

impl Retention {
    /// Everything is kept.
    #[must_use]
    pub fn keep_all() -> Retention {
        Retention::default()
    }

    /// Completed rows are kept this long.
    #[must_use]
    pub fn completed(self, age: Duration) -> Retention {
        Retention { completed: Some(age), ..self }
    }

    /// Dead rows are kept this long.
    #[must_use]
    pub fn dead(self, age: Duration) -> Retention {
        Retention { dead: Some(age), ..self }
    }

    /// Cancelled rows are kept this long.
    #[must_use]
    pub fn cancelled(self, age: Duration) -> Retention {
        Retention { cancelled: Some(age), ..self }
    }

    /// Events of this table are kept this long.
    #[must_use]
    pub fn events(self, age: Duration) -> Retention {
        Retention { events: Some(age), ..self }
    }

    /// How long rows in `state` are kept; `None` for ever.
    #[must_use]
    pub fn age_of(&self, state: State) -> Option<Duration> {
        match state {
            State::Completed => self.completed,
            State::Dead => self.dead,
            State::Cancelled => self.cancelled,
            State::Pending | State::Running | State::Uncertain => None,
        }
    }

    /// How long events are kept; `None` for ever.
    #[must_use]
    pub fn events_age(&self) -> Option<Duration> {
        self.events
    }

    /// Refuses what no store can serve.
    ///
    /// # Errors
    /// [`InputError::SpanTooLong`].
    pub fn check(&self) -> Result<(), InputError> {
        let ages = [self.completed, self.dead, self.cancelled, self.events];
        ages.into_iter().flatten().try_for_each(|age| check_span("retention", age))
    }
}

/// What one batch of retention has deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    /// Finished rows.
    pub rows: usize,
    /// Events.
    pub events: usize,
    /// There may be more: a limit was reached. Call again.
    pub more: bool,
}

/// Deletes what has been kept for long enough.
pub trait RetainStore: ClaimStore {
    /// Deletes up to `limit` rows of each state and up to `limit` events that are older than `retention` says,
    /// oldest first, and commits: each call is one short batch, so that what is done stays done whatever
    /// happens to the next. It never waits for a row that somebody has locked, and never touches one that is
    /// pending, running or uncertain. On SQLite it holds the file's write lock for the one batch, so keep the
    /// limit low (some hundreds) beside busy workers.
    ///
    /// ```
    /// # use claimstore_core::{RetainStore, Retention, StoreError};
    /// # use std::time::Duration;
    /// fn nightly<S: RetainStore>(store: &S) -> Result<(), StoreError> {
    ///     let retention = Retention::keep_all().completed(Duration::from_secs(7 * 86_400));
    ///     while store.prune(&retention, 500)?.more {}
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`StoreError`]; a table without a column for the time of finishing refuses ages of rows.
    fn prune(&self, retention: &Retention, limit: usize) -> Result<Pruned, StoreError>;
}
