//! claimstore on Diesel: the claim statements as queries, and the stores for PostgreSQL and SQLite.
//!
//! Use it through the crate `claimstore`, which names features and re-exports.
//!
//! * [`query`]: the statements, as public Diesel queries;
//! * [`Store`]: sugar over them, with wait modes, reasons, retries and late writers;
//! * [`On`]: the same verbs in the caller's transaction;
//! * [`Job`] and [`NewJob`]: the table it brings;
//! * [`ClaimTable`]: the derive for a table of the user's own.

// The derive names this crate as its users do.
extern crate self as claimstore;

mod declaration;
#[doc(hidden)]
pub mod derive_support;
mod dialect;
mod enqueue;
mod event;
mod job;
mod migrate;
mod on;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
mod protocol;
pub mod query;
pub mod schema;
pub mod sql_types;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod table;
mod telemetry;
mod unique;
pub mod verify;

pub use claimstore_core as core;
pub use claimstore_derive::ClaimTable;
pub use declaration::{Columns, Declaration, Order, Words};
pub use dialect::{Dialect, Fault, Isolation, Place, SortKey, WritesTwice};
pub use job::{Job, JobKind, NewJob, PayloadError};
pub use on::{Answers, On, TxError};
#[cfg(feature = "postgres")]
pub use postgres::{PgPool, PgStore};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqlitePool, SqliteStore, Synchronous};
pub use store::{SettleWithError, Store};
pub use table::{ClaimOn, ClaimTable, KeepsEvents, KeepsQueues};
pub use telemetry::describe_metrics;
pub use unique::{Enqueued, OnDuplicate};
