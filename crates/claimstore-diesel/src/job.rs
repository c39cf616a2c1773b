//! The built-in job table.

use std::time::Duration;

use claimstore_core::{DEFAULT_QUEUE, InputError, Timestamp, check_span, check_text};
use claimstore_derive::ClaimTable;
use diesel::{Queryable, Selectable};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::schema::claimstore_jobs;
use crate::sql_types::At;
use crate::unique::OnDuplicate;

/// A kind of job: a payload with a name.
///
/// ```
/// # use claimstore_diesel as claimstore;
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct EncodeVideo {
///     id: i64,
/// }
/// impl claimstore::JobKind for EncodeVideo {
///     const KIND: &'static str = "encode_video";
/// }
/// let job = claimstore::NewJob::of(&EncodeVideo { id: 7 })?.queue("video").priority(5);
/// # Ok::<(), claimstore::core::InputError>(())
/// ```
pub trait JobKind: Serialize + DeserializeOwned {
    /// Its name, stored with each job. 1 to 200 bytes.
    const KIND: &'static str;
    /// The queue it goes to unless told otherwise.
    const QUEUE: &'static str = DEFAULT_QUEUE;
    /// Whether it may simply be repeated. A job that may not becomes uncertain when its holder vanishes.
    const IDEMPOTENT: bool = true;
    /// Failures at which it is dead.
    const MAX_FAILURES: i32 = 20;
    /// Crashes at which it is given up.
    const MAX_CRASHES: i32 = 3;
}

/// A job, as claimed.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = claimstore_jobs)]
#[claim(
    backend(postgres, sqlite),
    key = id,
    fence = fence,
    worker = worker,
    lease = lease,
    claimed_at = claimed_at,
    due = due,
    queue = queue,
    kind = kind,
    priority = priority,
    unique_key = unique_key,
    failures = failures,
    crashes = crashes,
    interruptions = interruptions,
    max_failures = max_failures,
    max_crashes = max_crashes,
    idempotent = idempotent,
    last_error = last_error,
    finished_at = finished_at,
    order(priority.desc(), due.asc(), id.asc()),
    events,
    queues
)]
#[claim(state(
    state,
    pending("pending"),
    running("running"),
    completed("completed"),
    dead("dead"),
    cancelled("cancelled"),
    uncertain("uncertain")
))]
pub struct Job {
    /// Names it.
    pub id: i64,
    /// Its queue.
    pub queue: String,
    /// What it is.
    pub kind: String,
    /// Its payload: JSON, byte for byte as enqueued.
    pub payload: String,
    /// Greater comes first.
    pub priority: i32,
    /// From when it could be claimed.
    #[diesel(deserialize_as = At)]
    pub due: Timestamp,
    /// Failures so far.
    pub failures: i32,
    /// Crashes so far.
    pub crashes: i32,
    /// Interruptions so far.
    pub interruptions: i32,
    /// When it was enqueued.
    #[diesel(deserialize_as = At)]
    pub created_at: Timestamp,
}

/// A payload that is not what its kind says. The row keeps its bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The job is of another kind.
    #[error("job {id} is of kind {found:?}, not {wanted:?}")]
    Kind {
        /// The job.
        id: i64,
        /// Its kind.
        found: String,
        /// The kind that was asked for.
        wanted: &'static str,
    },
    /// The JSON does not have the shape of the kind.
    #[error("payload of job {id} ({kind}) cannot be read: {source}")]
    Json {
        /// The job.
        id: i64,
        /// Its kind.
        kind: &'static str,
        /// serde's reason.
        source: serde_json::Error,
    },
}

impl Job {
    /// The payload as its type.
    ///
    /// # Errors
    /// [`PayloadError`]; settle the claim as failed then, for good or not, so that the row does not loop.
    pub fn payload<P: JobKind>(&self) -> Result<P, PayloadError> {
        if self.kind != P::KIND {
            return Err(PayloadError::Kind { id: self.id, found: self.kind.clone(), wanted: P::KIND });
        }
        serde_json::from_str(&self.payload).map_err(|source| PayloadError::Json {
            id: self.id,
            kind: P::KIND,
            source,
        })
    }
}

/// A job to enqueue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub(crate) kind: String,
    pub(crate) payload: String,
    pub(crate) queue: String,
    pub(crate) priority: i32,
    pub(crate) delay: Duration,
    pub(crate) at: Option<Timestamp>,
    pub(crate) max_failures: i32,
    pub(crate) max_crashes: i32,
    pub(crate) idempotent: bool,
    pub(crate) unique: Option<String>,
    pub(crate) on_duplicate: OnDuplicate,
}

