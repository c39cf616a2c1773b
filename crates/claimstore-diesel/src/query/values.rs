//! What is bound in the holes of a statement.

use std::time::Duration;

use claimstore_core::{Fence, Timestamp};

use crate::sql_types::At;

use crate::query::Given;

/// The values of one node. A node fills those that its text asks for.
#[derive(Debug, Clone)]
pub struct Values<K> {
    pub(crate) key: Option<K>,
    pub(crate) fence: i64,
    pub(crate) worker: String,
    pub(crate) queues: Vec<String>,
    pub(crate) kind: String,
    pub(crate) limit: i64,
    /// The host's clock when the node was made; only SQLite binds it.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "PostgreSQL asks its own clock"))]
    pub(crate) now: At,
    pub(crate) lease: Lapse,
    pub(crate) delay: Lapse,
    /// Negative.
    pub(crate) grace: Lapse,
    pub(crate) failures: i32,
    pub(crate) interruptions: i32,
    pub(crate) error: String,
    pub(crate) given: Given<K>,
    pub(crate) after: Option<(At, K)>,
}

/// A span from now: PostgreSQL binds the span and adds it to its own clock, SQLite binds the sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lapse {
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "PostgreSQL asks its own clock"))]
    pub(crate) from: Timestamp,
    pub(crate) micros: i64,
}

impl Lapse {
    pub(crate) fn set(&mut self, span: Duration) {
        self.micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    }

    pub(crate) fn set_back(&mut self, span: Duration) {
        self.set(span);
        self.micros = -self.micros;
    }
}

impl<K> Values<K> {
    pub(crate) fn empty() -> Values<K> {
        let now = Timestamp::of_this_host();
        Values {
            key: None,
            fence: Fence::NEVER.get(),
            worker: String::new(),
            queues: Vec::new(),
            kind: String::new(),
            limit: 1,
            now: At(now),
            lease: Lapse { from: now, micros: 0 },
            delay: Lapse { from: now, micros: 0 },
            grace: Lapse { from: now, micros: 0 },
            failures: 0,
            interruptions: 0,
            error: String::new(),
            given: Given::default(),
            after: None,
        }
    }
}
