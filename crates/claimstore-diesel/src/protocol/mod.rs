//! The claim protocol, once for every table and both databases.
//!
//! Each function here runs on a connection it is given and says nothing of pools or retries: in the
//! library's own transactions the store wraps it, in the caller's it is called as it is.

mod batch;
mod check;
mod claim;
mod recover;
mod renew;
mod settle;

pub(crate) use batch::{settle_all, settle_and_claim};
pub(crate) use check::check_request;
pub(crate) use claim::{by_key, next};
pub(crate) use recover::{preview, recover};
pub(crate) use renew::{extend, renew_all, resume};
pub(crate) use settle::{guard, settle};

use claimstore_core::StoreError;
use diesel::QueryResult;

/// What the database said, and within that, what the protocol says.
pub(crate) type Answer<R, E = StoreError> = QueryResult<Result<R, E>>;
