//! What every store must do, one plain function for each requirement.
//!
//! A scenario prepares rows through its [`Harness`](crate::Harness), asks the store, asserts the answer
//! and then reads the rows through the harness, never through the store. Where the table lacks a column
//! it asserts the weaker promise. None of them sleeps: leases and due times are moved by the harness.
//! Each wants a harness of its own, with an empty table.

mod acting;
pub mod batch;
pub mod bulk;
pub mod claim;
pub mod contest;
pub mod counts;
pub mod discard;
pub mod fenced;
pub mod force;
pub mod history;
pub mod input;
pub mod inspect;
pub mod operate;
pub mod page;
pub mod pause;
pub mod probe;
pub mod race;
pub mod ready;
pub mod recover;
pub mod renew;
pub mod retain;
pub mod revive;
pub mod settle;
mod step;
