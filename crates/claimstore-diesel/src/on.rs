//! Every verb in the caller's transaction, on the caller's connection.

use std::error::Error;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::time::Duration;

use claimstore_core::{
    Action, AlreadySettled, Batch, Claim, ClaimOutcome, ClaimRequest, ClaimToken, Fence, Fenced, LateWrite,
    LocalInstant, OperateError, Operated, Operator, Receipt, Recovered, RecoveryPolicy, RenewError, Renewal,
    SettleCause, StoreError, Verdict,
};
use diesel::QueryResult;

use crate::dialect::{Dialect, Place};
use crate::event::NewEvent;
use crate::protocol::{self, Answer, Rules};
use crate::table::{ClaimOn, KeepsEvents};
use crate::telemetry::Call;

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
    rules: Rules,
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
    /// An operator's action was not taken: an [`OperateError`] of the table's key.
    #[error(transparent)]
    Operate(Box<dyn Error + Send + Sync>),
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

impl<K: Debug + Send + Sync + 'static> From<OperateError<K>> for TxError {
    fn from(error: OperateError<K>) -> Self {
        match error {
            OperateError::Store(error) => TxError::Store(error),
            refused => TxError::Operate(Box::new(refused)),
        }
    }
}

impl<'a, T: ClaimOn<D>, D: Dialect> On<'a, T, D> {
    pub(crate) fn new(conn: &'a mut D::Conn, rules: Rules) -> Self {
        On { conn, rules, table: PhantomData }
    }

