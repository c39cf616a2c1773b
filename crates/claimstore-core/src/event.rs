//! What is remembered of a row's life beyond its columns.

use serde::{Deserialize, Serialize};

use crate::{Fence, LateWrite, Operator, State, Tally, Timestamp, WorkerId};

/// How much is recorded, each event in the transaction of what it tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum History {
    /// Failures, recoveries, refused late writers and operators' actions. A row that goes well writes none.
    #[default]
    Notable,
    /// Every transition, also the ordinary ones. Each claim and settlement then costs a transaction and a row.
    All,
}

/// One thing that happened to one row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Later events have greater ids.
    pub id: i64,
    /// When, by the deciding clock.
    pub at: Timestamp,
    /// The table.
    pub table: String,
    /// The row's key, printed; for a pause `queue/…` or `kind/…`.
    pub key: String,
    /// The holder concerned, if there was one.
    pub worker: Option<WorkerId>,
    /// The row's fence after it; of a refused late writer the fence it showed.
    pub fence: Fence,
    /// What.
    pub what: Happened,
}

/// What happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "detail", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Happened {
    /// A writer with an old fence was refused; what it wanted to say is kept.
    LateWriter(LateWrite),
    /// Its holder reported a failure.
    Failed {
        /// Where the row went.
        to: State,
        /// What was reported.
        error: Option<String>,
        /// What the row has cost by now.
        tally: Tally,
    },
    /// Its lease ran out: a crash, and what recovery decided.
    Recovered {
        /// Where the row went.
        to: State,
        /// Crashes by now.
        crashes: i32,
    },
    /// An operator acted.
    Operated {
        /// The verb.
        verb: String,
        /// Who.
        actor: String,
        /// Why.
        reason: String,
        /// Where the row was; `None` for a queue or kind.
        from: Option<State>,
        /// Where it went; `None` where it was deleted, and for a queue or kind.
        to: Option<State>,
        /// A live claim was ended by force.
        forced: bool,
    },
    /// It was enqueued ([`History::All`]).
    Enqueued {},
    /// It was claimed ([`History::All`]).
    Claimed {},
    /// Its holder settled it otherwise than by a failure ([`History::All`]).
    Settled {
        /// The verb.
        verb: String,
        /// Where the row went.
        to: State,
    },
    /// Something that this version does not know, or that was damaged: as stored.
    Other {
        /// Its kind.
        kind: String,
        /// Its details.
        detail: String,
    },
}

impl Happened {
    /// What an operator did. For authors of stores.
    #[must_use]
    pub fn operated(
        verb: &str,
        by: &Operator,
        from: Option<State>,
        to: Option<State>,
        forced: bool,
    ) -> Happened {
        let (actor, reason) = (by.actor().to_owned(), by.reason().to_owned());
        Happened::Operated { verb: verb.to_owned(), actor, reason, from, to, forced }
    }

    /// The kind, as stored: `late_writer`, `failed`, `recovered`, `operated`, `enqueued`, `claimed`, `settled`.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Happened::LateWriter(_) => "late_writer",
            Happened::Failed { .. } => "failed",
            Happened::Recovered { .. } => "recovered",
            Happened::Operated { .. } => "operated",
            Happened::Enqueued {} => "enqueued",
            Happened::Claimed {} => "claimed",
            Happened::Settled { .. } => "settled",
            Happened::Other { kind, .. } => kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_kind_is_the_one_serde_writes() {
        let tally = Tally::default();
        let all = [
            Happened::Failed { to: State::Dead, error: Some("no".to_owned()), tally },
            Happened::Recovered { to: State::Pending, crashes: 1 },
            Happened::Enqueued {},
            Happened::Claimed {},
            Happened::Settled { verb: "complete".to_owned(), to: State::Completed },
        ];
        for what in all {
            let json = serde_json::to_value(&what).expect("it has a JSON form");
            assert_eq!(json["kind"], what.kind());
            assert_eq!(serde_json::from_value::<Happened>(json).expect("it is read back"), what);
        }
    }
}
