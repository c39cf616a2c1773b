//! Running the embedded migrations.

use std::time::Duration;

use claimstore_core::{StoreError, StoreErrorKind};
use claimstore_migrations::{MigrateError, Report};

use crate::pool::unavailable;

/// How long a process waits for another one that is migrating.
const MIGRATION_WAIT: Duration = Duration::from_secs(60);

fn failed(why: MigrateError) -> StoreError {
    let kind = match &why {
        MigrateError::Locked { .. } => StoreErrorKind::Contended,
        MigrateError::Database { .. } => StoreErrorKind::Unavailable,
        _ => StoreErrorKind::Schema,
    };
    StoreError::new(kind, "migrating", why)
}

#[cfg(feature = "postgres")]
impl<T: crate::ClaimOn<diesel::pg::Pg>> crate::PgStore<T> {
    /// Brings claimstore's own tables to this version. Any number of processes may call it at once: one
    /// migrates, the others wait for up to a minute.
    ///
    /// # Errors
    /// [`StoreError`] of kind `Schema`, naming who holds the lock, or a schema newer than this library.
    pub fn migrate(&self) -> Result<Report, StoreError> {
        let mut conn = self.pool().get().map_err(unavailable)?;
        claimstore_migrations::run_postgres(&mut conn, MIGRATION_WAIT).map_err(failed)
    }
}

#[cfg(feature = "sqlite")]
impl<T: crate::ClaimOn<diesel::sqlite::Sqlite>> crate::SqliteStore<T> {
    /// Brings claimstore's own tables to this version. Any number of processes may call it at once: one
    /// migrates, the others wait for up to a minute.
    ///
    /// # Errors
    /// [`StoreError`] of kind `Schema`: the file stayed busy, or its schema is newer than this library.
    pub fn migrate(&self) -> Result<Report, StoreError> {
        let mut conn = self.pool().get().map_err(unavailable)?;
        claimstore_migrations::run_sqlite(&mut conn, MIGRATION_WAIT).map_err(failed)
    }
}
