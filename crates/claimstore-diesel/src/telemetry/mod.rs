//! What the store tells of its calls: a span for each, and numbers.
//!
//! Both go through facades: without a subscriber and a recorder in the process nobody listens, and a call
//! pays less than a quarter of a microsecond. Each call of a store opens one [`Call`] and hands its answer back through
//! it; what an answer counts stands in `answers`, what the numbers are called in `metrics`.
//!
//! What a row holds for the work (its payload), the error text of a verdict and the database's own messages
//! are never told: they may hold what nobody may see. The caller has them.

mod answers;
mod call;
mod callers;
mod metrics;
mod span;
mod words;

pub(crate) use call::{Call, retry};
pub use metrics::describe_metrics;
pub(crate) use metrics::oldest_due;
