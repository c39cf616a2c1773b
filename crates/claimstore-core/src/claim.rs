//! Holding a row.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Budget, Fence, LocalInstant, State, Tally, Timestamp, WorkerId};

/// The right to finish one row, under one fence.
///
/// Not `Clone`, and consumed by settling, so that it is settled once:
///
/// ```compile_fail
/// fn twice<S: claimstore_core::ClaimStore>(store: &S, claim: claimstore_core::Claim<S::Key>) {
///     let _ = store.complete(claim);
///     let _ = store.complete(claim); // use of moved value
/// }
/// ```
///
/// Dropping it settles nothing: the row stays running until its lease ends and a recovery finds it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an unsettled claim keeps its row running until the lease ends and it is recovered"]
pub struct Claim<K> {
    parts: ClaimParts<K>,
    granted: Granted,
}

/// When the store last said yes, by the local clock.
#[derive(Debug, Clone, Copy)]
struct Granted {
    asked: LocalInstant,
    lease: Option<Duration>,
}

/// Two claims are the same by what they hold, not by when this process heard of it.
impl PartialEq for Granted {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Granted {}

/// What a claim is made of. For authors of stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimParts<K> {
    /// The row.
    pub key: K,
    /// Its generation.
    pub fence: Fence,
    /// The holder.
    pub worker: WorkerId,
    /// Until when, by the deciding clock; `None` where the table stores no lease.
    pub until: Option<Timestamp>,
    /// What the row had cost when it was claimed.
    pub tally: Tally,
    /// What it may cost.
    pub budget: Budget,
    /// Completing it deletes the row.
    pub discard: bool,
}

/// How far a holder may trust its claim, judged locally.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Renewed recently enough.
    Held,
    /// Nine tenths of the lease have gone by since the last good answer was *asked for*. Start nothing
    /// new; a result is still worth sending, since only the fence is proof.
    Suspect,
}

impl<K> Claim<K> {
    /// Makes a claim. Only a store that has just written this fence may do so; `asked` is when its
    /// call began and `lease` what it granted.
    pub fn granted(parts: ClaimParts<K>, asked: LocalInstant, lease: Option<Duration>) -> Claim<K> {
        Claim { parts, granted: Granted { asked, lease } }
    }

    /// Notes a renewal that the store has confirmed. For authors of stores.
    pub fn extended(&mut self, until: Option<Timestamp>, asked: LocalInstant, lease: Duration) {
        self.parts.until = until;
        self.granted = Granted { asked, lease: Some(lease) };
    }

    /// The row's key.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.parts.key
    }

    /// The generation under which the row is held.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.parts.fence
    }

    /// The holder.
    #[must_use]
    pub fn worker(&self) -> &WorkerId {
        &self.parts.worker
    }

    /// The end of the lease by the deciding clock, as of the last good answer.
    #[must_use]
    pub fn until(&self) -> Option<Timestamp> {
        self.parts.until
    }

    /// What the row had cost when it was claimed.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.parts.tally
    }

    /// What it may cost.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.parts.budget
    }

    /// Whether completing it deletes the row, as was set for its queue when it was claimed (or taken up again).
    /// Every other verdict keeps the row. See
    /// [`QueueStore::keep_completed`](crate::QueueStore::keep_completed).
    #[must_use]
    pub fn discards(&self) -> bool {
        self.parts.discard
    }

    /// Whether the local clock still trusts this claim. It reads no database.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.granted.lease {
            Some(lease) if self.granted.asked.elapsed() >= lease * 9 / 10 => Standing::Suspect,
            _ => Standing::Held,
        }
    }
}

impl<K: Clone> Claim<K> {
    /// What another process needs to settle this claim, see
    /// [`ClaimStore::resume`](crate::ClaimStore::resume).
    #[must_use]
    pub fn token(&self) -> ClaimToken<K> {
        ClaimToken {
            key: self.parts.key.clone(),
            fence: self.parts.fence,
            worker: self.parts.worker.clone(),
            until: self.parts.until,
        }
    }
}

/// A claim as data: it can be stored, sent and resumed. Two processes that settle under one token are
/// kept apart by the fence; the second gets *already settled*.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ClaimToken<K> {
    /// The row.
    pub key: K,
    /// Its generation.
    pub fence: Fence,
    /// The holder that claimed it.
    pub worker: WorkerId,
    /// The end of the lease when the token was made.
    pub until: Option<Timestamp>,
}

/// A claimed row with the right to finish it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an unsettled claim keeps its row running until the lease ends and it is recovered"]
pub struct Claimed<K, R> {
    /// The row, read in the statement that claimed it.
    pub row: R,
    /// The claim on it.
    pub claim: Claim<K>,
}

/// Rows claimed by readiness, in the table's declared order.
#[derive(Debug)]
#[must_use = "unsettled claims keep their rows running until the leases end and they are recovered"]
pub struct Batch<K, R> {
    /// The rows; at most as many as were asked for.
    pub claimed: Vec<Claimed<K, R>>,
    /// Where fewer came than were asked for: when the next row of these queues will be due, if one
    /// waits. It may have been claimed by somebody else by then.
    pub next_due: Option<Timestamp>,
}

impl<K, R> Batch<K, R> {
    /// Whether nothing was claimed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.claimed.is_empty()
    }

    /// How many rows were claimed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.claimed.len()
    }
}

impl<K, R> IntoIterator for Batch<K, R> {
    type Item = Claimed<K, R>;
    type IntoIter = std::vec::IntoIter<Claimed<K, R>>;
    fn into_iter(self) -> Self::IntoIter {
        self.claimed.into_iter()
    }
}

/// The store has written the verdict, once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// Where the row went.
    pub state: State,
    /// It had been written by an earlier call whose answer was lost; this call changed nothing.
    pub already: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(lease: Option<Duration>) -> Claim<i64> {
        let worker = WorkerId::new("w").expect("valid");
        let parts = ClaimParts {
            key: 1,
            fence: Fence::new(7),
            worker,
            until: Some(Timestamp::from_micros(9)),
            tally: Tally::default(),
            budget: Budget::default(),
            discard: false,
        };
        Claim::granted(parts, LocalInstant::now(), lease)
    }

    #[test]
    fn a_claim_is_suspect_before_its_lease_ends() {
        assert_eq!(claim(Some(Duration::from_secs(60))).standing(), Standing::Held);
        assert_eq!(claim(Some(Duration::ZERO)).standing(), Standing::Suspect);
        assert_eq!(claim(None).standing(), Standing::Held);
    }

    #[test]
    fn a_token_survives_json() {
        let token = claim(None).token();
        let json = serde_json::to_string(&token).expect("writes");
        assert_eq!(serde_json::from_str::<ClaimToken<i64>>(&json).expect("reads"), token);
    }
}
