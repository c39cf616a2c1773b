//! One call of a store, from its first moment to its answer.

use std::cell::Cell;
use std::time::Instant as Clock;

use claimstore_core::{Claim, ClaimRequest, ClaimToken, Fenced, StoreError, StoreErrorKind, Verdict};
use tracing::span::EnteredSpan;
use tracing::{debug, warn};

use super::answers::Told;
use super::span::{self, Of};
use super::{metrics, words};
use crate::dialect::Dialect;
use crate::table::{ClaimOn, ClaimTable};

thread_local! {
    /// The table of the call this thread is in: a wait for the database, far below, is counted for it.
    static TABLE: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// A call under way. Its span is entered until it is dropped.
#[must_use = "a call ends with its answer"]
pub(crate) struct Call {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    /// What is said for each claim that is settled, in the order given.
    pub(super) verbs: Vec<&'static str>,
    pub(super) began: Clock,
    doing: &'static str,
    span: EnteredSpan,
    outer: Option<&'static str>,
    has_failed: Cell<bool>,
}

impl Call {
    /// A call of the store's own; `doing` is what an error of it says, and what its span is named after.
    pub(crate) fn begin<T: ClaimOn<D>, D: Dialect>(doing: &'static str) -> Call {
        Call::open::<T, D>(doing, Of::Store)
    }

    /// A call in the caller's transaction.
    pub(crate) fn in_callers<T: ClaimOn<D>, D: Dialect>(doing: &'static str) -> Call {
        Call::open::<T, D>(doing, Of::Caller)
    }

    fn open<T: ClaimOn<D>, D: Dialect>(doing: &'static str, of: Of) -> Call {
        let table = T::DECLARATION.table;
        Call {
            table,
            name: span::name(doing),
            verbs: Vec::new(),
            began: Clock::now(),
            doing,
            span: span::open(doing, table, D::SYSTEM, of).entered(),
            outer: TABLE.replace(Some(table)),
            has_failed: Cell::new(false),
        }
    }

    /// What it is doing, for its errors.
    pub(crate) fn doing(&self) -> &'static str {
        self.doing
    }

    /// It is about this row.
    pub(crate) fn key<T: ClaimTable>(self, key: &T::Key) -> Call {
        if !self.span.is_disabled() {
            self.span.record("claimstore.key", T::key_text(key));
        }
        self
    }

    /// It claims for this request.
    pub(crate) fn asking(self, ask: &ClaimRequest) -> Call {
        if !self.span.is_disabled() {
            self.span.record("claimstore.worker", ask.worker().as_str());
            self.span.record("claimstore.limit", ask.limit_rows());
            if let Some(queues) = ask.named_queues() {
                self.span.record("messaging.destination.name", queues.join(","));
            }
        }
        self
    }

    /// It is about this claim.
    pub(crate) fn holding<T: ClaimTable>(self, claim: &Claim<T::Key>) -> Call {
        self.span.record("claimstore.worker", claim.worker().as_str());
        self.key::<T>(claim.key())
    }

    /// It is about the claim of this token.
    pub(crate) fn showing<T: ClaimTable>(self, token: &ClaimToken<T::Key>) -> Call {
        self.span.record("claimstore.worker", token.worker.as_str());
        self.key::<T>(&token.key)
    }

    /// It is about so many claims or rows.
    pub(crate) fn several(self, count: usize) -> Call {
        self.span.record("messaging.batch.message_count", count);
        self
    }

    /// It ends a claim with this verdict.
    pub(crate) fn settling(mut self, verdict: &Verdict) -> Call {
        self.verbs.push(verdict.verb());
        self
    }

    /// It ends these claims.
    pub(crate) fn settling_all<K>(mut self, settled: &[(Claim<K>, Verdict)]) -> Call {
        self.verbs.extend(settled.iter().map(|(_, verdict)| verdict.verb()));
        self.several(settled.len())
    }

    /// Tells of the answer and hands it back.
    pub(crate) fn told<A: Told>(self, answer: A) -> A {
        answer.tell(&self);
        answer
    }

    /// The same for an answer of which only its failure is told.
    pub(crate) fn done<R>(self, answer: Result<R, StoreError>) -> Result<R, StoreError> {
        match &answer {
            Ok(_) => self.outcome("ok"),
            Err(error) => self.failed(error.kind()),
        }
        answer
    }

    pub(super) fn outcome(&self, word: &'static str) {
        self.span.record("claimstore.outcome", word);
    }

    pub(super) fn because(&self, reason: &'static str) {
        self.span.record("claimstore.reason", reason);
    }

    pub(super) fn rows(&self, count: usize) {
        self.span.record("db.response.returned_rows", count);
    }

    /// Two halves of one call.
    pub(super) fn outcomes(&self, one: &str, other: &str) {
        if !self.span.is_disabled() {
            self.span.record("claimstore.outcome", format!("{one}, {other}"));
        }
    }

    /// The call failed.
    pub(super) fn failed(&self, kind: StoreErrorKind) {
        self.outcome("error");
        self.error(kind, 1);
    }

    /// The store failed, for so many of the claims that were given. The message is left out: it may quote
    /// what a row holds.
    pub(super) fn error(&self, kind: StoreErrorKind, claims: usize) {
        let kind = words::kind(kind);
        if !self.has_failed.replace(true) {
            self.span.record("error.type", kind);
            self.span.record("otel.status_code", "ERROR");
        }
        metrics::failed(self.table, self.name, kind);
        warn!(
            target: "claimstore",
            table = self.table, call = self.name, error.type = kind, claims, "the store failed"
        );
    }

    /// The store failed for some of several: each kind is told once.
    pub(super) fn errors(&self, of: impl Iterator<Item = StoreErrorKind>) {
        let mut kinds: Vec<(StoreErrorKind, usize)> = Vec::new();
        for kind in of {
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, claims)) => *claims += 1,
                None => kinds.push((kind, 1)),
            }
        }
        kinds.into_iter().for_each(|(kind, claims)| self.error(kind, claims));
    }

    /// A holder was refused.
    pub(super) fn fenced(&self, fenced: &Fenced, verb: &'static str) {
        metrics::fenced(self.table, verb);
        warn!(
            target: "claimstore",
            table = self.table,
            call = self.name,
            verb,
            key = fenced.key,
            held = fenced.held.get(),
            now = %fenced.now,
            "the claim is lost"
        );
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        TABLE.set(self.outer);
    }
}

/// The database was busy, and is asked once more: for the `attempt`-th time after the first.
pub(crate) fn retry(attempt: u32, kind: StoreErrorKind) {
    // Outside a call somebody opens a pool.
    let Some(table) = TABLE.get() else { return };
    metrics::busy_retry(table);
    debug!(target: "claimstore", table, attempt, error.type = words::kind(kind), "busy, trying again");
}
