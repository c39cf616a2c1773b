//! The claim protocol, once for every table and both databases.
//!
//! Each function here runs on a connection it is given and says nothing of pools or retries: in the
//! library's own transactions the store wraps it, in the caller's it is called as it is.

mod batch;
mod check;
mod claim;
mod events;
mod inspect;
mod operate;
mod queues;
mod recover;
mod renew;
mod retain;
mod settle;

pub(crate) use batch::{settle_all, settle_and_claim};
pub(crate) use check::check_request;
pub(crate) use claim::{by_key, next};
pub(crate) use events::{enqueued, history};
pub(crate) use inspect::{counts, explain, page, read, show};
pub(crate) use operate::{operate, operate_all, preview_all};
pub(crate) use queues::{keep_completed, pause, settings, unpause};
pub(crate) use recover::{preview, recover};
pub(crate) use renew::{extend, renew_all, resume};
pub(crate) use retain::prune;
pub(crate) use settle::{guard, settle};

use claimstore_core::{History, RetryPolicy, StoreError};
use diesel::QueryResult;

/// What the database said, and within that, what the protocol says.
pub(crate) type Answer<R, E = StoreError> = QueryResult<Result<R, E>>;

/// What a store was told of how it works.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// What a reported failure leads to.
    pub(crate) retry: RetryPolicy,
    /// What is recorded.
    pub(crate) history: History,
}
