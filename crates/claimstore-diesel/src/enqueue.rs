//! Enqueueing jobs.

use claimstore_core::{InputError, MAX_BATCH, StoreError};

use crate::dialect::Dialect;
use crate::job::{Job, NewJob};
use crate::on::{On, TxError};
use crate::store::Store;
use crate::table::ClaimOn;

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
    /// Inserts these jobs, all or none; the n-th id belongs to the n-th job.
    ///
    /// Not repeated by itself after a broken connection, since a lost answer would mean the jobs twice.
    ///
    /// # Errors
    /// [`StoreError`]; one bad job refuses all before anything is sent. After
    /// [`Unavailable`](claimstore_core::StoreErrorKind::Unavailable) the jobs may be there.
    pub fn enqueue(&self, jobs: &[NewJob]) -> Result<Vec<i64>, StoreError> {
        check(jobs)?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        self.run_once("enqueueing", |conn| D::enqueue(conn, jobs))
    }
}

impl<D: Dialect> On<'_, Job, D>
where
    Job: ClaimOn<D>,
{
    /// Inserts these jobs in the caller's transaction: nobody sees them before it commits, and nobody ever
    /// if it does not.
    ///
    /// # Errors
    /// [`TxError::Store`].
    pub fn enqueue(&mut self, jobs: &[NewJob]) -> Result<Vec<i64>, TxError> {
        check(jobs).map_err(StoreError::from)?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        self.insert(jobs)
    }
}
