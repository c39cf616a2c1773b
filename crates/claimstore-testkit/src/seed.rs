//! A row to prepare.

use std::time::Duration;

use claimstore_core::{Budget, DEFAULT_QUEUE, Fence, State, Tally};

/// When a prepared row is due, counted from the insert by the deciding clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// It has been due for this long.
    Ago(Duration),
    /// It will be due in this long.
    In(Duration),
}

/// A row for a harness to insert. A harness ignores what its table has no column for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seed {
    /// The queue, `default` unless set.
    pub queue: String,
    /// The kind, `test` unless set.
    pub kind: String,
    /// The priority, 0 unless set.
    pub priority: i32,
    /// When it is due, a minute ago unless set.
    pub due: Due,
    /// The state, pending unless set. Never running: to have a running row, claim it.
    pub state: State,
    /// The fence, never claimed unless set.
    pub fence: Fence,
    /// What it has cost, nothing unless set.
    pub tally: Tally,
    /// What it may cost; `None` where the table's or the policy's default is to hold.
    pub budget: Budget,
    /// Whether its work may be repeated, true unless set.
    pub idempotent: bool,
}

impl Seed {
    /// A pending row that nobody has touched, due a minute ago.
    #[must_use]
    pub fn pending() -> Seed {
        Seed {
            queue: DEFAULT_QUEUE.to_owned(),
            kind: "test".to_owned(),
            priority: 0,
            due: Due::Ago(Duration::from_secs(60)),
            state: State::Pending,
            fence: Fence::NEVER,
            tally: Tally::default(),
            budget: Budget::default(),
            idempotent: true,
        }
    }

    /// In this queue.
    #[must_use]
    pub fn queue(self, queue: &str) -> Seed {
        Seed { queue: queue.to_owned(), ..self }
    }

    /// Of this kind.
    #[must_use]
    pub fn kind(self, kind: &str) -> Seed {
        Seed { kind: kind.to_owned(), ..self }
    }

    /// Of this priority.
    #[must_use]
    pub fn priority(self, priority: i32) -> Seed {
        Seed { priority, ..self }
    }

    /// Due only after this long.
    #[must_use]
    pub fn due_in(self, span: Duration) -> Seed {
        Seed { due: Due::In(span), ..self }
    }

    /// Due since this long.
    #[must_use]
    pub fn due_ago(self, span: Duration) -> Seed {
        Seed { due: Due::Ago(span), ..self }
    }

    /// In this state, which is not running.
    #[must_use]
    pub fn state(self, state: State) -> Seed {
        Seed { state, ..self }
    }

    /// Under this fence.
    #[must_use]
    pub fn fence(self, fence: Fence) -> Seed {
        Seed { fence, ..self }
    }

    /// Having failed this often.
    #[must_use]
    pub fn failures(self, failures: i32) -> Seed {
        Seed { tally: Tally { failures, ..self.tally }, ..self }
    }

    /// Having crashed this often.
    #[must_use]
    pub fn crashes(self, crashes: i32) -> Seed {
        Seed { tally: Tally { crashes, ..self.tally }, ..self }
    }

    /// Dead at this many failures.
    #[must_use]
    pub fn max_failures(self, max: i32) -> Seed {
        Seed { budget: Budget { max_failures: Some(max), ..self.budget }, ..self }
    }

    /// Given up at this many crashes.
    #[must_use]
    pub fn max_crashes(self, max: i32) -> Seed {
        Seed { budget: Budget { max_crashes: Some(max), ..self.budget }, ..self }
    }

    /// Of work that must not simply be repeated.
    #[must_use]
    pub fn not_idempotent(self) -> Seed {
        Seed { idempotent: false, ..self }
    }
}
