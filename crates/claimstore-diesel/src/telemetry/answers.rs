//! What each answer of a store counts.
//!
//! Only what is certain is counted: an answer that was given, after the library's own transaction was
//! committed. In the caller's transaction a claim or a settlement may still be rolled back, and is not
//! counted; that a holder was refused stays true.

use claimstore_core::{
    Batch, Claim, ClaimOutcome, Receipt, Recovered, Refusal, RenewError, Renewal, SettleCause, SettleError,
    SettledAndClaimed, StoreError, StoreErrorKind, Timestamp,
};

use super::call::Call;
use super::{metrics, words};
use crate::store::SettleWithError;

/// An answer that is more than there or not there.
pub(crate) trait Told {
    fn tell(&self, call: &Call);
}

impl<K, R> Told for Result<ClaimOutcome<K, R>, StoreError> {
    fn tell(&self, call: &Call) {
        match self {
            Ok(ClaimOutcome::Claimed(_)) => {
                call.outcome("claimed");
                call.rows(1);
                metrics::claimed(call.table, 1);
            }
            Ok(ClaimOutcome::Refused(why)) => {
                let reason = words::reason(why);
                call.outcome("refused");
                call.because(reason);
                metrics::refused(call.table, reason);
                // An expired claim is nobody's success: the row waits for a recovery.
                if matches!(why, Refusal::Locked { .. } | Refusal::Held { expired: false, .. }) {
                    metrics::lost_candidate(call.table);
                }
            }
            Err(error) => call.failed(error.kind()),
        }
        if reached(self.as_ref().err()) {
            metrics::claim_took(call.table, call.name, call.began.elapsed());
        }
    }
}

impl<K, R> Told for Result<Batch<K, R>, StoreError> {
    fn tell(&self, call: &Call) {
        call.outcome(claimed(call, self));
        if reached(self.as_ref().err()) {
            metrics::claim_took(call.table, call.name, call.began.elapsed());
        }
    }
}

/// A claim by readiness; the word for it.
fn claimed<K, R>(call: &Call, answer: &Result<Batch<K, R>, StoreError>) -> &'static str {
    let batch = match answer {
        Ok(batch) => batch,
        Err(error) => {
            call.error(error.kind(), 1);
            return "error";
        }
    };
    call.rows(batch.len());
    // Fewer than were asked for, and yet one is due: somebody else has it.
    if batch.next_due.is_some_and(|due| due <= Timestamp::of_this_host()) {
        metrics::lost_candidate(call.table);
    }
    if batch.is_empty() {
        metrics::empty(call.table);
        return "empty";
    }
    metrics::claimed(call.table, batch.len());
    "claimed"
}

impl<K> Told for Result<Receipt, SettleError<K>> {
    fn tell(&self, call: &Call) {
        call.outcome(settled_alone(call, self.as_ref().map_err(SettleError::cause)));
        took(call, std::slice::from_ref(self));
    }
}

impl<K> Told for Vec<Result<Receipt, SettleError<K>>> {
    fn tell(&self, call: &Call) {
        call.outcome(all_settled(call, self));
        took(call, self);
    }
}

impl<K, R> Told for SettledAndClaimed<K, R> {
    fn tell(&self, call: &Call) {
        let settled = all_settled(call, &self.settled);
        call.outcomes(settled, claimed(call, &self.claimed));
        took(call, &self.settled);
    }
}

impl<R, K: std::fmt::Debug + 'static, E> Told for Result<(R, Receipt), SettleWithError<K, E>> {
    fn tell(&self, call: &Call) {
        call.outcome(match self {
            Ok((_, receipt)) => settled_alone(call, Ok(receipt)),
            Err(SettleWithError::Settle(error)) => settled_alone(call, Err(error.cause())),
            Err(SettleWithError::Work { .. }) => "work_failed",
        });
    }
}

fn settled_alone(call: &Call, answer: Result<&Receipt, &SettleCause>) -> &'static str {
    if let Err(SettleCause::Store(error)) = answer {
        call.error(error.kind(), 1);
    }
    settled(call, 0, answer)
}

