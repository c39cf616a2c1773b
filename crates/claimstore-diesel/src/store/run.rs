//! Connections, retries, and what a store learns once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant as Clock};

use claimstore_core::{StoreError, StoreErrorKind};
use diesel::r2d2::{ConnectionManager, PooledConnection, R2D2Connection};

use super::Store;
use crate::dialect::{Dialect, Isolation, Place};
use crate::on::TxError;
use crate::pool::unavailable;
use crate::protocol::Answer;
use crate::table::{ClaimOn, ClaimTable};
use crate::telemetry::{self, Call};

/// How long the library goes on trying a transaction of its own that the database would not decide.
const CONTENDED_AFTER: Duration = Duration::from_secs(10);

/// What a store has learned of how its transactions begin. It may change: a default is set anew under a
/// running store.
#[derive(Debug, Default)]
pub(super) struct Known(AtomicU64);

impl Known {
    fn get(&self) -> Option<Isolation> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Isolation::Autocommit),
            2 => Some(Isolation::Explicit),
            more => Some(Isolation::Immediate { busy: u32::try_from(more - 3).unwrap_or(u32::MAX) }),
        }
    }

    fn set(&self, isolation: Isolation) {
        let number = match isolation {
            Isolation::Autocommit => 1,
            Isolation::Explicit => 2,
            Isolation::Immediate { busy } => 3 + u64::from(busy),
        };
        self.0.store(number, Ordering::Relaxed);
    }
}

/// Whether claimstore's own tables are needed.
fn own_tables<T: ClaimTable>() -> bool {
    T::DECLARATION.events || T::DECLARATION.queues
}

/// A connection of the store's pool.
type Pooled<D> = PooledConnection<ConnectionManager<<D as Dialect>::Conn>>;

impl<T: ClaimOn<D>, D: Dialect> Store<T, D> {
    /// A connection with all that must be known once per store.
    pub(super) fn ready(&self, tested: bool) -> Result<Pooled<D>, StoreError> {
        let mut conn = if tested { self.living()? } else { self.pool.get().map_err(unavailable)? };
        if self.isolation.get().is_none() {
            let isolation = match D::isolation(&mut conn) {
                Err(_) => {
                    // The first statement on it: it may have died in the pool.
                    conn = self.living()?;
                    D::isolation(&mut conn)
                }
                known => known,
            };
            let isolation =
                isolation.map_err(|error| self.failed(&mut conn, "asking for the isolation", error))?;
            self.isolation.set(isolation);
        }
        if own_tables::<T>() && !self.schema_known.load(Ordering::Relaxed) {
            D::schema(&mut conn)
                .map_err(|problem| StoreError::new(StoreErrorKind::Schema, "checking the schema", problem))?;
            self.schema_known.store(true, Ordering::Relaxed);
        }
        Ok(conn)
    }

    /// A connection that has just answered; dead ones are thrown away on the way.
    pub(crate) fn living(&self) -> Result<Pooled<D>, StoreError> {
        let mut tries = self.pool.max_size() + 1;
        loop {
            let mut conn = self.pool.get().map_err(unavailable)?;
            match conn.ping() {
                Ok(()) => return Ok(conn),
                Err(error) if tries == 0 => return Err(self.failed(&mut conn, "connecting", error)),
                Err(_) => D::poison(&mut conn),
            }
            tries -= 1;
        }
    }

    pub(super) fn now(&self) -> Isolation {
        self.isolation.get().unwrap_or(Isolation::Autocommit)
    }

    pub(crate) fn failed(
        &self,
        conn: &mut D::Conn,
        doing: &'static str,
        error: diesel::result::Error,
    ) -> StoreError {
        let fault = D::classify(&error, false);
        if fault.poisoned {
            D::poison(conn);
        }
        StoreError::new(fault.kind, doing, error)
    }

    /// A call of this store, to be told of.
    pub(crate) fn call(&self, doing: &'static str) -> Call {
        Call::begin::<T, D>(doing)
    }

    /// A call of which only its failure is told: it has its span by the name of what it is `doing`.
    pub(crate) fn run<R>(
        &self,
        doing: &'static str,
        work: impl FnMut(&mut D::Conn, Place) -> Answer<R>,
    ) -> Result<R, StoreError> {
        let call = self.call(doing);
        let answer = self.run_in(&call, work);
        call.done(answer)
    }

    /// Runs library code that may safely run again: claims (a claim whose answer was lost is recovered
    /// after its lease), settlements (a repeated one finds itself), recovery, reads.
    pub(super) fn run_in<R>(
        &self,
        call: &Call,
        mut work: impl FnMut(&mut D::Conn, Place) -> Answer<R>,
    ) -> Result<R, StoreError> {
        let mut conn = self.ready(false)?;
        // On SQLite each try has already waited for as long as the connection's busy timeout says.
        let most = match self.now() {
            Isolation::Immediate { busy } => Duration::from_millis(busy.into()),
            _ => CONTENDED_AFTER,
        };
        let started = Clock::now();
        let (mut replaced, mut retries) = (0, 0);
        let mut pause = Duration::from_micros(500);
        loop {
            let error = match work(&mut conn, Place::Own(self.now())) {
                Ok(answer) => return answer,
                Err(error) => error,
            };
            let fault = D::classify(&error, false);
            // A statement that was refused before it began is harmless on each connection of the pool in turn.
            let replaceable = if fault.again { self.pool.max_size() } else { 1 };
            if fault.again && !fault.poisoned && started.elapsed() < most {
                // A serialization failure in autocommit: the default is not what we were told.
                if let Ok(Isolation::Explicit) = D::isolation(&mut conn) {
                    self.isolation.set(Isolation::Explicit);
                }
                retries += 1;
                telemetry::retry(retries, fault.kind);
                std::thread::sleep(pause.mul_f64(0.5 + fastrand::f64()));
                pause = (pause * 2).min(Duration::from_millis(50));
            } else if fault.poisoned && replaced < replaceable {
                replaced += 1;
                D::poison(&mut conn);
                drop(conn);
                conn = self.living()?;
            } else {
                return Err(self.failed(&mut conn, call.doing(), error));
            }
        }
    }

    /// Runs library code that must not run twice, in a transaction that its refusal rolls back.
    pub(crate) fn run_once<R>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut D::Conn) -> Result<R, TxError>,
    ) -> Result<R, StoreError> {
        let call = self.call(doing);
        let answer = self.ready(true).and_then(|mut conn| {
            D::transaction(&mut *conn, self.now(), work).map_err(|error| match error {
                TxError::Store(error) => error,
                TxError::Diesel(error) => self.failed(&mut conn, doing, error),
                other => StoreError::new(StoreErrorKind::Other, doing, other),
            })
        });
        call.done(answer)
    }
}