impl NewJob {
    /// A job with this payload, due now, as its kind says.
    ///
    /// # Errors
    /// [`InputError::Payload`] where serde cannot write it as JSON.
    pub fn of<P: JobKind>(payload: &P) -> Result<NewJob, InputError> {
        let json = serde_json::to_string(payload)
            .map_err(|why| InputError::Payload { kind: P::KIND.to_owned(), why: why.to_string() })?;
        Ok(NewJob {
            kind: P::KIND.to_owned(),
            payload: json,
            queue: P::QUEUE.to_owned(),
            priority: 0,
            delay: Duration::ZERO,
            at: None,
            max_failures: P::MAX_FAILURES,
            max_crashes: P::MAX_CRASHES,
            idempotent: P::IDEMPOTENT,
            unique: None,
            on_duplicate: OnDuplicate::Keep,
        })
    }

    /// In this queue.
    #[must_use]
    pub fn queue(self, queue: impl Into<String>) -> NewJob {
        NewJob { queue: queue.into(), ..self }
    }

    /// With this priority; greater comes first.
    #[must_use]
    pub fn priority(self, priority: i32) -> NewJob {
        NewJob { priority, ..self }
    }

    /// Due this long from now, by the database's clock.
    #[must_use]
    pub fn delay(self, delay: Duration) -> NewJob {
        NewJob { delay, at: None, ..self }
    }

    /// Due at this instant.
    #[must_use]
    pub fn run_at(self, at: impl Into<Timestamp>) -> NewJob {
        NewJob { at: Some(at.into()), ..self }
    }

    /// Dead at this many failures.
    #[must_use]
    pub fn max_failures(self, max: i32) -> NewJob {
        NewJob { max_failures: max, ..self }
    }

    /// Given up at this many crashes.
    #[must_use]
    pub fn max_crashes(self, max: i32) -> NewJob {
        NewJob { max_crashes: max, ..self }
    }

    /// Whether it may simply be repeated after its holder has vanished.
    #[must_use]
    pub fn idempotent(self, idempotent: bool) -> NewJob {
        NewJob { idempotent, ..self }
    }

    /// Only one job of its kind with this key at a time: 1 to 500 bytes.
    ///
    /// A key is taken while a job of the same kind has it and is pending, running or uncertain, in whatever
    /// queue. Enqueueing another one then inserts nothing and answers [`Enqueued::Duplicate`], also while the
    /// first one runs, or what [`on_duplicate`](NewJob::on_duplicate) asks for. Once the first one has
    /// completed, is dead or was cancelled, the key is free. The way back to pending, after a failure, a
    /// release or a crash, keeps the key and never meets another job on it.
    ///
    /// Who enqueues a key that another transaction has just enqueued waits until that one has ended.
    ///
    /// Ids have 64 bits. A key that is seen to be taken costs none. On PostgreSQL, where two transactions enqueue
    /// the same key at the same moment, the second one's call has drawn ids in vain, at most one for each job.
    ///
    /// ```
    /// # use claimstore_diesel as claimstore;
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Reindex { shop: i64 }
    /// # impl claimstore::JobKind for Reindex { const KIND: &'static str = "reindex"; }
    /// use claimstore::{NewJob, OnDuplicate};
    /// use std::time::Duration;
    ///
    /// // However often shop 7 changes: one job, half a minute after the last change.
    /// let job = NewJob::of(&Reindex { shop: 7 })?
    ///     .unique("shop-7")
    ///     .on_duplicate(OnDuplicate::Debounce)
    ///     .delay(Duration::from_secs(30));
    /// # Ok::<(), claimstore::core::InputError>(())
    /// ```
    ///
    /// [`Enqueued::Duplicate`]: crate::Enqueued::Duplicate
    #[must_use]
    pub fn unique(self, key: impl Into<String>) -> NewJob {
        NewJob { unique: Some(key.into()), ..self }
    }

    /// What to do where the key of [`unique`](NewJob::unique) is taken by a pending job;
    /// [`OnDuplicate::Keep`] unless told otherwise. Without a key it means nothing.
    #[must_use]
    pub fn on_duplicate(self, on_duplicate: OnDuplicate) -> NewJob {
        NewJob { on_duplicate, ..self }
    }

    /// Refuses what a column cannot hold.
    ///
    /// # Errors
    /// [`InputError`], naming the field.
    pub fn check(&self) -> Result<(), InputError> {
        check_text("kind", &self.kind, 200)?;
        check_text("queue", &self.queue, 200)?;
        if let Some(key) = &self.unique {
            check_text("unique_key", key, 500)?;
        }
        if self.payload.contains('\0') {
            return Err(InputError::Nul { field: "payload" });
        }
        check_span("delay", self.delay)?;
        self.at.map_or(Ok(()), |at| at.check("run_at"))?;
        for (field, max) in [("max_failures", self.max_failures), ("max_crashes", self.max_crashes)] {
            if max < 1 {
                let high = i32::MAX.into();
                return Err(InputError::OutOfRange { field, given: max.into(), low: 1, high });
            }
        }
        Ok(())
    }
}