/// One settlement; the word for it.
fn settled(call: &Call, at: usize, answer: Result<&Receipt, &SettleCause>) -> &'static str {
    let verb = call.verbs.get(at).copied().unwrap_or("settle");
    match answer {
        Ok(receipt) => {
            metrics::settled(call.table, verb, receipt.state.word(), receipt.already);
            if receipt.already { "already" } else { "settled" }
        }
        Err(SettleCause::Fenced(fenced)) => {
            call.fenced(fenced, verb);
            "fenced"
        }
        Err(SettleCause::AlreadySettled(_)) => "already_settled",
        Err(_) => "error",
    }
}

/// Several: the word for all where it is one.
fn all_settled<K>(call: &Call, answers: &[Result<Receipt, SettleError<K>>]) -> &'static str {
    let causes = || answers.iter().map(|answer| answer.as_ref().map_err(SettleError::cause));
    call.errors(causes().filter_map(|answer| match answer {
        Err(SettleCause::Store(error)) => Some(error.kind()),
        _ => None,
    }));
    let mut words: Vec<_> = causes().enumerate().map(|(at, answer)| settled(call, at, answer)).collect();
    words.dedup();
    match words[..] {
        [] => "settled",
        [word] => word,
        _ => "mixed",
    }
}

fn took<K>(call: &Call, answers: &[Result<Receipt, SettleError<K>>]) {
    let error = answers.first().and_then(|answer| match answer.as_ref().map_err(SettleError::cause) {
        Err(SettleCause::Store(error)) => Some(error),
        _ => None,
    });
    if reached(error) {
        metrics::settle_took(call.table, call.name, call.began.elapsed());
    }
}

/// Whether anything was sent: how fast bad input is refused says nothing of the database.
fn reached(error: Option<&StoreError>) -> bool {
    error.is_none_or(|error| error.kind() != StoreErrorKind::Input)
}

impl Told for Result<(), RenewError> {
    fn tell(&self, call: &Call) {
        match self {
            Ok(()) => call.outcome("renewed"),
            Err(error) => held(call, error, "renew"),
        }
    }
}

impl Told for Result<Vec<Renewal>, StoreError> {
    fn tell(&self, call: &Call) {
        let answers = match self {
            Ok(answers) => answers,
            Err(error) => return call.failed(error.kind()),
        };
        let renewed = answers.iter().filter(|answer| matches!(answer, Renewal::Renewed(_))).count();
        call.rows(renewed);
        call.outcome(if renewed == answers.len() { "renewed" } else { "mixed" });
        fenced_among(call, answers);
    }
}

pub(super) fn fenced_among(call: &Call, answers: &[Renewal]) {
    for answer in answers {
        if let Renewal::Fenced(fenced) = answer {
            call.fenced(fenced, "renew");
        }
    }
}

impl<K> Told for Result<Claim<K>, RenewError> {
    fn tell(&self, call: &Call) {
        match self {
            Ok(_) => call.outcome("resumed"),
            Err(error) => held(call, error, "resume"),
        }
    }
}

fn held(call: &Call, error: &RenewError, verb: &'static str) {
    match error {
        RenewError::Fenced(fenced) => {
            call.outcome("fenced");
            call.fenced(fenced, verb);
        }
        RenewError::AlreadySettled(_) => call.outcome("already_settled"),
        RenewError::Store(error) => call.failed(error.kind()),
        _ => call.outcome("busy"),
    }
}

impl<K> Told for Result<Recovered<K>, StoreError> {
    fn tell(&self, call: &Call) {
        let recovered = match self {
            Ok(recovered) => recovered,
            Err(error) => return call.failed(error.kind()),
        };
        call.outcome("recovered");
        call.rows(recovered.rows.len());
        recovered.rows.iter().for_each(|row| metrics::recovered(call.table, words::action(row.action)));
        call.errors(recovered.failed.iter().map(|(_, error)| error.kind()));
    }
}
