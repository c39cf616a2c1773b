//! What goes wrong, by what the caller can do next.

use std::error::Error;
use std::fmt;

use thiserror::Error;

use crate::{AlreadySettled, Claim, Fenced, InputError};

/// The store could not do its work. [`kind`](StoreError::kind) is for decisions, the source for people.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    doing: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

/// What a store failure means for the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// No connection, or it broke, or the server is starting or stopping. Try again later; whether the
    /// statement took effect is unknown, and settling again is safe.
    Unavailable,
    /// The database would not decide in time: busy, lock timeout, deadlock or serialization failure
    /// after the bounded retries. Try again.
    Contended,
    /// Inside the caller's transaction the database needs a new one: roll back and run it again, on
    /// SQLite begun with `immediate_transaction`.
    RestartTransaction,
    /// The disk or the quota is full. Nothing was written.
    Full,
    /// The server or file is read-only, as after a failover. The connection is not reused.
    ReadOnly,
    /// The statement was cancelled or timed out on the server. Nothing was written.
    Cancelled,
    /// A table or column is missing, or the schema is of another version. Migrate.
    Schema,
    /// The role may not do this, or could not log in. Tell a person.
    Denied,
    /// A constraint of the table refused the write.
    Constraint,
    /// A stored value cannot be read: an unknown state word, a negative fence.
    CorruptRow,
    /// The input was refused before anything was sent.
    Input,
    /// Anything else.
    Other,
}

impl StoreErrorKind {
    /// Whether the same call may succeed later without anybody mending anything.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            StoreErrorKind::Unavailable
                | StoreErrorKind::Contended
                | StoreErrorKind::RestartTransaction
                | StoreErrorKind::Full
                | StoreErrorKind::ReadOnly
                | StoreErrorKind::Cancelled
        )
    }
}

impl StoreError {
    /// An error of this kind while `doing` something (a verb, "claiming").
    pub fn new(
        kind: StoreErrorKind,
        doing: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> StoreError {
        StoreError { kind, doing, source: source.into() }
    }

    /// What it means for the caller.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The refused input, where that is the reason.
    #[must_use]
    pub fn input(&self) -> Option<&InputError> {
        self.source.downcast_ref()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match self.kind {
            StoreErrorKind::Unavailable => "the database is not reachable",
            StoreErrorKind::Contended => "the database stayed busy; try again",
            StoreErrorKind::RestartTransaction => {
                "this transaction cannot go on; roll it back and run it again (on SQLite begin it with immediate_transaction)"
            }
            StoreErrorKind::Full => "the disk is full",
            StoreErrorKind::ReadOnly => "the database is read-only",
            StoreErrorKind::Cancelled => "the statement was cancelled",
            StoreErrorKind::Schema => "the schema does not fit; run the migrations of this version",
            StoreErrorKind::Denied => "access was denied",
            StoreErrorKind::Constraint => "a constraint of the table refused it",
            StoreErrorKind::CorruptRow => "a stored value cannot be read",
            StoreErrorKind::Input => "the input was refused",
            StoreErrorKind::Other => "the database failed",
        };
        write!(f, "{}: {hint}: {}", self.doing, self.source)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_ref())
    }
}

impl From<InputError> for StoreError {
    fn from(input: InputError) -> Self {
        StoreError::new(StoreErrorKind::Input, "checking the input", input)
    }
}

/// Why a settlement was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettleCause {
    /// The claim is lost. Do not send it again.
    #[error(transparent)]
    Fenced(Box<Fenced>),
    /// It was settled before with another verdict.
    #[error(transparent)]
    AlreadySettled(AlreadySettled),
    /// The store failed; the claim is handed back and settling again is safe.
    #[error(transparent)]
    Store(StoreError),
}

/// A settlement that was not written, with the claim where it is worth another try.
#[derive(Debug)]
pub struct SettleError<K>(Box<(SettleCause, Option<Claim<K>>)>);

impl<K> SettleError<K> {
    /// A failure with the claim to hand back, if the failure was the store's.
    #[must_use]
    pub fn new(cause: SettleCause, claim: Claim<K>) -> SettleError<K> {
        let back = matches!(cause, SettleCause::Store(_)).then_some(claim);
        SettleError(Box::new((cause, back)))
    }

    /// Why.
    #[must_use]
    pub fn cause(&self) -> &SettleCause {
        &self.0.0
    }

    /// How the claim was lost, if it was.
    #[must_use]
    pub fn fenced(&self) -> Option<&Fenced> {
        match self.cause() {
            SettleCause::Fenced(fenced) => Some(fenced),
            _ => None,
        }
    }

    /// The claim, where the store failed and settling again is worth it.
    #[must_use]
    pub fn into_claim(self) -> Option<Claim<K>> {
        self.0.1
    }

    /// The cause and, where the store failed, the claim.
    #[must_use]
    pub fn into_parts(self) -> (SettleCause, Option<Claim<K>>) {
        *self.0
    }
}

impl<K> fmt::Display for SettleError<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause().fmt(f)
    }
}

impl<K: fmt::Debug> Error for SettleError<K> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause().source()
    }
}

/// Why a lease was not renewed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenewError {
    /// The claim is lost: stop the work, its result will be refused.
    #[error(transparent)]
    Fenced(Box<Fenced>),
    /// It was settled before; there is nothing to renew.
    #[error(transparent)]
    AlreadySettled(AlreadySettled),
    /// Somebody has the row locked right now (a settlement or guard under way). Try again soon.
    #[error("the row is locked by another transaction; renew again soon")]
    Busy,
    /// The store failed. The claim may still be good until its lease ends.
    #[error(transparent)]
    Store(StoreError),
}
