//! Field reports about operators, recovery and retention, by their numbers.

mod at_work;
mod by_worker;
mod child;
mod deleted;
mod retention;
mod revival;
mod short_jobs;
mod unknown_kind;