    /// Tells a failure of the database by its meaning.
    fn answer<R>(&mut self, doing: &'static str, answer: QueryResult<R>) -> Result<R, StoreError> {
        answer.map_err(|error| {
            let fault = D::classify(&error, true);
            if fault.poisoned {
                D::poison(self.conn);
            }
            StoreError::new(fault.kind, doing, error)
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
        self.told(Call::in_callers::<T, D>(doing), work)
    }

    /// The same for a call of which more is known.
    fn told<R, E>(
        &mut self,
        call: Call,
        work: impl FnOnce(&mut D::Conn) -> Answer<R, E>,
    ) -> Result<R, TxError>
    where
        TxError: From<E>,
    {
        let answer = self.run_in(&call, work);
        call.done_in_callers(answer)
    }

    fn run_in<R, E>(
        &mut self,
        call: &Call,
        work: impl FnOnce(&mut D::Conn) -> Answer<R, E>,
    ) -> Result<R, TxError>
    where
        TxError: From<E>,
    {
        let answer = work(self.conn);
        Ok(self.answer(call.doing(), answer)??)
    }

    /// Claims this row. The row stays locked until the transaction ends, so keep that short.
    ///
    /// # Errors
    /// [`TxError::Store`]; a refusal is `Ok`.
    pub fn claim(&mut self, key: &T::Key, ask: &ClaimRequest) -> Result<ClaimOutcome<T::Key, T>, TxError> {
        let rules = self.rules;
        let call = Call::in_callers::<T, D>("claiming").key::<T>(key).asking(ask);
        self.told(call, |conn| protocol::by_key::<T, D>(conn, key, ask, &rules, Place::Callers))
    }

    /// Claims what is due.
    ///
    /// # Errors
    /// [`TxError::Store`]; an empty batch is `Ok`.
    pub fn claim_next(&mut self, ask: &ClaimRequest) -> Result<Batch<T::Key, T>, TxError> {
        let rules = self.rules;
        let call = Call::in_callers::<T, D>("claiming the next").asking(ask);
        self.told(call, |conn| protocol::next::<T, D>(conn, ask, &rules, Place::Callers))
    }

    /// Extends the lease.
    ///
    /// # Errors
    /// [`TxError`].
    pub fn renew(&mut self, claim: &mut Claim<T::Key>, lease: Duration) -> Result<(), TxError> {
        let call = Call::in_callers::<T, D>("renewing").holding::<T>(claim);
        let (asked, token) = (LocalInstant::now(), [claim.token()]);
        let answer =
            self.run_in(&call, |conn| protocol::renew_all::<T, D>(conn, &token, lease, Place::Callers));
        call.done_in_callers(
            answer.and_then(|mut all| Ok(protocol::extend::<T>(claim, all.pop(), asked, lease)?)),
        )
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
        let call = Call::in_callers::<T, D>("renewing several").several(claims.len());
        let answer =
            self.run_in(&call, |conn| protocol::renew_all::<T, D>(conn, claims, lease, Place::Callers));
        call.told(answer)
    }

    /// Ends the claim with this verdict. The claim is only borrowed: whether it has ended is known when the
    /// transaction has committed.
    ///
    /// # Errors
    /// [`TxError`]; return it, so that what was written for a lost claim is rolled back.
    pub fn settle(&mut self, claim: &Claim<T::Key>, verdict: &Verdict) -> Result<Receipt, TxError> {
        let rules = self.rules;
        let call = Call::in_callers::<T, D>("settling").holding::<T>(claim).settling(verdict);
        self.told(call, |conn| protocol::settle::<T, D>(conn, claim, verdict, &rules, Place::Callers))
    }

    /// Ends several claims, answered one by one. Return the first error to roll all of them back.
    ///
    /// # Errors
    /// [`TxError::Store`] where nothing was written.
    pub fn settle_all(&mut self, settled: &[(Claim<T::Key>, Verdict)]) -> Result<Answers, TxError> {
        let rules = self.rules;
        let call = Call::in_callers::<T, D>("settling several").settling_all(settled);
        let answers =
            self.run_in(&call, |conn| protocol::settle_all::<T, D>(conn, settled, &rules, Place::Callers));
        call.told(answers.map(each))
    }

    /// Still mine? Holds the row until the transaction ends, so that nobody can recover it meanwhile.
    ///
    /// # Errors
    /// [`TxError::Fenced`] or [`TxError::AlreadySettled`] where it is not.
    pub fn guard(&mut self, claim: &Claim<T::Key>) -> Result<(), TxError> {
        let call = Call::in_callers::<T, D>("guarding").holding::<T>(claim);
        self.told(call, |conn| protocol::guard::<T, D>(conn, claim))
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
        let rules = self.rules;
        let call = Call::in_callers::<T, D>("settling and claiming").asking(ask).settling_all(settled);
        let both = self.run_in(&call, |conn| {
            protocol::settle_and_claim::<T, D>(conn, settled, ask, &rules, Place::Callers)
        });
        call.told(both.map(|(answers, batch)| (each(answers), batch)))
    }

    /// Ends abandoned claims; a row the database refuses is undone by a savepoint of its own.
    ///
    /// # Errors
    /// [`TxError::Store`].
    pub fn recover(&mut self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<T::Key>, TxError> {
        self.run("recovering", |conn| protocol::recover::<T, D>(conn, policy, limit, Place::Callers))
    }

    /// Takes an operator's action on this row, as it was seen under this fence, with the event that records it.
    /// The row stays locked until the transaction ends, so keep that short.
    ///
    /// # Errors
    /// [`OperateError`]; nothing was written then, and the transaction can go on. `?` makes a [`TxError`] of it.
    pub fn operate(
        &mut self,
        key: &T::Key,
        seen: Fence,
        action: &Action,
        by: &Operator,
    ) -> Result<Operated<T::Key>, OperateError<T::Key>>
    where
        T: KeepsEvents,
    {
        let call = Call::in_callers::<T, D>("operating").key::<T>(key);
        let answer = protocol::operate::<T, D>(self.conn, key, seen, action, by, Place::Callers);
        let answer = self.answer(call.doing(), answer);
        call.done(answer)?
    }

    /// Takes up a claim from its token.
    ///
    /// # Errors
    /// [`TxError::Fenced`] or [`TxError::AlreadySettled`] where the token is stale.
    pub fn resume(&mut self, token: &ClaimToken<T::Key>) -> Result<Claim<T::Key>, TxError> {
        let call = Call::in_callers::<T, D>("resuming").showing::<T>(token);
        self.told(call, |conn| protocol::resume::<T, D>(conn, token))
    }

    /// Records a late writer, in a transaction that will commit.
    ///
    /// # Errors
    /// [`TxError::Store`].
    pub fn record_late(&mut self, late: &LateWrite) -> Result<(), TxError>
    where
        T: KeepsEvents,
    {
        self.run::<_, StoreError>("recording a late writer", |conn| {
            D::record(conn, &[NewEvent::late(late)]).map(Ok)
        })
    }

    pub(crate) fn insert(&mut self, jobs: &[crate::NewJob]) -> Result<Vec<crate::Enqueued>, TxError> {
        let rules = self.rules;
        self.run("enqueueing", |conn| {
            let answer = D::enqueue(conn, jobs)?;
            if let Ok(enqueued) = &answer {
                protocol::enqueued::<D>(conn, &rules, enqueued)?;
            }
            Ok(answer)
        })
    }
}

/// Each answer as one of the caller's transaction.
fn each(answers: Vec<Result<Receipt, SettleCause>>) -> Answers {
    answers.into_iter().map(|answer| answer.map_err(TxError::from)).collect()
}
