//! The store: a pool, and the protocol run on its connections.

mod roles;
mod run;
mod settle_with;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimstore_core::{LateWrite, RetryPolicy, StoreError};
use diesel::r2d2::{ConnectionManager, Pool};

use crate::dialect::{Dialect, Place};
use crate::on::On;
use crate::table::{ClaimOn, KeepsEvents};

pub use settle_with::SettleWithError;

/// Claims and settles rows of `T` on the database `D`, see [`PgStore`](crate::PgStore) and
/// [`SqliteStore`](crate::SqliteStore).
///
/// Cheap to clone; clones share the pool. It runs on any number of threads.
///
/// Its own transactions are short and hold no user code, except in [`settle_with`](Store::settle_with). A
/// deadlock, serialization failure or busy file in one of them is tried again, with jitter, for at most ten
/// seconds; a dead connection gets one fresh try.
pub struct Store<T, D: Dialect> {
    pool: Pool<ConnectionManager<D::Conn>>,
    policy: RetryPolicy,
    isolation: Arc<run::Known>,
    schema_known: Arc<AtomicBool>,
    table: PhantomData<fn() -> T>,
}

impl<T, D: Dialect> Clone for Store<T, D> {
    fn clone(&self) -> Self {
        Store {
            pool: self.pool.clone(),
            policy: self.policy,
            isolation: self.isolation.clone(),
            schema_known: self.schema_known.clone(),
            table: PhantomData,
        }
    }
}

impl<T, D: Dialect> std::fmt::Debug for Store<T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("backend", &D::NAME)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl<T: ClaimOn<D>, D: Dialect> Store<T, D> {
    pub(crate) fn over(pool: Pool<ConnectionManager<D::Conn>>) -> Self {
        Store {
            pool,
            policy: RetryPolicy::default(),
            isolation: Arc::default(),
            schema_known: Arc::default(),
            table: PhantomData,
        }
    }

    /// With this policy for reported failures.
    #[must_use]
    pub fn retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The pool, for the caller's own queries.
    #[must_use]
    pub fn pool(&self) -> &Pool<ConnectionManager<D::Conn>> {
        &self.pool
    }

    /// Every verb on the caller's connection, in the caller's transaction.
    pub fn on<'a>(&self, conn: &'a mut D::Conn) -> On<'a, T, D> {
        On::new(conn, self.policy)
    }

    /// Records a late writer that was refused inside the caller's transaction, after that was rolled back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record_late(&self, late: &LateWrite) -> Result<(), StoreError>
    where
        T: KeepsEvents,
    {
        self.run("recording a late writer", |conn, place| {
            let Place::Own(isolation) = place else { return Ok(Ok(())) };
            D::once(conn, isolation, &mut |conn| D::record_late(conn, late)).map(Ok)
        })
    }
}
