//! What every store must do, one plain function for each requirement.
//!
//! A scenario prepares rows through its [`Harness`](crate::Harness), asks the store, asserts the answer
//! and then reads the rows through the harness, never through the store. Where the table lacks a column
//! it asserts the weaker promise. None of them sleeps: leases and due times are moved by the harness.
//! Each wants a harness of its own, with an empty table.

pub mod batch;
pub mod claim;
pub mod fenced;
pub mod input;
pub mod race;
pub mod ready;
pub mod recover;
pub mod renew;
pub mod settle;
mod step;
