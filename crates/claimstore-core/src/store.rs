//! The roles a store plays. Both are object safe and know no connection type.

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;

use crate::{
    Batch, Claim, ClaimOutcome, ClaimRequest, ClaimToken, Fenced, Guarantees, Receipt, Recovered,
    RecoveryPolicy, RecoveryPreview, RenewError, SettleError, StoreError, Timestamp, Verdict,
};

/// Claims rows and settles them.
///
/// Every write that ends or extends a claim names key, fence and the running state, so that a stale
/// holder changes nothing. The promises that differ by backend are in [`ClaimStore::guarantees`].
pub trait ClaimStore: Send + Sync {
    /// What names a row.
    type Key: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// What a claimed row is read into.
    type Row: Send + Sync + 'static;

    /// What this store promises for its table.
    fn guarantees(&self) -> Guarantees;

    /// Claims this row, if it is still pending and due; else says why not. Never waits longer than the
    /// request's [`Wait`](crate::Wait).
    ///
    /// # Errors
    /// [`StoreError`]; bad input is refused before anything is sent. After
    /// [`Unavailable`](crate::StoreErrorKind::Unavailable) the claim may have been written and its
    /// answer lost: the row is then held until its lease ends and is recovered.
    fn claim(
        &self,
        key: &Self::Key,
        ask: &ClaimRequest,
    ) -> Result<ClaimOutcome<Self::Key, Self::Row>, StoreError>;

    /// Claims up to the request's limit of rows that are pending and due, in the table's declared
    /// order, passing over rows that somebody has locked. An empty batch is `Ok`.
    ///
    /// # Errors
    /// As [`claim`](ClaimStore::claim).
    fn claim_next(&self, ask: &ClaimRequest) -> Result<Batch<Self::Key, Self::Row>, StoreError>;

    /// Extends the lease: it ends `lease` from now. Allowed on an expired claim as long as nobody has
    /// recovered it.
    ///
    /// # Errors
    /// [`RenewError`]; after `Fenced` the work should stop.
    fn renew(&self, claim: &mut Claim<Self::Key>, lease: Duration) -> Result<(), RenewError>;

    /// Extends many leases at once, each answered for itself, in the order given. It never waits for a
    /// row that somebody has locked: that one is [`Renewal::Busy`].
    ///
    /// # Errors
    /// [`StoreError`] where nothing is known of any of them.
    fn renew_all(
        &self,
        claims: &[ClaimToken<Self::Key>],
        lease: Duration,
    ) -> Result<Vec<Renewal>, StoreError>;

    /// Ends the claim with this verdict. Safe to repeat after a lost answer: see [`Receipt::already`].
    ///
    /// On PostgreSQL it waits for a transaction that has the row locked, a guard of the same claim for one: as
    /// long as the server's `lock_timeout` says. Do not settle on a second connection what your own open
    /// transaction guards; settle it there.
    ///
    /// # Errors
    /// [`SettleError`]; it hands the claim back where the store failed.
    fn settle(&self, claim: Claim<Self::Key>, verdict: Verdict) -> Result<Receipt, SettleError<Self::Key>>;

    /// Ends many claims with a verdict each, answered one by one in the order given. A lost claim does
    /// not hold up the others.
    fn settle_all(
        &self,
        settled: Vec<(Claim<Self::Key>, Verdict)>,
    ) -> Vec<Result<Receipt, SettleError<Self::Key>>> {
        settled.into_iter().map(|(claim, verdict)| self.settle(claim, verdict)).collect()
    }

    /// Settles these and claims the next ones. It never returns a row it has just settled. A store may
    /// do both in one statement; whatever goes wrong, each half is answered for itself.
    fn settle_and_claim(
        &self,
        settled: Vec<(Claim<Self::Key>, Verdict)>,
        ask: &ClaimRequest,
    ) -> SettledAndClaimed<Self::Key, Self::Row> {
        SettledAndClaimed { settled: self.settle_all(settled), claimed: self.claim_next(ask) }
    }

    /// Takes up a claim that another process made, from its token.
    ///
    /// # Errors
    /// [`RenewError::Fenced`] or [`RenewError::AlreadySettled`] where the token is stale,
    /// [`RenewError::Store`] where the store failed. It extends nothing.
    fn resume(&self, token: &ClaimToken<Self::Key>) -> Result<Claim<Self::Key>, RenewError>;

    /// [`settle`](ClaimStore::settle) with [`Verdict::Complete`].
    ///
    /// # Errors
    /// As [`settle`](ClaimStore::settle).
    fn complete(&self, claim: Claim<Self::Key>) -> Result<Receipt, SettleError<Self::Key>> {
        self.settle(claim, Verdict::Complete)
    }

    /// [`settle`](ClaimStore::settle) with a failure, tried again by policy.
    ///
    /// # Errors
    /// As [`settle`](ClaimStore::settle).
    fn fail(&self, claim: Claim<Self::Key>, error: &str) -> Result<Receipt, SettleError<Self::Key>> {
        self.settle(claim, Verdict::fail(error))
    }

    /// [`settle`](ClaimStore::settle) with [`Verdict::Release`].
    ///
    /// # Errors
    /// As [`settle`](ClaimStore::settle).
    fn release(&self, claim: Claim<Self::Key>) -> Result<Receipt, SettleError<Self::Key>> {
        self.settle(claim, Verdict::Release)
    }

    /// [`settle`](ClaimStore::settle) with [`Verdict::Snooze`].
    ///
    /// # Errors
    /// As [`settle`](ClaimStore::settle).
    fn snooze(&self, claim: Claim<Self::Key>, delay: Duration) -> Result<Receipt, SettleError<Self::Key>> {
        self.settle(claim, Verdict::Snooze(delay))
    }
}

/// Finds abandoned claims and ends them.
pub trait RecoverStore: ClaimStore {
    /// Ends up to `limit` claims whose lease ran out more than the policy's grace ago. Its write
    /// rechecks state, fence and expiry, skips locked rows, raises the fence, and passes over rows the
    /// policy leaves alone.
    ///
    /// # Errors
    /// [`StoreError`]; a row the database refuses is in [`Recovered::failed`] instead.
    fn recover(&self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<Self::Key>, StoreError>;

    /// What [`recover`](RecoverStore::recover) would do now. It writes nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    fn preview(
        &self,
        policy: &RecoveryPolicy,
        limit: usize,
    ) -> Result<RecoveryPreview<Self::Key>, StoreError>;
}

/// The answer for one claim of [`ClaimStore::renew_all`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Renewal {
    /// Extended; the lease ends then.
    Renewed(Option<Timestamp>),
    /// Somebody has the row locked right now. Try again sooner than usual.
    Busy,
    /// It was settled before.
    AlreadySettled(crate::State),
    /// It is lost.
    Fenced(Box<Fenced>),
}

/// The answer of [`ClaimStore::settle_and_claim`], each half for itself.
#[derive(Debug)]
#[must_use = "claimed rows stay running until they are settled or recovered"]
pub struct SettledAndClaimed<K, R> {
    /// One answer for each settlement, in the order given.
    pub settled: Vec<Result<Receipt, SettleError<K>>>,
    /// The claimed rows, or why there are none.
    pub claimed: Result<Batch<K, R>, StoreError>,
}
