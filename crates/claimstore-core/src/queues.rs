//! Pausing queues and kinds, and what becomes of their finished rows.

use serde::{Deserialize, Serialize};

use crate::input::{InputError, check_text};
use crate::{ClaimStore, Operator, StoreError, Timestamp};

/// What can be paused.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pausable {
    /// All rows of a queue.
    Queue(String),
    /// All rows of a kind, in every queue.
    Kind(String),
}

impl Pausable {
    /// A queue.
    pub fn queue(name: impl Into<String>) -> Pausable {
        Pausable::Queue(name.into())
    }

    /// A kind.
    pub fn kind(name: impl Into<String>) -> Pausable {
        Pausable::Kind(name.into())
    }

    /// `queue` or `kind`, as stored.
    #[must_use]
    pub const fn scope(&self) -> &'static str {
        match self {
            Pausable::Queue(_) => "queue",
            Pausable::Kind(_) => "kind",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Pausable::Queue(name) | Pausable::Kind(name) => name,
        }
    }

    /// Refuses a name that no row can have.
    ///
    /// # Errors
    /// [`InputError`] for an empty name, one of more than 200 bytes, or U+0000 in it.
    pub fn check(&self) -> Result<(), InputError> {
        check_text(self.scope(), self.name(), 200)
    }
}

/// Since when something is paused, by whom and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// Since when, by the deciding clock.
    pub since: Timestamp,
    /// Who paused it.
    pub actor: String,
    /// Why.
    pub reason: String,
}

/// What is set for a queue or kind. One that was never set is not listed: it runs, and its finished rows are
/// kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueueSetting {
    /// The queue or kind.
    pub what: Pausable,
    /// Whether it is paused.
    pub pause: Option<Pause>,
    /// Whether its completed rows are kept until retention takes them (queues only).
    pub keep_completed: bool,
}

/// Holds queues and kinds back, and lets them go.
pub trait QueueStore: ClaimStore {
    /// Holds it: no claim that begins after this has returned takes a row of it. Claims that are held go on,
    /// are renewed and settled as ever. Says whether it was running before; a second pause changes nothing, so
    /// that the first one's reason stays.
    ///
    /// # Errors
    /// [`StoreError`].
    fn pause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError>;

    /// Ends the pause. Says whether there was one.
    ///
    /// Not called `resume`, which is what [`ClaimStore::resume`] does with a claim.
    ///
    /// # Errors
    /// [`StoreError`].
    fn unpause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError>;

    /// Keeps the completed rows of this queue (the default), or deletes each in the settlement that completes
    /// it. It holds for rows *claimed* after this has returned. Dead and cancelled rows are always kept.
    ///
    /// Where rows are deleted at once, a completion that is repeated because its answer was lost finds no row
    /// and is refused as gone: that its first try succeeded cannot be told any more. Says whether anything
    /// changed.
    ///
    /// # Errors
    /// [`StoreError`].
    fn keep_completed(&self, queue: &str, keep: bool, by: &Operator) -> Result<bool, StoreError>;

    /// Everything that is set, queues first, by name.
    ///
    /// # Errors
    /// [`StoreError`].
    fn queues(&self) -> Result<Vec<QueueSetting>, StoreError>;
}
