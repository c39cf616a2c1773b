//! Proof that a store keeps the contract of `claimstore`, for authors of stores and of tables.
//!
//! **No stability promise**: this crate changes with any release, scenarios are added and tightened.
//! Depend on it from tests only, with an exact version.
//!
//! * [`Harness`]: a store under test, beside a way to prepare and read its rows that is *not* the store
//! * [`scenario`]: plain functions over a harness; their names are the requirements
//! * [`conformance!`]: each scenario as a test of its own, over one harness
//! * [`for_each_scenario!`], [`for_each_inspect_scenario!`] and [`for_each_operator_scenario!`]: the lists, by what a
//!   store can do
//! * [`model`]: random sequences of operations, compared with [`MemoryStore`]
//! * `reference` (feature `postgres`): a claim in three plain steps; the thing to read first
//! * [`MemoryStore`]: the whole contract behind one mutex, with a clock that tests can move
//!
//! ```
//! use claimstore_testkit::{MemoryHarness, scenario};
//!
//! scenario::claim::a_pending_row_is_claimed_by_key(&MemoryHarness::jobs());
//! ```

mod clock;
mod columns;
mod harness;
mod list;
mod memory;
pub mod model;
#[cfg(feature = "postgres")]
pub mod reference;
pub mod scenario;
mod seed;
mod snapshot;

pub use clock::{Clock, HostClock, ManualClock};
pub use columns::Columns;
pub use harness::{Harness, Key};
pub use memory::{MemoryHarness, MemoryKey, MemoryRow, MemoryStore};
pub use seed::{Due, Seed};
pub use snapshot::Snapshot;
