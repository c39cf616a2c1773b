//! Every verb in the caller's transaction, on the caller's connection.

use std::marker::PhantomData;
use std::time::Duration;

use claimstore_core::{
    AlreadySettled, Batch, Claim, ClaimOutcome, ClaimRequest, ClaimToken, Fenced, LateWrite, LocalInstant,
    Receipt, Recovered, RecoveryPolicy, RenewError, Renewal, RetryPolicy, SettleCause, StoreError, Verdict,
};
use diesel::QueryResult;

use crate::dialect::{Dialect, Place};
use crate::protocol::{self, Answer};
use crate::table::{ClaimOn, KeepsEvents};

/// The verbs on one connection, made by [`Store::on`](crate::Store::on).
///
/// What it does is part of the caller's transaction and stands or falls with it: a claim made here is void
/// unless the transaction commits. A refusal does not abort the transaction; a database error does, as any
/// other statement's would. Nothing here is retried.
///
/// On SQLite begin the transaction with `immediate_transaction`: in a deferred one that has read already,
/// the first write can fail with `RestartTransaction`, which no waiting cures.
#[derive(Debug)]
pub struct On<'a, T, D: Dialect> {
    conn: &'a mut D::Conn,
    policy: RetryPolicy,
    table: PhantomData<fn() -> T>,
}

