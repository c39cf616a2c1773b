//! What a store promises, as data.

/// What stands between two claimers of one row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowLocks {
    /// A lock on the row: other rows go on.
    Row,
    /// One writer at a time for the whole database file; the guards in each statement do the rest.
    WholeFile,
    /// One mutex in this process.
    Process,
}

/// What a store promises for its table. Docs print it, tests check it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guarantees {
    /// The backend's name.
    pub backend: &'static str,
    /// The table.
    pub table: &'static str,
    /// What stands between two claimers.
    pub locks: RowLocks,
    /// Whose clock decides leases and due times.
    pub clock: &'static str,
    /// The lease is stored: abandoned claims can be found and recovered.
    pub leases: bool,
    /// The holder is stored, shown in refusals and compared by every guard.
    pub holders: bool,
    /// Work can wait for a time; without it there is no back-off and no snooze.
    pub due_times: bool,
    /// Failures are counted; without it only a verdict for good makes a row dead.
    pub failure_budget: bool,
    /// Crashes are counted; without it an abandoned row is queued again without end.
    pub crash_budget: bool,
    /// Refused late writers, failures, recoveries and operators' actions are recorded.
    pub late_writers: bool,
    /// Queues and kinds can be paused.
    pub pauses: bool,
}

impl Guarantees {
    /// Name and promise, line by line, for people.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let yes =
            |promise: bool, with: &str, without: &str| (if promise { with } else { without }).to_owned();
        let locks = match self.locks {
            RowLocks::Row => "the row's own lock; other rows go on, `claim_next` skips locked rows",
            RowLocks::WholeFile => {
                "no row locks: one writer for the whole file, each transaction begins with its guarded write"
            }
            RowLocks::Process => "one mutex in this process",
        };
        vec![
            ("between two claimers", locks.to_owned()),
            ("stale writers", "refused by the fence in every write".to_owned()),
            ("deciding clock", self.clock.to_owned()),
            (
                "abandoned claims",
                yes(self.leases, "found by their stored lease", "not found: no lease column"),
            ),
            ("holder", yes(self.holders, "stored and compared", "not stored: no worker column")),
            ("delay and back-off", yes(self.due_times, "by the due column", "none: no due column")),
            (
                "failure budget",
                yes(self.failure_budget, "counted per row", "not counted: no failures column"),
            ),
            ("crash budget", yes(self.crash_budget, "counted per row", "not counted: no crashes column")),
            (
                "refused late writers",
                yes(self.late_writers, "recorded in claimstore_events", "reported, not recorded"),
            ),
            (
                "operators' actions",
                yes(self.late_writers, "recorded with actor and reason", "none: they need a record"),
            ),
            (
                "pausing",
                yes(self.pauses, "by queue and kind, in claimstore_queues", "none: `queues` is not declared"),
            ),
        ]
    }
}
