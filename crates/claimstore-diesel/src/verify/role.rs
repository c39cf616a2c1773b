//! What each declared column is for.

use std::collections::HashSet;

use crate::dialect::Dialect;
use crate::query::{TableText, TimeForm};

/// What a column has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Whatever names a row.
    Key,
    /// A state word.
    Word,
    /// 64 bits that only rise.
    Fence,
    /// 32 bits, from 0.
    Count,
    /// 32 bits, from 1.
    Budget,
    /// An instant, stored so.
    Instant(TimeForm),
    /// A text.
    Text,
    /// A truth value.
    Flag,
    /// Something that sorts.
    Sorted,
}

/// What the library does to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// It reads it.
    Reads,
    /// It writes values.
    Writes,
    /// It writes values, and NULL where there is nothing to say.
    Empties,
}

/// One declared column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    /// As in `#[claim(…)]`.
    pub(super) name: &'static str,
    pub(super) column: &'static str,
    pub(super) holds: Holds,
    pub(super) touch: Touch,
}

/// The declared columns, each once.
pub(super) fn roles<D: Dialect>(text: &TableText<D>) -> Vec<Role> {
    use Touch::{Empties, Reads, Writes};
    let (columns, forms) = (&text.declaration.columns, text.forms);
    let always = [
        ("key", columns.key, Holds::Key, Reads),
        ("state", columns.state, Holds::Word, Writes),
        ("fence", columns.fence, Holds::Fence, Writes),
    ];
    let optional = [
        ("worker", columns.worker, Holds::Text, Empties),
        ("lease", columns.lease, Holds::Instant(forms.lease), Empties),
        ("claimed_at", columns.claimed_at, Holds::Instant(forms.claimed_at), Empties),
        ("due", columns.due, Holds::Instant(forms.due), Writes),
        ("queue", columns.queue, Holds::Text, Reads),
        ("failures", columns.failures, Holds::Count, Writes),
        ("crashes", columns.crashes, Holds::Count, Writes),
        ("interruptions", columns.interruptions, Holds::Count, Writes),
        ("max_failures", columns.max_failures, Holds::Budget, Reads),
        ("max_crashes", columns.max_crashes, Holds::Budget, Reads),
        ("idempotent", columns.idempotent, Holds::Flag, Reads),
        ("last_error", columns.last_error, Holds::Text, Empties),
        ("finished_at", columns.finished_at, Holds::Instant(forms.finished_at), Empties),
    ];
    let optional =
        optional.into_iter().filter_map(|(name, column, holds, touch)| Some((name, column?, holds, touch)));
    let order = text.declaration.order.iter().map(|by| ("order", by.column, Holds::Sorted, Reads));
    let mut met = HashSet::new();
    let all = always.into_iter().chain(optional).chain(order).filter(|(_, column, ..)| met.insert(*column));
    all.map(|(name, column, holds, touch)| Role { name, column, holds, touch }).collect()
}

/// The columns that a claim or its end writes to.
pub(super) fn written<D: Dialect>(text: &TableText<D>) -> Vec<&'static str> {
    roles(text).into_iter().filter(|role| role.touch != Touch::Reads).map(|role| role.column).collect()
}

/// Every declared word, each once.
pub(super) fn words<D: Dialect>(text: &TableText<D>) -> Vec<&'static str> {
    let words = &text.declaration.words;
    let others = [words.completed, words.dead, words.cancelled, words.uncertain];
    let all = words.pending.iter().copied().chain([words.running]).chain(others.into_iter().flatten());
    let mut met = HashSet::new();
    all.filter(|word| met.insert(*word)).collect()
}

/// The budget that the library itself gives a job.
pub(super) fn usual_budget(role: &str) -> i32 {
    if role == "max_crashes" { 3 } else { 20 }
}
