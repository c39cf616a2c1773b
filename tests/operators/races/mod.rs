//! Operators against claimers, holders, sweepers and each other: forced one way and the other, and let loose.

mod bulk;
mod guards;
mod in_flight;
mod locked;
mod operator_first;
mod operators;
mod story;
mod usable;
mod worker_first;
