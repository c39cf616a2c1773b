//! Why a row is not running, and what frees it.

use std::fmt;

use crate::{LateWrite, Sighting, State, Timestamp};

/// Why a row is not running, in words for people and as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation<K> {
    /// The row as it was seen; `None` where there is none.
    pub row: Option<Sighting<K>>,
    /// What stands in its way.
    pub why: Why,
    /// Who has the row locked, where that is in the way and the database tells (PostgreSQL).
    pub lock: Option<Blocker>,
    /// What refused late writers wanted to say about it, latest first: for an uncertain row this may be the
    /// answer to what became of its work. At most ten; none where the table keeps no events.
    pub late: Vec<LateWrite>,
}

/// What stands between a row and its next claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// There is no such row.
    Missing,
    /// Nothing: it is pending and due, and the next claim of its queue may take it.
    Ready,
    /// It is pending and due, and a transaction has it locked.
    Locked,
    /// It is not due yet.
    NotDue(Timestamp),
    /// Its queue or kind is paused.
    Paused,
    /// Its budget is spent, or its fence cannot rise any more.
    Exhausted,
    /// Somebody holds it, and its lease runs.
    Held,
    /// Somebody held it, and its lease has run out.
    Abandoned,
    /// It has ended.
    Ended(State),
    /// Its work may or may not have been done; nobody has decided yet.
    Uncertain,
}

/// A transaction that has the row locked, as far as this role may see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocker {
    /// Its backend.
    pub pid: i32,
    /// The name its client gave.
    pub application: Option<String>,
    /// The role it runs as.
    pub role: Option<String>,
    /// Since when its transaction is open.
    pub since: Option<Timestamp>,
    /// What it does: `active`, `idle in transaction`, …
    pub state: Option<String>,
    /// Its statement, or its last one. `None` where this role may not see it.
    pub query: Option<String>,
}

impl Why {
    /// What a look at a row says; `NULL` as due time counts as due where `null_due_is_now`. It cannot say
    /// [`Why::Locked`].
    #[must_use]
    pub fn of<K>(row: Option<&Sighting<K>>, null_due_is_now: bool, has_due: bool) -> Why {
        let Some(row) = row else { return Why::Missing };
        let due = match row.due {
            None if has_due && !null_due_is_now => Timestamp::MAX,
            due => due.unwrap_or(Timestamp::MIN),
        };
        match row.state {
            State::Running if row.is_live() => Why::Held,
            State::Running => Why::Abandoned,
            State::Pending if !row.fence.can_rise() || row.budget.is_spent(&row.tally) => Why::Exhausted,
            State::Pending if row.paused => Why::Paused,
            State::Pending if due > row.clock => Why::NotDue(due),
            State::Pending => Why::Ready,
            State::Uncertain => Why::Uncertain,
            ended => Why::Ended(ended),
        }
    }

    /// What happens next by itself, and when.
    #[must_use]
    pub fn next(&self) -> String {
        match self {
            Why::Missing | Why::Ended(_) | Why::Exhausted | Why::Uncertain => {
                "nothing happens by itself".to_owned()
            }
            Why::Ready => "the next claim of its queue may take it".to_owned(),
            Why::Locked => "it can be claimed once that transaction has ended".to_owned(),
            Why::NotDue(at) if *at == Timestamp::MAX => "it is never due".to_owned(),
            Why::NotDue(at) => format!("it can be claimed from {at}"),
            Why::Paused => "it waits until its queue or kind is let go again".to_owned(),
            Why::Held => "its holder settles it, or its lease runs out and recovery takes it".to_owned(),
            Why::Abandoned => "the next recovery takes it, once the policy's grace is over".to_owned(),
        }
    }

    /// The call that frees it, if one is needed.
    #[must_use]
    pub fn cure(&self) -> Option<&'static str> {
        Some(match self {
            Why::Missing | Why::Ready => return None,
            Why::Locked => "end that transaction: SELECT pg_terminate_backend(pid)",
            Why::NotDue(_) => "store.requeue(key, fence, Requeue::now(), operator)",
            Why::Paused => "store.unpause(what, operator)",
            Why::Ended(State::Completed) => "store.repeat(key, fence, operator), if it is to be done twice",
            Why::Exhausted | Why::Ended(_) => "store.retry(key, fence, operator)",
            Why::Held => "store.retry(key, fence, operator.force()), if its holder is known to be gone",
            Why::Abandoned => "store.recover(policy, limit), or store.retry(key, fence, operator)",
            Why::Uncertain => "store.resolve(key, fence, resolution, operator), or store.probe(…)",
        })
    }
}

impl<K: fmt::Debug> fmt::Display for Explanation<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(row) = &self.row else { return f.write_str("there is no such row") };
        write!(f, "row {:?} is {} under fence {}", row.key, row.state, row.fence)?;
        if let (State::Running, Some(worker)) = (row.state, &row.worker) {
            write!(f, ", held by {worker}")?;
        }
        if let (State::Running, Some(since)) = (row.state, row.claimed_at) {
            write!(f, " since {since}")?;
        }
        if let Some(until) = row.until {
            write!(f, ", its lease {} {until}", if row.is_live() { "ends" } else { "ended" })?;
        }
        match self.why {
            Why::Paused => f.write_str("; its queue or kind is paused")?,
            Why::Exhausted => {
                write!(
                    f,
                    "; its budget is spent ({} failures, {} crashes)",
                    row.tally.failures, row.tally.crashes
                )?;
            }
            Why::NotDue(at) if at != Timestamp::MAX => write!(f, "; it is due at {at}")?,
            _ => {}
        }
        if let Some(error) = &row.last_error {
            write!(f, "; last error: {error}")?;
        }
        if let Some(lock) = &self.lock {
            write!(f, "; {lock}")?;
        }
        for late in &self.late {
            write!(f, "; {} wanted to {} it under fence {}", late.worker, late.verb, late.held)?;
            if let Some(error) = &late.error {
                write!(f, ": {error}")?;
            }
        }
        write!(f, "; {}", self.why.next())?;
        match self.why.cure() {
            Some(cure) => write!(f, "; to free it: {cure}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "locked by backend {}", self.pid)?;
        if let Some(application) = self.application.as_deref().filter(|name| !name.is_empty()) {
            write!(f, " of {application}")?;
        }
        if let Some(role) = &self.role {
            write!(f, " as {role}")?;
        }
        if let Some(since) = self.since {
            write!(f, " since {since}")?;
        }
        if let Some(state) = &self.state {
            write!(f, " ({state})")?;
        }
        match &self.query {
            Some(query) => write!(f, ": {query}"),
            None => f.write_str("; what it runs this role may not see"),
        }
    }
}
