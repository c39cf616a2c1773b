//! Being refused because the claim is not ours any more.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Fence, Receipt, SettleCause, Settlement, State, Tally, Timestamp, WorkerId};

/// The row belongs to somebody else now, or to nobody. The caller's writes must not commit.
///
/// It is an `Err` because in Diesel only an `Err` rolls the caller's transaction back.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("claim on {table} {key} under fence {held} is lost: {now}")]
pub struct Fenced {
    /// The table.
    pub table: &'static str,
    /// The row's key, printed.
    pub key: String,
    /// The fence that was shown.
    pub held: Fence,
    /// How the row stands now.
    pub now: Now,
    /// What the late writer wanted to say. In the caller's transaction it is not recorded yet: hand it
    /// to `store.record_late` after the rollback. Where the library owned the transaction it has been
    /// recorded already and this is `None`, or, where the table keeps no events, stands here for the
    /// caller to log.
    pub late: Option<Box<LateWrite>>,
}

/// How the row of a refused writer stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Now {
    /// It does not exist.
    Gone,
    /// It exists, under this fence.
    Row {
        /// Its state.
        state: State,
        /// Its fence.
        fence: Fence,
        /// Its holder, where there is one and the table stores it.
        worker: Option<WorkerId>,
    },
}

impl fmt::Display for Now {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Now::Gone => f.write_str("the row is gone"),
            Now::Row { state, fence, worker } => {
                write!(f, "the row is {state} under fence {fence}")?;
                match worker {
                    Some(worker) if *state == State::Running => write!(f, ", held by {worker}"),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// A refused late writer, as data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LateWrite {
    /// The table.
    pub table: String,
    /// The row's key, printed.
    pub key: String,
    /// Who wrote late.
    pub worker: WorkerId,
    /// Under which fence.
    pub held: Fence,
    /// How the row stood then.
    pub now: Now,
    /// What it wanted: `complete`, `fail`, `release`, `snooze` or `renew`.
    pub verb: String,
    /// The error text of its verdict, if it had one.
    pub error: Option<String>,
}

/// The claim was settled before, with another verdict. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("claim on {table} {key} under fence {fence} was settled before: the row is {state}")]
pub struct AlreadySettled {
    /// The table.
    pub table: &'static str,
    /// The row's key, printed.
    pub key: String,
    /// The fence that was shown, and that the row still carries.
    pub fence: Fence,
    /// Where the row went then.
    pub state: State,
}

/// A row's claim columns, as one plain read saw them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Its state.
    pub state: State,
    /// Its fence.
    pub fence: Fence,
    /// Its holder, where stored.
    pub worker: Option<WorkerId>,
    /// The end of its lease, where stored.
    pub until: Option<Timestamp>,
    /// When it is due, where stored.
    pub due: Option<Timestamp>,
    /// What it has cost, where stored.
    pub tally: Tally,
    /// What it may cost, where stored.
    pub budget: crate::Budget,
    /// The deciding clock at that read.
    pub clock: Timestamp,
    /// Whether its queue or kind is paused.
    pub paused: bool,
}

/// Decides what a settlement that changed no row means, from one plain read after it.
///
/// The same fence and no longer running: an earlier answer of ours was lost. That is a success where
/// the verdict was the same (state and counts agree), and [`AlreadySettled`] where it was another.
/// Anything else is [`Fenced`]. Counts that the table does not store must be the same in `want` and
/// `seen`, so that they decide nothing.
///
/// # Errors
/// [`SettleCause::AlreadySettled`] or [`SettleCause::Fenced`].
pub fn explain_unsettled(
    table: &'static str,
    key: String,
    held: Fence,
    want: &Settlement,
    seen: Option<&Seen>,
) -> Result<Receipt, SettleCause> {
    match seen {
        Some(seen) if seen.fence == held && seen.state != State::Running => {
            let same = seen.state == want.to && seen.tally == want.tally;
            if same {
                return Ok(Receipt { state: seen.state, already: true });
            }
            Err(SettleCause::AlreadySettled(AlreadySettled { table, key, fence: held, state: seen.state }))
        }
        _ => Err(SettleCause::Fenced(Box::new(Fenced { table, key, held, now: Now::of(seen), late: None }))),
    }
}

impl Now {
    /// From one plain read.
    #[must_use]
    pub fn of(seen: Option<&Seen>) -> Now {
        seen.map_or(Now::Gone, |seen| Now::Row {
            state: seen.state,
            fence: seen.fence,
            worker: seen.worker.clone(),
        })
    }
}
