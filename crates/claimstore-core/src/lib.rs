//! Types, traits and pure decisions of claimstore. No database, no Diesel.
//!
//! A *claim* is the right to finish one row. It is taken in one short transaction, carries a
//! [`Fence`] that nobody else holds, and ends by *settling*, which the store accepts only under that
//! same fence. Everything here is what a store, a worker and a test agree on; the stores themselves
//! live in `claimstore-diesel` (PostgreSQL, SQLite) and `claimstore-testkit` (in memory).
//!
//! * what is asked: [`ClaimRequest`], [`Verdict`], [`RecoveryPolicy`]
//! * what is answered: [`ClaimOutcome`], [`Batch`], [`Receipt`], [`Recovered`]
//! * what an operator sees and decides: [`Sighting`], [`Explanation`], [`Counts`], [`Action`], [`Operated`]
//! * what goes wrong: [`StoreError`], [`SettleError`], [`RenewError`], [`OperateError`], [`Fenced`],
//!   [`InputError`]
//! * who answers: [`ClaimStore`], [`RecoverStore`], [`InspectStore`], [`OperateStore`], [`QueueStore`],
//!   [`RetainStore`]

mod action;
mod backoff;
mod claim;
mod counts;
mod error;
mod event;
mod explain;
mod fence;
mod fenced;
mod filter;
mod guarantees;
mod input;
mod inspect;
#[cfg(feature = "mock")]
mod mock;
mod operate;
mod operator;
mod page;
mod queues;
mod recovery;
mod refusal;
mod request;
mod retention;
mod retry;
mod state;
mod store;
mod tally;
mod time;
mod verdict;
mod worker_id;

pub use action::{Action, Moment, Requeue, Resolution, Step};
pub use backoff::Backoff;
pub use claim::{Batch, Claim, ClaimParts, ClaimToken, Claimed, Receipt, Standing};
pub use counts::{Count, Counts};
pub use error::{RenewError, SettleCause, SettleError, StoreError, StoreErrorKind};
pub use event::{Event, Happened, History};
pub use explain::{Blocker, Explanation, Why};
pub use fence::Fence;
pub use fenced::{AlreadySettled, Fenced, LateWrite, Now, Seen, explain_unsettled};
pub use filter::Filter;
pub use guarantees::{Guarantees, RowLocks};
pub use input::{InputError, MAX_BATCH, MAX_SPAN, check_lease, check_limit, check_span, check_text};
pub use inspect::{InspectStore, Sighting};
#[cfg(feature = "mock")]
pub use mock::MockStore;
pub use operate::{
    Bulk, OperateError, OperatePreview, OperateStore, Operated, OperatedAll, Outlook, Probe, Probed,
    ProbedAll,
};
pub use operator::Operator;
pub use page::{Cursor, Page, PageOrder, PageRequest};
pub use queues::{Pausable, Pause, QueueSetting, QueueStore};
pub use recovery::{
    Expired, Recovered, RecoveredRow, RecoveryAction, RecoveryPolicy, RecoveryPreview, Spent, Unsafe,
};
pub use refusal::{ClaimOutcome, LockScope, Refusal, Wait};
pub use request::{ClaimRequest, DEFAULT_QUEUE};
pub use retention::{Pruned, RetainStore, Retention};
pub use retry::RetryPolicy;
pub use state::State;
pub use store::{ClaimStore, RecoverStore, Renewal, SettledAndClaimed};
pub use tally::{Budget, Tally};
pub use time::{LocalInstant, Timestamp};
pub use verdict::{Again, Settlement, Verdict};
pub use worker_id::WorkerId;
