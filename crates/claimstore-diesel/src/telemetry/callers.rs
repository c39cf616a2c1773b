//! What an answer in the caller's transaction counts: who was refused, and what failed. Everything else may
//! still be rolled back.

use claimstore_core::{Batch, Renewal, StoreErrorKind};

use super::answers::{Told, fenced_among};
use super::call::Call;
use crate::on::{Answers, TxError};

impl Call {
    /// Tells of an answer that is there or not there.
    pub(crate) fn done_in_callers<R>(self, answer: Result<R, TxError>) -> Result<R, TxError> {
        ended(&self, &answer);
        answer
    }
}

fn ended<R>(call: &Call, answer: &Result<R, TxError>) {
    let verb = call.verbs.first().copied().unwrap_or(call.name);
    call.outcome(match answer {
        Ok(_) => "ok",
        Err(error) => refused(call, verb, error),
    });
    call.errors(answer.as_ref().err().into_iter().filter_map(failure));
}

/// What was not done; the word for it.
fn refused(call: &Call, verb: &'static str, error: &TxError) -> &'static str {
    match error {
        TxError::Fenced(fenced) => {
            call.fenced(fenced, verb);
            "fenced"
        }
        TxError::AlreadySettled(_) => "already_settled",
        TxError::Busy => "busy",
        TxError::Operate(_) => "refused",
        TxError::Store(_) | TxError::Diesel(_) => "error",
    }
}

fn failure(error: &TxError) -> Option<StoreErrorKind> {
    match error {
        TxError::Store(error) => Some(error.kind()),
        _ => None,
    }
}

fn each(call: &Call, answers: &Answers) {
    for (verb, answer) in call.verbs.iter().zip(answers) {
        if let Err(error) = answer {
            refused(call, verb, error);
        }
    }
    call.errors(answers.iter().filter_map(|answer| failure(answer.as_ref().err()?)));
}

impl Told for Result<Answers, TxError> {
    fn tell(&self, call: &Call) {
        ended(call, self);
        if let Ok(answers) = self {
            each(call, answers);
        }
    }
}

impl<K, R> Told for Result<(Answers, Batch<K, R>), TxError> {
    fn tell(&self, call: &Call) {
        ended(call, self);
        if let Ok((answers, _)) = self {
            each(call, answers);
        }
    }
}

impl Told for Result<Vec<Renewal>, TxError> {
    fn tell(&self, call: &Call) {
        ended(call, self);
        if let Ok(answers) = self {
            fenced_among(call, answers);
        }
    }
}
