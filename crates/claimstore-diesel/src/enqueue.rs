//! Enqueueing jobs.

use claimstore_core::{InputError, MAX_BATCH, StoreError};

use crate::dialect::Dialect;
use crate::job::{Job, NewJob};
use crate::on::{On, TxError};
use crate::protocol;
use crate::store::Store;
use crate::table::ClaimOn;
use crate::unique::Enqueued;

/// How often a transaction is begun that the database ends to break a deadlock. Calls of this library never wait
/// for each other in a ring; with a transaction of the caller's they may.
const TRIES: usize = 5;

fn check(jobs: &[NewJob]) -> Result<(), InputError> {
    if jobs.len() > MAX_BATCH {
        return Err(InputError::Limit { given: jobs.len() });
    }
    jobs.iter().try_for_each(NewJob::check)
}

impl<D: Dialect> Store<Job, D>
where
    Job: ClaimOn<D>,
{
    /// Inserts these jobs, all or none, minding their [unique keys](NewJob::unique); the n-th answer belongs to
    /// the n-th job. The same key twice is answered as if the jobs were enqueued one after the other.
    ///
    /// Not repeated by itself after a broken connection, since a lost answer would mean the jobs twice.
    ///
    /// # Errors
    /// [`StoreError`]; one bad job refuses all before anything is sent. After
    /// [`Unavailable`](claimstore_core::StoreErrorKind::Unavailable) the jobs may be there.
    /// [`Contended`](claimstore_core::StoreErrorKind::Contended) where a key changes hands faster than it can
    /// be looked at; nothing was written then.
    pub fn enqueue(&self, jobs: &[NewJob]) -> Result<Vec<Enqueued>, StoreError> {
        check(jobs)?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let rules = self.rules();
        let mut left = TRIES;
        loop {
            // Undone for certain, and on a connection that is still good.
            let mut undone = false;
            let told = self.run_once("enqueueing", |conn| {
                let answer = D::enqueue(conn, jobs).inspect_err(|error| {
                    let fault = D::classify(error, false);
                    undone = fault.again && !fault.poisoned;
                });
                let enqueued = answer??;
                protocol::enqueued::<D>(conn, &rules, &enqueued)?;
                Ok(enqueued)
            });
            left -= 1;
            if !undone || left == 0 {
                return told;
            }
        }
    }
}

impl<D: Dialect> On<'_, Job, D>
where
    Job: ClaimOn<D>,
{
    /// Inserts these jobs in the caller's transaction: nobody sees them before it commits, and nobody ever
    /// if it does not.
    ///
    /// Until the transaction ends, whoever enqueues one of its new [keys](NewJob::unique) waits for it, and
    /// nobody claims a job that it has replaced. One call takes its keys in an order of its own and so does not
    /// deadlock with another one; several calls in one transaction may.
    ///
    /// # Errors
    /// [`TxError::Store`]. In a transaction above READ COMMITTED a key that was taken since that began ends in
    /// [`RestartTransaction`](claimstore_core::StoreErrorKind::RestartTransaction).
    pub fn enqueue(&mut self, jobs: &[NewJob]) -> Result<Vec<Enqueued>, TxError> {
        check(jobs).map_err(StoreError::from)?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        self.insert(jobs)
    }
}
