//! Contested state transitions on Diesel: many workers, one row, exactly one of them takes it from pending
//! to running, and only that one may finish it.
//!
//! Features, all additive, none by default: `postgres`, `postgres-bundled`, `sqlite`, `sqlite-bundled`,
//! `migrations`, `mock`. Without a backend this is the types and traits alone, which is all that code
//! tested with `mock` needs.

pub use claimstore_core as core;
#[cfg(feature = "mock")]
pub use claimstore_core::MockStore;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use claimstore_diesel::{
    __with_postgres, __with_sqlite, Answers, ClaimOn, ClaimTable, Columns, Declaration, Dialect, Enqueued,
    Job, JobKind, KeepsEvents, KeepsQueues, NewJob, On, OnDuplicate, Order, PayloadError, SettleWithError,
    Store, TxError, Words, derive_support, describe_metrics, query, schema, sql_types, verify,
};
#[cfg(feature = "postgres")]
pub use claimstore_diesel::{PgPool, PgStore};
#[cfg(feature = "sqlite")]
pub use claimstore_diesel::{SqliteOptions, SqlitePool, SqliteStore, Synchronous};
#[cfg(feature = "migrations")]
pub use claimstore_migrations as migrations;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use derive_support::diesel;

pub mod prelude;
