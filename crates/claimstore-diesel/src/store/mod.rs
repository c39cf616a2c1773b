//! The store: a pool, and the protocol run on its connections.

mod inspect;
mod operate;
mod queues;
mod retain;
mod roles;
mod run;
mod settle_with;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimstore_core::{History, LateWrite, RetryPolicy, StoreError};
use diesel::r2d2::{ConnectionManager, Pool};

use crate::dialect::{Dialect, Place};
use crate::event::NewEvent;
use crate::on::On;
use crate::protocol::Rules;
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
    rules: Rules,
    isolation: Arc<run::Known>,
    schema_known: Arc<AtomicBool>,
    table: PhantomData<fn() -> T>,
}

impl<T, D: Dialect> Clone for Store<T, D> {
    fn clone(&self) -> Self {
        Store {
            pool: self.pool.clone(),
            rules: self.rules,
            isolation: self.isolation.clone(),
            schema_known: self.schema_known.clone(),
            table: PhantomData,
        }
    }
}

impl<T, D: Dialect> std::fmt::Debug for Store<T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("backend", &D::NAME).field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl<T: ClaimOn<D>, D: Dialect> Store<T, D> {
    pub(crate) fn over(pool: Pool<ConnectionManager<D::Conn>>) -> Self {
        Store {
            pool,
            rules: Rules::default(),
            isolation: Arc::default(),
            schema_known: Arc::default(),
            table: PhantomData,
        }
    }

    /// With this policy for reported failures.
    #[must_use]
    pub fn retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.rules.retry = policy;
        self
    }

    /// Records this much. It changes nothing for a table that keeps no events.
    #[must_use]
    pub fn recording(mut self, history: History) -> Self
    where
        T: KeepsEvents,
    {
        self.rules.history = history;
        self
    }

    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    /// The pool, for the caller's own queries.
    #[must_use]
    pub fn pool(&self) -> &Pool<ConnectionManager<D::Conn>> {
        &self.pool
    }

    /// Every verb on the caller's connection, in the caller's transaction.
    pub fn on<'a>(&self, conn: &'a mut D::Conn) -> On<'a, T, D> {
        On::new(conn, self.rules)
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
            D::once(conn, isolation, &mut |conn| D::record(conn, &[NewEvent::late(late)])).map(Ok)
        })
    }
}
