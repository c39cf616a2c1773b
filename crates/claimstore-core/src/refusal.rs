//! Why a row was not claimed, and how to wait for it.

use std::fmt;
use std::time::Duration;

use crate::{Claimed, Fence, State, Timestamp, WorkerId};

/// How a claim by key waits for a row that somebody has locked.
///
/// On PostgreSQL the lock is the row's; on SQLite it is the whole file's, and a wait that runs out
/// ends in [`StoreErrorKind::Contended`](crate::StoreErrorKind::Contended).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wait {
    /// Not at all.
    #[default]
    Never,
    /// At most this long; below a millisecond counts as not at all. PostgreSQL applies it to each lock
    /// in turn, so behind a line of other waiters it can take up to twice as long.
    AtMost(Duration),
    /// Until the row is free (on SQLite: until the store's own bound for a busy file).
    Forever,
}

/// The answer to a claim by key.
#[derive(Debug)]
#[must_use = "an unsettled claim keeps its row running until the lease ends and it is recovered"]
pub enum ClaimOutcome<K, R> {
    /// It is ours.
    Claimed(Claimed<K, R>),
    /// It is not, and this is why.
    Refused(Refusal),
}

impl<K, R> ClaimOutcome<K, R> {
    /// The claim, if there is one.
    #[must_use]
    pub fn claimed(self) -> Option<Claimed<K, R>> {
        match self {
            ClaimOutcome::Claimed(claimed) => Some(claimed),
            ClaimOutcome::Refused(_) => None,
        }
    }

    /// The reason, if it was refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            ClaimOutcome::Claimed(_) => None,
            ClaimOutcome::Refused(why) => Some(why),
        }
    }
}

/// Why a row was not claimed. It was true when it was decided, and says no more.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such row.
    Missing,
    /// It is neither pending nor running.
    NotPending(State),
    /// It is pending, and due only then.
    NotDue(Timestamp),
    /// Somebody holds it.
    Held {
        /// Who, where the table stores it.
        worker: Option<WorkerId>,
        /// Until when, where the table stores it.
        until: Option<Timestamp>,
        /// Under which fence.
        fence: Fence,
        /// The lease has run out: a recovery may take it. The claim is not void until one does.
        expired: bool,
    },
    /// It looked claimable, but somebody had it locked for longer than the wait.
    Locked {
        /// What was locked.
        scope: LockScope,
    },
    /// Its queue or kind is paused.
    Paused,
    /// Its budget is spent, or its fence cannot rise any more.
    Exhausted,
}

/// What a lock covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockScope {
    /// The row.
    Row,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Missing => f.write_str("there is no such row"),
            Refusal::NotPending(state) => write!(f, "the row is {state}"),
            Refusal::NotDue(at) => write!(f, "the row is due at {at}"),
            Refusal::Held { worker, until, fence, expired } => {
                f.write_str("the row is held")?;
                if let Some(worker) = worker {
                    write!(f, " by {worker}")?;
                }
                if let Some(until) = until {
                    write!(f, " until {until}")?;
                }
                write!(f, " under fence {fence}")?;
                if *expired {
                    f.write_str("; its lease has run out and a recovery may take it")?;
                }
                Ok(())
            }
            Refusal::Locked { scope: LockScope::Row } => {
                f.write_str("the row is locked by another transaction")
            }
            Refusal::Paused => f.write_str("its queue or kind is paused"),
            Refusal::Exhausted => f.write_str("its budget is spent or its fence cannot rise"),
        }
    }
}
