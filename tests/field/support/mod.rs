//! What the field reports share.

mod both;
mod gate;

use std::time::Duration;

use claimstore::core::{Backoff, ClaimRequest, RecoveryPolicy, StoreErrorKind, WorkerId};
use claimstore::{Enqueued, NewJob};
use claimstore::{JobKind, TxError};
use serde::{Deserialize, Serialize};

pub(crate) use both::{
    Conn, Database, OnPostgres, OnSqlite, backend_pid, begin, commit, impatient, pg_pool, roll_back,
    waits_for,
};
pub(crate) use gate::{Gate, PATIENT, until};

pub(crate) type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Every test of a list on both databases, by the names `postgres::…` and `sqlite::…`.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod postgres {
            use crate::support::{Database, OnPostgres, TestResult};
            $(#[test]
            fn $name() -> TestResult {
                super::$name(&OnPostgres::fresh(4))
            })*
        }
        mod sqlite {
            use crate::support::{Database, OnSqlite, TestResult};
            $(#[test]
            fn $name() -> TestResult {
                super::$name(&OnSqlite::fresh(4))
            })*
        }
    };
}
pub(crate) use on_both;

/// A job with a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) text: String,
}

impl JobKind for Note {
    const KIND: &'static str = "note";
}

pub(crate) fn note(text: &str) -> NewJob {
    NewJob::of(&Note { text: text.to_owned() }).expect("it can be written")
}

/// What was enqueued, by the ids alone.
pub(crate) trait Ids {
    fn ids(&self) -> Vec<i64>;
}

impl Ids for [Enqueued] {
    fn ids(&self) -> Vec<i64> {
        self.iter().map(Enqueued::id).collect()
    }
}

/// This many jobs.
pub(crate) fn notes(count: usize) -> Vec<NewJob> {
    (0..count).map(|n| note(&format!("note {n}"))).collect()
}

pub(crate) const LEASE: Duration = Duration::from_secs(600);

pub(crate) fn ask(name: &str) -> ClaimRequest {
    ClaimRequest::new(&WorkerId::new(name).expect("a valid name")).lease(LEASE)
}

/// A recovery that waits for nothing.
pub(crate) fn at_once() -> RecoveryPolicy {
    RecoveryPolicy::default().grace(Duration::ZERO).backoff(Backoff::fixed(Duration::ZERO))
}

/// What the store's failure in the caller's transaction means.
pub(crate) fn kind(error: &TxError) -> Option<StoreErrorKind> {
    match error {
        TxError::Store(error) => Some(error.kind()),
        _ => None,
    }
}
