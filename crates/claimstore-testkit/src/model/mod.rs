//! Random sequences of operations, on a store and on the memory model side by side.
//!
//! ```
//! use claimstore_testkit::{MemoryHarness, model};
//! use proptest::prelude::*;
//!
//! proptest!(ProptestConfig::with_cases(4), |(ops in model::ops(40))| {
//!     model::run_against_model(&MemoryHarness::jobs(), &ops)?;
//! });
//! ```

mod both;
mod op;
mod run;
mod told;

pub use op::{Op, Say, ops};
pub use run::run_against_model;
