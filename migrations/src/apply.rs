//! Applying and taking down, inside a transaction that is open and holds the lock.

use std::collections::HashSet;
use std::error::Error;

use diesel::backend::Backend;
use diesel::connection::{AnsiTransactionManager, Connection, TransactionManager};
use diesel::migration::{Migration, MigrationSource};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::MigrateError;

type Boxed = Box<dyn Error + Send + Sync>;

/// Applies what is not recorded yet, oldest first.
pub(crate) fn up<C, DB>(conn: &mut C, source: EmbeddedMigrations) -> Result<Vec<String>, MigrateError>
where
    C: MigrationHarness<DB>,
    DB: Backend,
{
    let pending = conn.pending_migrations(source).map_err(bookkeeping)?;
    let mut done = Vec::new();
    for migration in &pending {
        conn.run_migration(migration).map_err(failed(migration.as_ref()))?;
        done.push(migration.name().version().to_string());
    }
    Ok(done)
}

/// Takes down what is recorded and in the source, newest first. What else is recorded stays.
pub(crate) fn down<C, DB>(conn: &mut C, source: EmbeddedMigrations) -> Result<Vec<String>, MigrateError>
where
    C: MigrationHarness<DB>,
    DB: Backend,
{
    let applied: HashSet<_> = conn.applied_migrations().map_err(bookkeeping)?.into_iter().collect();
    let mut ours: Vec<Box<dyn Migration<DB>>> = source.migrations().map_err(bookkeeping)?;
    ours.retain(|migration| applied.contains(&migration.name().version()));
    ours.sort_unstable_by(|a, b| b.name().version().cmp(&a.name().version()));
    let mut done = Vec::new();
    for migration in &ours {
        conn.revert_migration(migration).map_err(failed(migration.as_ref()))?;
        done.push(migration.name().version().to_string());
    }
    Ok(done)
}

/// Commits what went well and rolls back what did not, keeping the first error.
///
/// Diesel's `immediate_transaction` would return the error of a failing rollback in place of the one that
/// led to it. That the rollback failed is not lost: Diesel marks the connection broken, and a pool drops it.
pub(crate) fn finish<C, T>(conn: &mut C, outcome: Result<T, MigrateError>) -> Result<T, MigrateError>
where
    C: Connection<TransactionManager = AnsiTransactionManager>,
{
    match outcome {
        Ok(value) => {
            AnsiTransactionManager::commit_transaction(conn).map_err(MigrateError::database("committing"))?;
            Ok(value)
        }
        Err(first) => {
            let _ = AnsiTransactionManager::rollback_transaction(conn);
            Err(first)
        }
    }
}

fn bookkeeping(source: Boxed) -> MigrateError {
    MigrateError::Database { doing: "reading __diesel_schema_migrations", source }
}

fn failed<DB: Backend>(migration: &dyn Migration<DB>) -> impl FnOnce(Boxed) -> MigrateError {
    let version = migration.name().version().to_string();
    move |source| MigrateError::Failed { version, source }
}
