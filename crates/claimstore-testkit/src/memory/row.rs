//! One row in memory.

use claimstore_core::{
    Budget, DEFAULT_QUEUE, Expired, Fence, Moment, Refusal, Seen, Settlement, Sighting, State, Step, Tally,
    Timestamp, WorkerId,
};

use crate::Columns;

/// A row and its claim columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryRow<R> {
    /// What a claim reads.
    pub row: R,
    /// Its queue.
    pub queue: String,
    /// Its kind; none, unless set.
    pub kind: String,
    /// Its priority; greater comes first.
    pub priority: i32,
    /// When it is due.
    pub due: Timestamp,
    /// Its state.
    pub state: State,
    /// Its fence.
    pub fence: Fence,
    /// Who has it, or had it when it ended or became uncertain.
    pub worker: Option<WorkerId>,
    /// Since when.
    pub claimed_at: Option<Timestamp>,
    /// The end of its lease, while it is running.
    pub lease: Option<Timestamp>,
    /// What it has cost.
    pub tally: Tally,
    /// What it may cost.
    pub budget: Budget,
    /// Whether its work may simply be repeated.
    pub idempotent: bool,
    /// The last error text.
    pub last_error: Option<String>,
    /// When it was finished.
    pub finished: Option<Timestamp>,
}

impl<R> MemoryRow<R> {
    /// A pending row that nobody has touched.
    #[must_use]
    pub fn pending(row: R, due: Timestamp) -> MemoryRow<R> {
        MemoryRow {
            row,
            queue: DEFAULT_QUEUE.to_owned(),
            kind: String::new(),
            priority: 0,
            due,
            state: State::Pending,
            fence: Fence::NEVER,
            worker: None,
            claimed_at: None,
            lease: None,
            tally: Tally::default(),
            budget: Budget::default(),
            idempotent: true,
            last_error: None,
            finished: None,
        }
    }

    /// The guard of every write: running, under this fence and, where stored, by this worker.
    pub(super) fn is_held(&self, columns: &Columns, fence: Fence, worker: &WorkerId) -> bool {
        self.state == State::Running
            && self.fence == fence
            && (!columns.worker || self.worker.as_ref() == Some(worker))
    }

    /// Whether it waits, now or later, and could be claimed when due.
    pub(super) fn is_claimable(&self) -> bool {
        self.state == State::Pending && !self.is_exhausted()
    }

    fn is_exhausted(&self) -> bool {
        self.budget.is_spent(&self.tally) || !self.fence.can_rise()
    }

    /// Whether it may be claimed now, as far as the table can tell.
    pub(super) fn is_due(&self, columns: &Columns, now: Timestamp) -> bool {
        !columns.due || self.due <= now
    }

    /// Why it cannot be claimed by key, if it cannot.
    pub(super) fn refusal(&self, columns: &Columns, now: Timestamp, paused: bool) -> Option<Refusal> {
        match self.state {
            State::Running => Some(Refusal::Held {
                worker: self.worker.clone(),
                until: self.lease,
                fence: self.fence,
                expired: self.lease.is_some_and(|end| end < now),
            }),
            State::Pending if self.is_exhausted() => Some(Refusal::Exhausted),
            State::Pending if paused => Some(Refusal::Paused),
            State::Pending if !self.is_due(columns, now) => Some(Refusal::NotDue(self.due)),
            State::Pending => None,
            other => Some(Refusal::NotPending(other)),
        }
    }

    /// Ends its claim as a verdict says. The fence is kept.
    pub(super) fn settle(&mut self, columns: &Columns, settlement: &Settlement, now: Timestamp) {
        self.leave_running(settlement.to, now);
        self.tally = columns.kept(settlement.tally);
        if let Some(delay) = settlement.delay {
            self.due = now.after(delay);
        }
        if let Some(error) = &settlement.error {
            self.last_error = Some(error.clone());
        }
    }

    /// Nobody holds it any more. Who had it stays known until it waits again.
    pub(super) fn leave_running(&mut self, to: State, now: Timestamp) {
        self.state = to;
        self.lease = None;
        if to == State::Pending {
            self.worker = None;
            self.claimed_at = None;
        }
        self.finished = to.is_final().then_some(now);
    }

    /// Goes where an operator's action sends it.
    pub(super) fn take_step(&mut self, columns: &Columns, to: State, step: &Step, now: Timestamp) {
        self.leave_running(to, now);
        self.tally = columns.kept(step.tally);
        match step.due {
            Some(Moment::In(delay)) => self.due = now.after(delay),
            Some(Moment::At(at)) => self.due = at,
            None => {}
        }
        if let Some(priority) = step.priority {
            self.priority = priority;
        }
        if let Some(error) = &step.error {
            self.last_error = Some(error.clone());
        }
    }

    /// The row as an operator sees it.
    pub(super) fn sighting<K>(
        &self,
        key: K,
        columns: &Columns,
        paused: bool,
        clock: Timestamp,
    ) -> Sighting<K> {
        Sighting {
            key,
            state: self.state,
            fence: self.fence,
            worker: self.worker.clone(),
            claimed_at: self.claimed_at,
            until: self.lease,
            due: columns.due.then_some(self.due),
            queue: columns.queue.then(|| self.queue.clone()),
            kind: columns.kind.then(|| self.kind.clone()),
            priority: columns.priority.then_some(self.priority),
            tally: self.tally,
            budget: self.budget,
            idempotent: self.idempotent,
            last_error: self.last_error.clone().filter(|_| columns.last_error),
            finished_at: self.finished.filter(|_| columns.finished),
            paused,
            clock,
        }
    }

    pub(super) fn seen(&self, now: Timestamp, paused: bool) -> Seen {
        Seen {
            state: self.state,
            fence: self.fence,
            worker: self.worker.clone(),
            until: self.lease,
            due: Some(self.due),
            tally: self.tally,
            budget: self.budget,
            clock: now,
            paused,
        }
    }

    /// The row as one that is expired, if its lease ended before `latest`.
    pub(super) fn expired<K>(&self, key: K, latest: Timestamp) -> Option<Expired<K>> {
        let until = self.lease.filter(|end| self.state == State::Running && *end < latest)?;
        Some(Expired {
            key,
            fence: self.fence,
            worker: self.worker.clone(),
            until,
            tally: self.tally,
            budget: self.budget,
            idempotent: self.idempotent,
        })
    }
}
