//! Types, traits and pure decisions of claimstore. No database, no Diesel.
//!
//! A *claim* is the right to finish one row. It is taken in one short transaction, carries a
//! [`Fence`] that nobody else holds, and ends by *settling*, which the store accepts only under that
//! same fence. Everything here is what a store, a worker and a test agree on; the stores themselves
//! live in `claimstore-diesel` (PostgreSQL, SQLite) and `claimstore-testkit` (in memory).
//!
//! * what is asked: [`ClaimRequest`], [`Verdict`], [`RecoveryPolicy`]
//! * what is answered: [`ClaimOutcome`], [`Batch`], [`Receipt`], [`Recovered`]
//! * what goes wrong: [`StoreError`], [`SettleError`], [`RenewError`], [`Fenced`], [`InputError`]
//! * who answers: [`ClaimStore`], [`RecoverStore`]

mod backoff;
mod claim;
mod error;
mod fence;
mod fenced;
mod guarantees;
mod input;
#[cfg(feature = "mock")]
mod mock;
mod recovery;
mod refusal;
mod request;
mod retry;
mod state;
mod store;
mod tally;
mod time;
mod verdict;
mod worker_id;

pub use backoff::Backoff;
pub use claim::{Batch, Claim, ClaimParts, ClaimToken, Claimed, Receipt, Standing};
pub use error::{RenewError, SettleCause, SettleError, StoreError, StoreErrorKind};
pub use fence::Fence;
pub use fenced::{AlreadySettled, Fenced, LateWrite, Now, Seen, explain_unsettled};
pub use guarantees::{Guarantees, RowLocks};
pub use input::{InputError, MAX_BATCH, MAX_SPAN, check_lease, check_limit, check_span, check_text};
#[cfg(feature = "mock")]
pub use mock::MockStore;
pub use recovery::{
    Expired, Recovered, RecoveredRow, RecoveryAction, RecoveryPolicy, RecoveryPreview, Spent, Unsafe,
};
pub use refusal::{ClaimOutcome, LockScope, Refusal, Wait};
pub use request::{ClaimRequest, DEFAULT_QUEUE};
pub use retry::RetryPolicy;
pub use state::State;
pub use store::{ClaimStore, RecoverStore, Renewal, SettledAndClaimed};
pub use tally::{Budget, Tally};
pub use time::{LocalInstant, Timestamp};
pub use verdict::{Again, Settlement, Verdict};
pub use worker_id::WorkerId;
