//! What a table cannot serve is refused before anything is sent.

use claimstore_core::{
    Again, ClaimRequest, InputError, RecoveryPolicy, Settlement, State, Verdict, check_limit,
};

use crate::declaration::Declaration;

pub(crate) fn check_request(table: &Declaration, ask: &ClaimRequest) -> Result<(), InputError> {
    ask.check()?;
    if table.columns.queue.is_none() && ask.named_queues().is_some() {
        return Err(InputError::NoQueueColumn { table: table.table });
    }
    Ok(())
}

/// A delay needs a due column. The back-off of a plain failure is left out where there is none: a table
/// without due times promises no delay.
pub(super) fn check_verdict(
    table: &Declaration,
    verdict: &Verdict,
    to: &mut Settlement,
) -> Result<(), InputError> {
    verdict.check()?;
    if table.words.word(to.to).is_none() {
        return Err(InputError::NoWord { table: table.table, state: to.to });
    }
    if table.columns.due.is_none() && to.delay.is_some() {
        let asked = matches!(verdict, Verdict::Snooze(_) | Verdict::Fail { again: Again::After(_), .. });
        if asked && to.to == State::Pending {
            return Err(InputError::NoColumn { table: table.table, column: "due", what: "a delay" });
        }
        to.delay = None;
    }
    Ok(())
}

pub(super) fn check_recovery(
    table: &Declaration,
    policy: &RecoveryPolicy,
    limit: usize,
) -> Result<(), InputError> {
    policy.check()?;
    check_limit(limit)?;
    if table.columns.lease.is_none() {
        return Err(InputError::NoColumn { table: table.table, column: "lease", what: "recovery" });
    }
    Ok(())
}