/// What can go wrong inside the caller's transaction. Return it from the transaction's closure: each is an
/// `Err`, and only an `Err` rolls back what was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TxError {
    /// The claim is lost. After the rollback hand [`Fenced::late`] to
    /// [`Store::record_late`](crate::Store::record_late).
    #[error(transparent)]
    Fenced(#[from] Box<Fenced>),
    /// The claim was settled before, with another verdict.
    #[error(transparent)]
    AlreadySettled(#[from] AlreadySettled),
    /// The row is locked by another transaction; renew it again soon.
    #[error("the row is locked by another transaction; renew again soon")]
    Busy,
    /// The store failed, or the input was refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Diesel failed, in the caller's own statements or at commit.
    #[error(transparent)]
    Diesel(#[from] diesel::result::Error),
}

/// One answer for each settlement, in the order given.
pub type Answers = Vec<Result<Receipt, TxError>>;

impl TxError {
    /// The late writer to record after the rollback, if that is what this is.
    #[must_use]
    pub fn late_write(&self) -> Option<&LateWrite> {
        match self {
            TxError::Fenced(fenced) => fenced.late.as_deref(),
            _ => None,
        }
    }
}

impl From<Fenced> for TxError {
    fn from(fenced: Fenced) -> Self {
        TxError::Fenced(Box::new(fenced))
    }
}

impl From<SettleCause> for TxError {
    fn from(cause: SettleCause) -> Self {
        match cause {
            SettleCause::Fenced(fenced) => TxError::Fenced(fenced),
            SettleCause::AlreadySettled(settled) => TxError::AlreadySettled(settled),
            SettleCause::Store(error) => TxError::Store(error),
            _ => TxError::Busy,
        }
    }
}

impl From<RenewError> for TxError {
    fn from(error: RenewError) -> Self {
        match error {
            RenewError::Fenced(fenced) => TxError::Fenced(fenced),
            RenewError::AlreadySettled(settled) => TxError::AlreadySettled(settled),
            RenewError::Store(error) => TxError::Store(error),
            _ => TxError::Busy,
        }
    }
}

impl<'a, T: ClaimOn<D>, D: Dialect> On<'a, T, D> {
    pub(crate) fn new(conn: &'a mut D::Conn, policy: RetryPolicy) -> Self {
        On { conn, policy, table: PhantomData }
    }

    /// Tells a failure of the database by its meaning.
    fn answer<R>(&mut self, doing: &'static str, answer: QueryResult<R>) -> Result<R, TxError> {
        answer.map_err(|error| {
            let fault = D::classify(&error, true);
            if fault.poisoned {
                D::poison(self.conn);
            }
            TxError::Store(StoreError::new(fault.kind, doing, error))
        })
    }

    fn run<R, E>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&mut D::Conn) -> Answer<R, E>,
    ) -> Result<R, TxError>
    where
        TxError: From<E>,
    {
        let answer = work(self.conn);
        Ok(self.answer(doing, answer)??)
    }

    /// Claims this row. The row stays locked until the transaction ends, so keep that short.
    ///
    /// # Errors
    /// [`TxError::Store`]; a refusal is `Ok`.
    pub fn claim(&mut self, key: &T::Key, ask: &ClaimRequest) -> Result<ClaimOutcome<T::Key, T>, TxError> {
        let policy = self.policy;
        self.run("claiming", |conn| protocol::by_key::<T, D>(conn, key, ask, &policy, Place::Callers))
    }

    /// Claims what is due.
    ///
    /// # Errors
    /// [`TxError::Store`]; an empty batch is `Ok`.
    pub fn claim_next(&mut self, ask: &ClaimRequest) -> Result<Batch<T::Key, T>, TxError> {
        let policy = self.policy;
        self.run("claiming", |conn| protocol::next::<T, D>(conn, ask, &policy, Place::Callers))
    }

    /// Extends the lease.
    ///
    /// # Errors
    /// [`TxError`].
    pub fn renew(&mut self, claim: &mut Claim<T::Key>, lease: Duration) -> Result<(), TxError> {
        let asked = LocalInstant::now();
        let answer = self.renew_all(&[claim.token()], lease)?.pop();
        Ok(protocol::extend::<T>(claim, answer, asked, lease)?)
    }

    /// Extends many leases, each answered for itself.
    ///
    /// # Errors
    /// [`TxError::Store`].
    pub fn renew_all(
        &mut self,
        claims: &[ClaimToken<T::Key>],
        lease: Duration,
    ) -> Result<Vec<Renewal>, TxError> {
        self.run("renewing", |conn| protocol::renew_all::<T, D>(conn, claims, lease, Place::Callers))
    }

    /// Ends the claim with this verdict. The claim is only borrowed: whether it has ended is known when the
    /// transaction has committed.
    ///
    /// # Errors
    /// [`TxError`]; return it, so that what was written for a lost claim is rolled back.
    pub fn settle(&mut self, claim: &Claim<T::Key>, verdict: &Verdict) -> Result<Receipt, TxError> {
        let policy = self.policy;
        self.run("settling", |conn| protocol::settle::<T, D>(conn, claim, verdict, &policy, Place::Callers))
    }

    /// Ends several claims, answered one by one. Return the first error to roll all of them back.
    ///
    /// # Errors
    /// [`TxError::Store`] where nothing was written.
    pub fn settle_all(&mut self, settled: &[(Claim<T::Key>, Verdict)]) -> Result<Answers, TxError> {
        let policy = self.policy;
        let answers = self
            .run("settling", |conn| protocol::settle_all::<T, D>(conn, settled, &policy, Place::Callers))?;
        Ok(answers.into_iter().map(|answer| answer.map_err(TxError::from)).collect())
    }

    /// Still mine? Holds the row until the transaction ends, so that nobody can recover it meanwhile.
    ///
    /// # Errors
    /// [`TxError::Fenced`] or [`TxError::AlreadySettled`] where it is not.
    pub fn guard(&mut self, claim: &Claim<T::Key>) -> Result<(), TxError> {
        self.run("guarding", |conn| protocol::guard::<T, D>(conn, claim))
    }

    /// Settles first, then runs `work`: a lost claim is known before it begins. `work` runs at most once.
    ///
    /// # Errors
    /// [`TxError`] of the settlement, or the error of `work`; return it to roll both back.
    pub fn settle_with<R, E>(
        &mut self,
        claim: &Claim<T::Key>,
        verdict: &Verdict,
        work: impl FnOnce(&mut D::Conn) -> Result<R, E>,
    ) -> Result<(R, Receipt), E>
    where
        E: From<TxError>,
    {
        let receipt = self.settle(claim, verdict)?;
        Ok((work(self.conn)?, receipt))
    }

    /// Settles these and claims the next ones.
    ///
    /// # Errors
    /// [`TxError::Store`] where nothing was written.
    pub fn settle_and_claim(
        &mut self,
        settled: &[(Claim<T::Key>, Verdict)],
        ask: &ClaimRequest,
    ) -> Result<(Answers, Batch<T::Key, T>), TxError> {
        let policy = self.policy;
        let (answers, batch) = self.run("settling and claiming", |conn| {
            protocol::settle_and_claim::<T, D>(conn, settled, ask, &policy, Place::Callers)
        })?;
        Ok((answers.into_iter().map(|answer| answer.map_err(TxError::from)).collect(), batch))
    }

    /// Ends abandoned claims; a row the database refuses is undone by a savepoint of its own.
    ///
    /// # Errors
    /// [`TxError::Store`].
    pub fn recover(&mut self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<T::Key>, TxError> {
        self.run("recovering", |conn| protocol::recover::<T, D>(conn, policy, limit, Place::Callers))
    }

    /// Takes up a claim from its token.
    ///
    /// # Errors
    /// [`TxError::Fenced`] or [`TxError::AlreadySettled`] where the token is stale.
    pub fn resume(&mut self, token: &ClaimToken<T::Key>) -> Result<Claim<T::Key>, TxError> {
        self.run("resuming", |conn| protocol::resume::<T, D>(conn, token))
    }

    /// Records a late writer, in a transaction that will commit.
    ///
    /// # Errors
    /// [`TxError::Store`].
    pub fn record_late(&mut self, late: &LateWrite) -> Result<(), TxError>
    where
        T: KeepsEvents,
    {
        self.run::<_, StoreError>("recording a late writer", |conn| D::record_late(conn, late).map(Ok))
    }

    pub(crate) fn insert(&mut self, jobs: &[crate::NewJob]) -> Result<Vec<i64>, TxError> {
        self.run::<_, StoreError>("enqueueing", |conn| D::enqueue(conn, jobs).map(Ok))
    }
}
