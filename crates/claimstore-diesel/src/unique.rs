//! One job per key: what is asked for, and what became of it.

/// What enqueueing does about a job whose unique key is taken already, see [`NewJob::unique`].
///
/// Only a *pending* job is ever changed. One that runs or is uncertain stays as it is, whatever is asked for,
/// and the answer is [`Enqueued::Duplicate`].
///
/// [`NewJob::unique`]: crate::NewJob::unique
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnDuplicate {
    /// The first stays as it is.
    ///
    /// It may be claimed, and may finish, before the caller's transaction commits: it need not see what that
    /// transaction writes. Where it must, ask for [`Replace`](OnDuplicate::Replace), which keeps the row to
    /// itself until then.
    #[default]
    Keep,
    /// A pending one becomes the new one: payload, due time, queue, priority, limits, and whether it may be
    /// repeated.
    ///
    /// It keeps its id, its age and what it has been through: failures, crashes, interruptions, last error.
    /// A new limit that is used up already is raised to leave one more try.
    Replace,
    /// As [`Replace`](OnDuplicate::Replace), but the due time is only ever put off: the later of the two. With
    /// [`NewJob::delay`](crate::NewJob::delay) the job runs once it has been quiet for that long.
    Debounce,
}

/// What became of a job that was enqueued.
///
/// It was true when it was decided, and says no more: a job may have been claimed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Enqueued {
    /// There is a new row.
    New {
        /// Its id.
        id: i64,
    },
    /// A job with this key waits, runs or is uncertain. It was left as it is.
    Duplicate {
        /// That job's id.
        id: i64,
    },
    /// A job with this key was waiting. It has the new payload and settings now.
    Replaced {
        /// That job's id.
        id: i64,
    },
}

impl Enqueued {
    /// The id of the job that will do the work, new or not.
    #[must_use]
    pub const fn id(&self) -> i64 {
        match *self {
            Enqueued::New { id } | Enqueued::Duplicate { id } | Enqueued::Replaced { id } => id,
        }
    }

    /// Whether there is a new row.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        matches!(self, Enqueued::New { .. })
    }
}
