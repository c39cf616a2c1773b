//! Settling together with the caller's work.

use claimstore_core::{Claim, Receipt, SettleCause, SettleError, StoreError, Verdict};

use super::Store;
use crate::dialect::{Dialect, Place};
use crate::event::NewEvent;
use crate::protocol;
use crate::table::ClaimOn;
use crate::telemetry::Call;

impl<T: ClaimOn<D>, D: Dialect> Store<T, D> {
    /// Ends the claim and runs `work` in one transaction: both are written, or neither.
    ///
    /// The settlement comes first and holds the row, so that a lost claim is known before `work` begins.
    /// `work` runs at most once and is never repeated. It needs no second connection: it is given the
    /// transaction's own.
    ///
    /// # Errors
    /// [`SettleWithError::Settle`] where the claim could not be settled (`work` has not run, or the commit
    /// failed), [`SettleWithError::Work`] with the error of `work` and the claim, which is still held.
    pub fn settle_with<R, E>(
        &self,
        claim: Claim<T::Key>,
        verdict: Verdict,
        work: impl FnOnce(&mut D::Conn) -> Result<R, E>,
    ) -> Result<(R, Receipt), SettleWithError<T::Key, E>> {
        let call = self.call("settling with work").holding::<T>(&claim).settling(&verdict);
        let answer = self.settle_then(&call, claim, verdict, work);
        call.told(answer)
    }

    fn settle_then<R, E>(
        &self,
        call: &Call,
        claim: Claim<T::Key>,
        verdict: Verdict,
        work: impl FnOnce(&mut D::Conn) -> Result<R, E>,
    ) -> Result<(R, Receipt), SettleWithError<T::Key, E>> {
        enum Stop<E> {
            Settle(SettleCause),
            Work(E),
            Diesel(diesel::result::Error),
        }
        impl<E> From<diesel::result::Error> for Stop<E> {
            fn from(error: diesel::result::Error) -> Self {
                Stop::Diesel(error)
            }
        }
        let mut conn = match self.ready(true) {
            Ok(conn) => conn,
            Err(error) => return Err(SettleWithError::store(error, claim)),
        };
        let outcome = D::transaction(&mut *conn, self.now(), |conn| {
            let receipt = protocol::settle::<T, D>(conn, &claim, &verdict, &self.rules, Place::Callers)?
                .map_err(Stop::Settle)?;
            if receipt.already {
                // What was written then stays written; `work` must not run a second time for it.
                return Err(Stop::Settle(SettleCause::AlreadySettled(claimstore_core::AlreadySettled {
                    table: T::DECLARATION.table,
                    key: T::key_text(claim.key()),
                    fence: claim.fence(),
                    state: receipt.state,
                })));
            }
            Ok((work(conn).map_err(Stop::Work)?, receipt))
        });
        match outcome {
            Ok(done) => Ok(done),
            Err(Stop::Work(error)) => Err(SettleWithError::Work { error, claim: Box::new(claim) }),
            Err(Stop::Settle(SettleCause::Fenced(mut fenced))) => {
                // The transaction is over: now the late writer can be recorded.
                if T::DECLARATION.events
                    && let Some(late) = fenced.late.take()
                    && let Err(error) =
                        D::once(&mut conn, self.now(), &mut |c| D::record(c, &[NewEvent::late(&late)]))
                {
                    return Err(SettleWithError::store(self.failed(&mut conn, "recording", error), claim));
                }
                Err(SettleWithError::Settle(SettleError::new(SettleCause::Fenced(fenced), claim)))
            }
            Err(Stop::Settle(cause)) => Err(SettleWithError::Settle(SettleError::new(cause, claim))),
            Err(Stop::Diesel(error)) => {
                Err(SettleWithError::store(self.failed(&mut conn, call.doing(), error), claim))
            }
        }
    }
}

/// Why [`Store::settle_with`] wrote nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettleWithError<K: std::fmt::Debug + 'static, E> {
    /// The claim could not be settled.
    #[error("the claim could not be settled")]
    Settle(#[source] SettleError<K>),
    /// `work` failed; the claim is still held.
    #[error("the work in the settling transaction failed; the claim is still held")]
    Work {
        /// What `work` returned.
        error: E,
        /// The claim, still in force.
        claim: Box<Claim<K>>,
    },
}

impl<K: std::fmt::Debug + 'static, E> SettleWithError<K, E> {
    fn store(error: StoreError, claim: Claim<K>) -> Self {
        SettleWithError::Settle(SettleError::new(SettleCause::Store(error), claim))
    }
}
