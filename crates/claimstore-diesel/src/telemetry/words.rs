//! The words by which reasons and kinds are told. They are labels of metrics: renaming one breaks somebody's
//! alert.

use claimstore_core::{RecoveryAction, Refusal, StoreErrorKind};

pub(super) fn reason(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Missing => "missing",
        Refusal::NotPending(_) => "not_pending",
        Refusal::NotDue(_) => "not_due",
        Refusal::Held { .. } => "held",
        Refusal::Locked { .. } => "locked",
        Refusal::Paused => "paused",
        Refusal::Exhausted => "exhausted",
        _ => "other",
    }
}

pub(super) fn kind(kind: StoreErrorKind) -> &'static str {
    match kind {
        StoreErrorKind::Unavailable => "unavailable",
        StoreErrorKind::Contended => "contended",
        StoreErrorKind::RestartTransaction => "restart_transaction",
        StoreErrorKind::Full => "full",
        StoreErrorKind::ReadOnly => "read_only",
        StoreErrorKind::Cancelled => "cancelled",
        StoreErrorKind::Schema => "schema",
        StoreErrorKind::Denied => "denied",
        StoreErrorKind::Constraint => "constraint",
        StoreErrorKind::CorruptRow => "corrupt_row",
        StoreErrorKind::Input => "input",
        _ => "other",
    }
}

pub(super) fn action(action: RecoveryAction) -> &'static str {
    match action {
        RecoveryAction::Requeue(_) => "requeue",
        RecoveryAction::Dead => "dead",
        RecoveryAction::Uncertain => "uncertain",
        RecoveryAction::Leave => "leave",
        _ => "other",
    }
}
