//! Checks of what a caller hands in, all of them before anything is written.

use std::time::Duration;

use thiserror::Error;

/// The most rows one call may claim, settle, renew or recover.
pub const MAX_BATCH: usize = 10_000;

/// The longest lease, delay or grace: one hundred years of 365 days. Everything up to it fits every
/// storage form without overflow.
pub const MAX_SPAN: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Input that is refused before any statement is sent. Nothing was written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// A name or text that must not be empty is.
    #[error("{field} is empty; give it at least one character")]
    Empty {
        /// Which argument.
        field: &'static str,
    },
    /// A text is longer than its column promises to hold.
    #[error("{field} has {len} bytes; at most {max} are allowed")]
    TooLong {
        /// Which argument.
        field: &'static str,
        /// Its length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// A text carries U+0000, which PostgreSQL cannot store and SQLite would cut at.
    #[error("{field} contains the character U+0000; remove or encode it")]
    Nul {
        /// Which argument.
        field: &'static str,
    },
    /// A span that must be above zero is below one microsecond.
    #[error("{field} is zero; the shortest is one microsecond")]
    ZeroSpan {
        /// Which argument.
        field: &'static str,
    },
    /// A span is longer than [`MAX_SPAN`].
    #[error("{field} of {given:?} is longer than a hundred years")]
    SpanTooLong {
        /// Which argument.
        field: &'static str,
        /// What was given.
        given: Duration,
    },
    /// A limit of zero, or above [`MAX_BATCH`].
    #[error("limit {given} is outside 1..={MAX_BATCH}")]
    Limit {
        /// What was given.
        given: usize,
    },
    /// A list of queues is empty. It does not mean all of them.
    #[error("the list of queues is empty; name at least one (an empty list is not all of them)")]
    NoQueues,
    /// A queue was named for a table that declares no queue column.
    #[error("table {table} declares no queue column; leave the queue out or declare one")]
    NoQueueColumn {
        /// The table.
        table: &'static str,
    },
    /// The verdict or request needs a column the table does not declare.
    #[error("table {table} declares no {column} column, which {what} needs")]
    NoColumn {
        /// The table.
        table: &'static str,
        /// The role of the column that is missing.
        column: &'static str,
        /// What needs it.
        what: &'static str,
    },
    /// The verdict leads to a state the table has no word for.
    #[error("table {table} declares no word for the state {state}")]
    NoWord {
        /// The table.
        table: &'static str,
        /// The state.
        state: crate::State,
    },
    /// The same row stands twice in one batch.
    #[error("key {key} stands twice in one batch; settle or renew each claim once")]
    Twice {
        /// The key, printed.
        key: String,
    },
    /// The table keeps no events, which what was asked for is about.
    #[error("table {table} keeps no events; declare `events`, or leave them out")]
    NoEvents {
        /// The table.
        table: &'static str,
    },
    /// An action was asked for without saying on which rows.
    #[error("no filter: name a state, queue, kind, worker or age, or say Filter::all() to mean every row")]
    NoFilter,
    /// A value does not fit its column.
    #[error("{field} is {given}, outside {low}..={high}")]
    OutOfRange {
        /// Which argument.
        field: &'static str,
        /// What was given.
        given: i64,
        /// The least allowed.
        low: i64,
        /// The greatest allowed.
        high: i64,
    },
    /// A payload could not be turned into JSON.
    #[error("payload of kind {kind} cannot be written as JSON: {why}")]
    Payload {
        /// The job's kind.
        kind: String,
        /// serde's message.
        why: String,
    },
}

/// Accepts a text of 1 to `max` bytes without U+0000.
///
/// # Errors
/// [`InputError::Empty`], [`InputError::TooLong`] or [`InputError::Nul`], naming `field`.
pub fn check_text(field: &'static str, text: &str, max: usize) -> Result<(), InputError> {
    if text.is_empty() {
        return Err(InputError::Empty { field });
    }
    if text.len() > max {
        return Err(InputError::TooLong { field, len: text.len(), max });
    }
    if text.contains('\0') {
        return Err(InputError::Nul { field });
    }
    Ok(())
}

/// Accepts a span from zero to [`MAX_SPAN`].
///
/// # Errors
/// [`InputError::SpanTooLong`], naming `field`.
pub fn check_span(field: &'static str, span: Duration) -> Result<(), InputError> {
    if span > MAX_SPAN {
        return Err(InputError::SpanTooLong { field, given: span });
    }
    Ok(())
}

/// Accepts a lease: one microsecond to [`MAX_SPAN`].
///
/// # Errors
/// [`InputError::ZeroSpan`] or [`InputError::SpanTooLong`], naming `field`.
pub fn check_lease(field: &'static str, lease: Duration) -> Result<(), InputError> {
    if lease < Duration::from_micros(1) {
        return Err(InputError::ZeroSpan { field });
    }
    check_span(field, lease)
}

/// Accepts a limit of 1 to [`MAX_BATCH`].
///
/// # Errors
/// [`InputError::Limit`].
pub fn check_limit(limit: usize) -> Result<(), InputError> {
    if limit == 0 || limit > MAX_BATCH {
        return Err(InputError::Limit { given: limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_checked_by_bytes() {
        assert_eq!(check_text("queue", "", 5), Err(InputError::Empty { field: "queue" }));
        assert!(check_text("queue", "äé", 4).is_ok());
        assert!(matches!(check_text("queue", "äéi", 4), Err(InputError::TooLong { len: 5, max: 4, .. })));
        assert_eq!(check_text("queue", "a\0", 5), Err(InputError::Nul { field: "queue" }));
    }

    #[test]
    fn spans_and_limits_have_both_ends() {
        assert!(check_lease("lease", Duration::from_nanos(1)).is_err());
        assert!(check_lease("lease", Duration::from_micros(1)).is_ok());
        assert!(check_span("delay", Duration::ZERO).is_ok());
        assert!(check_span("delay", MAX_SPAN).is_ok());
        assert!(check_span("delay", Duration::MAX).is_err());
        assert!(check_limit(0).is_err());
        assert!(check_limit(MAX_BATCH).is_ok());
        assert!(check_limit(usize::MAX).is_err());
    }
}
