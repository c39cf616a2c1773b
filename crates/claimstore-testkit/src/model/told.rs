//! Answers as text that two stores can be compared by: fences and times differ, what they mean does not.

use std::fmt::Debug;

use claimstore_core::{
    AlreadySettled, Batch, Claim, Fenced, InputError, Now, Receipt, RecoverStore, RecoveredRow,
    RecoveryPolicy, Refusal, RenewError, Renewal, SettleCause, SettleError, State, StoreError,
};

/// What a store said, line by line.
pub(super) type Told = Vec<String>;

fn refusal(why: &Refusal) -> String {
    match why {
        Refusal::NotDue(_) => "not due".to_owned(),
        Refusal::Held { worker, until, expired, .. } => {
            format!("held by {worker:?}, lease {}, expired {expired}", until.is_some())
        }
        other => format!("{other:?}"),
    }
}

pub(super) fn settled<K: Debug>(answer: Result<Receipt, SettleError<K>>) -> (String, Option<Claim<K>>) {
    match answer {
        Ok(receipt) => (format!("{receipt:?}"), None),
        Err(error) => {
            let (cause, back) = error.into_parts();
            (because(&cause), back)
        }
    }
}

fn because(cause: &SettleCause) -> String {
    match cause {
        SettleCause::Fenced(lost) => fenced(lost),
        SettleCause::AlreadySettled(before) => already(before),
        SettleCause::Store(error) => failure(error),
        other => format!("{other:?}"),
    }
}

pub(super) fn not_renewed(error: &RenewError) -> String {
    match error {
        RenewError::Fenced(lost) => fenced(lost),
        RenewError::AlreadySettled(before) => already(before),
        RenewError::Store(error) => failure(error),
        other => format!("{other:?}"),
    }
}

pub(super) fn renewal(answer: &Renewal) -> String {
    match answer {
        Renewal::Renewed(until) => format!("renewed, lease {}", until.is_some()),
        Renewal::Fenced(lost) => fenced(lost),
        other => format!("{other:?}"),
    }
}

/// A row that is not running has no holder to name.
fn fenced(lost: &Fenced) -> String {
    match &lost.now {
        Now::Gone => "fenced: gone".to_owned(),
        Now::Row { state: State::Running, worker, .. } => format!("fenced: held by {worker:?}"),
        Now::Row { state, .. } => format!("fenced: {state}"),
    }
}

fn already(before: &AlreadySettled) -> String {
    format!("already settled: {}", before.state)
}

/// The kind, and the name of the input error; its fields name tables.
pub(super) fn failure(error: &StoreError) -> String {
    format!("{:?} {:?}", error.kind(), error.input().map(input))
}

fn input(error: &InputError) -> String {
    format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
}

/// What a preview and then a recovery say, by row.
pub(super) fn recovery<S: RecoverStore>(
    store: &S,
    policy: &RecoveryPolicy,
    row: impl Fn(&S::Key) -> Option<u32>,
) -> Told {
    let mut lines = match store.preview(policy, 1000) {
        Ok(found) => found
            .rows
            .iter()
            .map(|(seen, action)| {
                format!("expired {:?} {:?} to {:?}", row(&seen.key), seen.worker, action.state())
            })
            .collect(),
        Err(error) => vec![failure(&error)],
    };
    match store.recover(policy, 1000) {
        Ok(done) => {
            let took = |it: &RecoveredRow<S::Key>| {
                format!("took {:?} from {:?} to {:?}", row(&it.key), it.worker, it.action.state())
            };
            lines.extend(done.rows.iter().map(took));
            lines.push(format!("left {}, failed {}", done.left, done.failed.len()));
        }
        Err(error) => lines.push(failure(&error)),
    }
    lines.sort();
    lines
}

pub(super) fn refused(why: Option<&Refusal>) -> Told {
    vec![why.map_or_else(|| "claimed".to_owned(), refusal)]
}

pub(super) fn failed<K, R>(answer: Result<Batch<K, R>, StoreError>) -> Told {
    vec![answer.map_or_else(|error| failure(&error), |batch| format!("{} rows", batch.len()))]
}
