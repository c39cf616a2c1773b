//! What a worker asks for.

use std::sync::Arc;
use std::time::Duration;

use crate::input::{InputError, check_lease, check_limit, check_text};
use crate::{Wait, WorkerId};

/// The queue that jobs go to and workers claim from when none is named.
pub const DEFAULT_QUEUE: &str = "default";

/// The most queues one request may name.
const MAX_QUEUES: usize = 100;

/// The longest queue name, in bytes.
const MAX_QUEUE: usize = 200;

/// Who claims, for how long, from which queues, how many, and how it waits.
///
/// Each setter returns a changed copy, so one request can be kept and varied. Nothing is checked until
/// it is used; a store refuses bad values before it sends anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimRequest {
    worker: WorkerId,
    lease: Duration,
    wait: Wait,
    queues: Option<Arc<[String]>>,
    limit: usize,
}

impl ClaimRequest {
    /// A lease of 30 seconds, one row, the queue `default`, not waiting.
    #[must_use]
    pub fn new(worker: &WorkerId) -> ClaimRequest {
        ClaimRequest {
            worker: worker.clone(),
            lease: Duration::from_secs(30),
            wait: Wait::Never,
            queues: None,
            limit: 1,
        }
    }

    /// How long the claim is trusted without a renewal. From one microsecond to a hundred years; the
    /// database stores its end, so processes may choose differently.
    #[must_use]
    pub fn lease(&self, lease: Duration) -> ClaimRequest {
        ClaimRequest { lease, ..self.clone() }
    }

    /// How a claim by key waits for a locked row. `claim_next` never waits for one.
    #[must_use]
    pub fn wait(&self, wait: Wait) -> ClaimRequest {
        ClaimRequest { wait, ..self.clone() }
    }

    /// Claims from this queue only.
    #[must_use]
    pub fn queue(&self, queue: impl Into<String>) -> ClaimRequest {
        self.queues([queue.into()])
    }

    /// Claims from these queues, merged in the table's order. An empty list is refused; it is not all
    /// of them. At most a hundred.
    #[must_use]
    pub fn queues<Q: Into<String>>(&self, queues: impl IntoIterator<Item = Q>) -> ClaimRequest {
        ClaimRequest { queues: Some(queues.into_iter().map(Into::into).collect()), ..self.clone() }
    }

    /// At most this many rows, 1 to [`MAX_BATCH`](crate::MAX_BATCH).
    #[must_use]
    pub fn limit(&self, limit: usize) -> ClaimRequest {
        ClaimRequest { limit, ..self.clone() }
    }

    /// Who claims.
    #[must_use]
    pub fn worker(&self) -> &WorkerId {
        &self.worker
    }

    /// For how long.
    #[must_use]
    pub fn lease_span(&self) -> Duration {
        self.lease
    }

    /// How a claim by key waits.
    #[must_use]
    pub fn wait_mode(&self) -> Wait {
        self.wait
    }

    /// How many.
    #[must_use]
    pub fn limit_rows(&self) -> usize {
        self.limit
    }

    /// The queues that were named, if any were.
    #[must_use]
    pub fn named_queues(&self) -> Option<&[String]> {
        self.queues.as_deref()
    }

    /// The queues to claim from on a table that has queues: those named, or [`DEFAULT_QUEUE`]; each
    /// once, sorted.
    #[must_use]
    pub fn queue_list(&self) -> Vec<String> {
        let mut queues = match &self.queues {
            Some(named) => named.to_vec(),
            None => vec![DEFAULT_QUEUE.to_owned()],
        };
        queues.sort();
        queues.dedup();
        queues
    }

    /// Refuses what no store can serve.
    ///
    /// # Errors
    /// [`InputError`] for a lease of zero or above a hundred years, a limit of zero or above
    /// [`MAX_BATCH`](crate::MAX_BATCH), an empty list of queues, or a bad queue name.
    pub fn check(&self) -> Result<(), InputError> {
        check_lease("lease", self.lease)?;
        check_limit(self.limit)?;
        if let Wait::AtMost(most) = self.wait {
            crate::input::check_span("wait", most)?;
        }
        if let Some(queues) = &self.queues {
            if queues.is_empty() {
                return Err(InputError::NoQueues);
            }
            if queues.len() > MAX_QUEUES {
                let given = i64::try_from(queues.len()).unwrap_or(i64::MAX);
                return Err(InputError::OutOfRange {
                    field: "queues",
                    given,
                    low: 1,
                    high: MAX_QUEUES as i64,
                });
            }
            queues.iter().try_for_each(|queue| check_text("queue", queue, MAX_QUEUE))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_requests_are_refused_and_good_ones_are_not_changed() {
        let ask = ClaimRequest::new(&WorkerId::generate("w"));
        assert_eq!(ask.check(), Ok(()));
        assert_eq!(ask.queue_list(), ["default"]);
        assert_eq!(ask.queues(["b", "a", "b"]).queue_list(), ["a", "b"]);
        assert_eq!(ask.limit(0).check(), Err(InputError::Limit { given: 0 }));
        assert_eq!(ask.queues(Vec::<String>::new()).check(), Err(InputError::NoQueues));
        assert!(ask.queues((0..100).map(|n| n.to_string())).check().is_ok());
        assert!(ask.queues((0..101).map(|n| n.to_string())).check().is_err());
        assert_eq!(ask.queue("").check(), Err(InputError::Empty { field: "queue" }));
        assert_eq!(ask.lease(Duration::ZERO).check(), Err(InputError::ZeroSpan { field: "lease" }));
        assert!(ask.lease(Duration::MAX).check().is_err());
        assert!(ask.wait(Wait::AtMost(Duration::MAX)).check().is_err());
    }
}
