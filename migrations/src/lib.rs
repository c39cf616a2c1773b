//! The tables of claimstore on PostgreSQL and SQLite.
//!
//! Two ways lead to them, and both end with the same tables and the same versions in Diesel's
//! `__diesel_schema_migrations`:
//!
//! * **export**: [`export`] writes the folders into your own migrations directory, and they are applied
//!   with your other migrations by whatever applies those.
//! * **run**: `run_postgres` or `run_sqlite` (behind the features of these names) applies the embedded
//!   folders. Any number of processes may do so at once.
//!
//! # Guarantees
//!
//! * One process migrates at a time, the others wait no longer than they said and then find everything
//!   done. Who waits in vain is told for whom.
//! * All or nothing: one transaction holds the lock, the tables and the record of them. A process that is
//!   killed leaves nothing behind, no lock either.
//! * No state of the session is changed, so that the connection may come from a pooler that hands it to
//!   another client after each transaction.
//! * Only versions that begin with `0000claimstore` are applied or taken down. They sort before dated
//!   versions, so that reverting the last migration of a project never meets them.
//! * A schema that is newer than this library is refused before anything is touched.
//!
//! # What it does not do
//!
//! The lock is known to this crate only. Where the exported folders are applied by another runner, that
//! runner decides what happens when two of them start at once; Diesel's own takes no lock.
//!
//! `MigrationHarness::revert_all_migrations` fails on versions that its source does not hold. Projects that
//! call it export, or use `revert_postgres` and `revert_sqlite` first.

mod embedded;
mod error;
mod export;
mod files;
mod schema;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod apply;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod lock;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use embedded::{postgres, sqlite};
pub use error::{LockHolder, MigrateError, Report};
pub use export::{ExportError, export};
pub use files::Dialect;
#[cfg(feature = "postgres")]
pub use postgres::{check_postgres, revert_postgres, run_postgres, run_postgres_telling};
pub use schema::{SCHEMA_VERSION, SchemaProblem};
#[cfg(feature = "sqlite")]
pub use sqlite::{check_sqlite, revert_sqlite, run_sqlite, run_sqlite_telling};
