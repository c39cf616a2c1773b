//! SQLite: no row locks, the host's clock, one writer at a time.
//!
//! What is made up for, and how: the first statement of each transaction is the guarded write, never a
//! read, and the transaction is begun as a writer (`BEGIN IMMEDIATE`), so that no stale snapshot decides
//! anything. The guards in each `WHERE` are the same as on PostgreSQL, so correctness never rests on a lock
//! that SQLite does not have. Waiting for the file is bounded and ends in `Contended` (ADR 0008).

mod classify;
mod dialect;
mod enqueue;
mod filesystem;
mod given;
mod options;
mod text;
mod transaction;
mod unique;

use diesel::SqliteConnection;
use diesel::r2d2::{ConnectionManager, Pool};
use diesel::sqlite::Sqlite;

use claimstore_core::StoreError;

use crate::pool::{self, PoolOptions};
use crate::store::Store;

pub(crate) use classify::classify;
use enqueue::enqueue;
pub(crate) use filesystem::network_type;
pub use options::{SqliteOptions, Synchronous};

/// A store on an SQLite file for rows of `T`.
pub type SqliteStore<T> = Store<T, Sqlite>;

/// A pool of SQLite connections.
pub type SqlitePool = Pool<ConnectionManager<SqliteConnection>>;

impl<T: crate::ClaimOn<Sqlite>> SqliteStore<T> {
    /// A store on this file, which is created if need be, with [`SqliteOptions::default`].
    ///
    /// `:memory:` works with a single connection: each further one would see its own empty database.
    ///
    /// # Errors
    /// [`StoreError`] where the file cannot be opened, will not switch to WAL, lies on a network file
    /// system, or names a shared-cache database in memory.
    pub fn open(path: &str) -> Result<Self, StoreError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// The same with other settings.
    ///
    /// # Errors
    /// As [`open`](SqliteStore::open).
    pub fn open_with(path: &str, options: SqliteOptions) -> Result<Self, StoreError> {
        options.check_path(path)?;
        let manager = ConnectionManager::new(path);
        let connections = if options::is_in_memory(path) { 1 } else { options.connections };
        let pool = pool::build(manager, PoolOptions { connections, customizer: Some(Box::new(options)) })?;
        Self::new(pool)
    }

    /// A store on the caller's pool. Build it with [`SqliteOptions`] as the connection customizer, so that
    /// each connection waits for a busy file, uses WAL and syncs.
    ///
    /// # Errors
    /// [`StoreError`] for a database in memory with more than one connection.
    pub fn new(pool: SqlitePool) -> Result<Self, StoreError> {
        options::check_pool(&pool)?;
        Ok(Self::over(pool))
    }
}
