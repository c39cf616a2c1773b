//! PostgreSQL: row locks, the server's clock, READ COMMITTED.

mod classify;
mod dialect;
mod enqueue;
mod look;
mod text;

use diesel::PgConnection;
use diesel::pg::Pg;
use diesel::r2d2::{ConnectionManager, Pool};

use claimstore_core::StoreError;

use crate::pool::{self, PoolOptions};
use crate::store::Store;

pub(crate) use classify::classify;
use enqueue::enqueue;
use look::{blocker, estimate};

/// A store on PostgreSQL for rows of `T`.
pub type PgStore<T> = Store<T, Pg>;

/// A pool of PostgreSQL connections.
pub type PgPool = Pool<ConnectionManager<PgConnection>>;

impl<T: crate::ClaimOn<Pg>> PgStore<T> {
    /// A store with a pool of its own on `url`, of up to ten connections that are not tested on each
    /// checkout (ADR 0007).
    ///
    /// # Errors
    /// [`StoreError`] where the address is wrong or the server cannot be reached.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Ok(Self::new(pool::build(ConnectionManager::new(url), PoolOptions::default())?))
    }

    /// A store on the caller's pool. Leave `test_on_check_out` off there: the store finds a dead
    /// connection by itself, and the test costs a round trip for each call.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        Self::over(pool)
    }
}
