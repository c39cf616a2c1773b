//! Which text a node needs.

use claimstore_core::State;

use crate::declaration::Declaration;
use crate::query::{Hold, LookFor, Setting};

/// The statements of a table. Two nodes of one shape have the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Claim what is due.
    ClaimNext {
        /// The limit is no greater than this power of two, which stands in the text: a plan for a bound limit is
        /// made anew for each claim. 0 for a limit beyond all powers.
        most: u32,
        /// How many queues are merged; 0 for a table without queues. On PostgreSQL several are one
        /// array, so that 2 stands for any number above 1.
        queues: u8,
        /// Not the rows given.
        except: bool,
    },
    /// Claim this row.
    ClaimKey {
        /// Wait for its lock instead of passing over it.
        wait: bool,
    },
    /// Extend leases.
    Renew,
    /// End one claim.
    Settle {
        /// Where the row goes.
        to: State,
        /// Its due time is set.
        delay: bool,
        /// An error text is kept.
        error: bool,
        /// The row is deleted; only a completed one ever is.
        discard: bool,
    },
    /// End several claims.
    SettleMany {
        /// More than completions.
        mixed: bool,
        /// All are completions whose rows are deleted.
        discard: bool,
        /// Rows that somebody has locked are passed over.
        skip: bool,
    },
    /// End several claims and claim what is due.
    SettleAndClaim {
        /// As in `SettleMany`.
        mixed: bool,
        /// As in `SettleMany`.
        discard: bool,
        /// As in `ClaimNext`.
        most: u32,
        /// As in `ClaimNext`.
        queues: u8,
    },
    /// Find expired leases.
    Expiring {
        /// After this lease end and key.
        after: bool,
    },
    /// End expired claims.
    Recover,
    /// Keep a claim in force until the transaction ends.
    Guard,
    /// Read one row's claim columns.
    Observe,
    /// When the next row of these queues is due.
    NextDue {
        /// As in `ClaimNext`.
        queues: u8,
    },
    /// Look at one row.
    LookAt {
        /// Whether it is taken.
        hold: Hold,
    },
    /// Look at rows of a filter.
    LookFor(LookFor),
    /// Read one row as its model.
    Read,
    /// Write operators' decisions.
    Operate,
    /// Delete rows that were seen.
    Remove,
    /// Count rows of a state.
    Count {
        /// The state.
        state: State,
        /// Only those that came to it lately.
        recent: bool,
    },
    /// Since when the oldest pending row is due.
    OldestDue,
    /// Delete finished rows.
    Prune {
        /// Of this state.
        state: State,
    },
    /// Delete old events.
    PruneEvents,
    /// Set what holds for a queue or kind.
    SetQueue {
        /// For a kind, and not a queue.
        kind: bool,
        /// What.
        setting: Setting,
    },
    /// Read what is set for queues and kinds.
    Settings,
    /// Which row has this row's unique key.
    Holder,
    /// Who has this row locked (PostgreSQL).
    Blockers,
}

impl Shape {
    /// What a statement of this shape needs and this table does not have. Without this check the text would
    /// name no column, or write NULL as the state.
    pub(crate) fn lacks(self, table: &Declaration) -> Option<&'static str> {
        let columns = &table.columns;
        match self {
            Shape::NextDue { .. } | Shape::OldestDue if columns.due.is_none() => Some("due column"),
            Shape::Prune { .. } if columns.finished_at.is_none() => Some("finished_at column"),
            Shape::Prune { state } if !state.is_final() => Some("end of that state"),
            Shape::Expiring { .. } | Shape::Recover if columns.lease.is_none() => Some("lease column"),
            Shape::Settle { to, .. } if table.words.word(to).is_none() => Some("word for that state"),
            Shape::SettleMany { mixed: false, .. } | Shape::SettleAndClaim { mixed: false, .. }
                if table.words.completed.is_none() =>
            {
                Some("word for that state")
            }
            _ => None,
        }
    }
}

/// The parts from which a dialect makes its claim statement.
#[derive(Debug)]
pub struct ClaimParts<'a> {
    /// The table, quoted.
    pub table: &'a str,
    /// The key column, quoted, unqualified.
    pub key: &'a str,
    /// The candidate selects, one for each queue (PostgreSQL: always one).
    pub candidates: Vec<String>,
    /// What the limit does not exceed, as in the shape; `None` for a claim by key, which has no limit.
    pub most: Option<u32>,
    /// Merge the candidates of several queues.
    pub merge: bool,
    /// The assignments of the update.
    pub set: &'a str,
    /// The state test of the update, repeated after the lock.
    pub still: &'a str,
    /// What the update returns, order columns last.
    pub returning: &'a str,
    /// The order columns, quoted and unqualified, with their direction.
    pub order: &'a [(String, bool)],
    /// The update returns rows in the order it was asked for only if told so.
    pub sort: bool,
}
