//! Acting on rows that somebody else may hold.

use thiserror::Error;

use crate::input::InputError;
use crate::{
    Action, Event, Fence, Filter, InspectStore, Operator, Requeue, Resolution, Sighting, State, StoreError,
    Timestamp, WorkerId,
};

/// What an action has done to a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operated<K> {
    /// The row.
    pub key: K,
    /// Where it was.
    pub from: State,
    /// Where it is now; `None` where it was deleted.
    pub to: Option<State>,
    /// The fence it carries now, or last.
    pub fence: Fence,
    /// Whose live claim was ended by force.
    pub ended: Option<WorkerId>,
}

/// Why an action was not taken. Nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OperateError<K> {
    /// There is no such row.
    #[error("there is no such row")]
    Missing,
    /// The row is not as it was seen: somebody has claimed, recovered or operated on it since. A settlement alone
    /// keeps the fence: then the action is judged by the state the row has now.
    #[error("the row has changed since fence {seen} was seen: it is {} under fence {} now; look again", .now.state, .now.fence)]
    Changed {
        /// The fence that was shown.
        seen: Fence,
        /// The row now.
        now: Box<Sighting<K>>,
    },
    /// It is held, and its lease runs.
    #[error("{}", held(.worker.as_ref(), *.until))]
    Held {
        /// By whom, where stored.
        worker: Option<WorkerId>,
        /// Until when, where stored.
        until: Option<Timestamp>,
        /// Under which fence.
        fence: Fence,
    },
    /// This verb has no meaning for a row in this state.
    #[error("cannot {verb} a row that is {state}{}", instead(*.state))]
    NotFrom {
        /// The verb.
        verb: &'static str,
        /// The row's state.
        state: State,
    },
    /// Another row with the same unique key is pending, running or uncertain.
    #[error("its unique key is in use by another row; end or delete that one first")]
    Duplicate {
        /// That row.
        id: K,
    },
    /// Somebody has the row locked, or has taken its unique key and not committed yet, for longer than the
    /// operator waits. On SQLite the lock is the file's, and this is [`Store`](OperateError::Store) with
    /// [`Contended`](crate::StoreErrorKind::Contended).
    #[error("the row is locked by another transaction; explain(key) says by which")]
    Locked,
    /// The store failed, or the input was refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn held(worker: Option<&WorkerId>, until: Option<Timestamp>) -> String {
    let by = worker.map_or("held".to_owned(), |worker| format!("held by {worker}"));
    let until = until.map_or(String::new(), |until| format!(" until {until}"));
    format!("the row is {by}{until}; use force to end a live claim")
}

fn instead(state: State) -> &'static str {
    match state {
        State::Uncertain => "; resolve it: done, again or dead",
        State::Completed => "; repeat it if it is to be done twice",
        State::Dead | State::Cancelled => "; retry or requeue it, or leave it",
        State::Pending => "; nobody holds it",
        State::Running => "",
    }
}

impl<K> From<InputError> for OperateError<K> {
    fn from(input: InputError) -> Self {
        OperateError::Store(input.into())
    }
}

/// What an action on many rows has done, one bounded batch of it.
#[derive(Debug)]
pub struct OperatedAll<K> {
    /// The rows that were changed.
    pub done: Vec<Operated<K>>,
    /// Rows of the filter that were left as they were, with the reason. Rows that somebody had locked were
    /// passed over and are in neither list; one whose unique key somebody was just taking is in this one.
    pub refused: Vec<(K, OperateError<K>)>,
    /// The last row that was looked at, where there may be more: go on after it.
    pub next: Option<K>,
}

/// Where an action would take a row (`None`: it would be deleted), or why it would not.
pub type Outlook<K> = Result<Option<State>, OperateError<K>>;

/// What an action on many rows would do now.
#[derive(Debug)]
pub struct OperatePreview<K> {
    /// The rows.
    pub rows: Vec<(Sighting<K>, Outlook<K>)>,
    /// As in [`OperatedAll::next`].
    pub next: Option<K>,
}

/// Rows to act on: a filter, and one batch of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bulk<K> {
    filter: Filter,
    limit: usize,
    after: Option<K>,
}

impl<K> Bulk<K> {
    /// The first hundred rows of this filter, in key order.
    #[must_use]
    pub fn new(filter: Filter) -> Bulk<K> {
        Bulk { filter, limit: 100, after: None }
    }

    /// At most this many rows.
    #[must_use]
    pub fn limit(self, limit: usize) -> Bulk<K> {
        Bulk { limit, ..self }
    }

    /// Rows after this one, as [`OperatedAll::next`] named it.
    #[must_use]
    pub fn after(self, key: K) -> Bulk<K> {
        Bulk { after: Some(key), ..self }
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// How many rows.
    #[must_use]
    pub fn limit_rows(&self) -> usize {
        self.limit
    }

    /// After which row.
    #[must_use]
    pub fn start(&self) -> Option<&K> {
        self.after.as_ref()
    }

    /// Refuses what no store can serve, and a filter that says nothing.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn check(&self) -> Result<(), InputError> {
        crate::check_limit(self.limit)?;
        self.filter.check_to_act()
    }
}

/// What a probe has found out about uncertain work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probed {
    /// It was done.
    Done,
    /// It was not done, and can be done again.
    NotDone,
    /// It cannot be told yet; the row stays uncertain.
    Unknown,
}

/// Finds out what became of the work on a row, from how it was seen and from what a claim would read of it.
pub type Probe<'a, K, R> = dyn FnMut(&Sighting<K>, &R) -> Probed + 'a;

/// What a round of probing has done.
#[derive(Debug)]
pub struct ProbedAll<K> {
    /// The rows that were resolved.
    pub resolved: Vec<Operated<K>>,
    /// Rows that stay uncertain: the probe could not tell.
    pub unknown: Vec<K>,
    /// Rows that could not be resolved: they changed meanwhile, or could not be read.
    pub failed: Vec<(K, OperateError<K>)>,
    /// The last row that was looked at, where there may be more.
    pub next: Option<K>,
}

/// Decides over rows, whoever holds them. Each verb shows the fence that was seen and changes the row only if
/// it is still that one; who acted and why is recorded in the same transaction.
pub trait OperateStore: InspectStore {
    /// Takes this action on this row, as it was seen under this fence. Waits for a locked row as long as the
    /// operator says.
    ///
    /// # Errors
    /// [`OperateError`]; nothing was written then.
    fn operate(
        &self,
        key: &Self::Key,
        seen: Fence,
        action: &Action,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>>;

    /// Takes this action on one batch of rows, each under the fence it has at that moment, in one short
    /// transaction that passes over locked rows. One row that cannot be changed does not hold up the others. Rows in
    /// a state from which the action cannot begin are not looked at.
    ///
    /// # Errors
    /// [`StoreError`]; a filter that says nothing is refused, see [`Filter::all`].
    fn operate_all(
        &self,
        rows: &Bulk<Self::Key>,
        action: &Action,
        by: &Operator,
    ) -> Result<OperatedAll<Self::Key>, StoreError>;

    /// What [`operate_all`](OperateStore::operate_all) would do now, as far as the rows themselves tell: not whether
    /// a unique key is taken or a constraint refuses it. It locks and writes nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    fn preview_all(
        &self,
        rows: &Bulk<Self::Key>,
        action: &Action,
        by: &Operator,
    ) -> Result<OperatePreview<Self::Key>, StoreError>;

    /// The last `limit` events of this row, latest first. They outlive the row.
    ///
    /// # Errors
    /// [`StoreError`].
    fn history(&self, key: &Self::Key, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// [`Action::Retry`].
    ///
    /// # Errors
    /// As [`operate`](OperateStore::operate).
    fn retry(
        &self,
        key: &Self::Key,
        seen: Fence,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>> {
        self.operate(key, seen, &Action::Retry, by)
    }

    /// [`Action::Repeat`].
    ///
    /// # Errors
    /// As [`operate`](OperateStore::operate).
    fn repeat(
        &self,
        key: &Self::Key,
        seen: Fence,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>> {
        self.operate(key, seen, &Action::Repeat, by)
    }

    /// [`Action::Cancel`].
    ///
    /// # Errors
    /// As [`operate`](OperateStore::operate).
    fn cancel(
        &self,
        key: &Self::Key,
        seen: Fence,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>> {
        self.operate(key, seen, &Action::Cancel, by)
    }

    /// [`Action::DeadLetter`].
    ///
    /// # Errors
    /// As [`operate`](OperateStore::operate).
    fn dead_letter(
        &self,
        key: &Self::Key,
        seen: Fence,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>> {
        self.operate(key, seen, &Action::DeadLetter, by)
    }

    /// [`Action::Resolve`].
    ///
    /// # Errors
    /// As [`operate`](OperateStore::operate).
    fn resolve(
        &self,
        key: &Self::Key,
        seen: Fence,
        resolution: Resolution,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>> {
        self.operate(key, seen, &Action::Resolve(resolution), by)
    }

    /// [`Action::Requeue`].
    ///
    /// # Errors
    /// As [`operate`](OperateStore::operate).
    fn requeue(
        &self,
        key: &Self::Key,
        seen: Fence,
        requeue: Requeue,
        by: &Operator,
    ) -> Result<Operated<Self::Key>, OperateError<Self::Key>> {
        self.operate(key, seen, &Action::Requeue(requeue), by)
    }

    /// Asks `ask` of each of up to `limit` uncertain rows after this key what became of the work, and resolves
    /// it by the answer. `ask` runs outside of any transaction, once a row, and may take its time: the
    /// resolution is fenced, so that a row which somebody has decided meanwhile is left alone.
    ///
    /// # Errors
    /// [`StoreError`] where the rows cannot be listed.
    fn probe(
        &self,
        limit: usize,
        after: Option<&Self::Key>,
        by: &Operator,
        ask: &mut Probe<'_, Self::Key, Self::Row>,
    ) -> Result<ProbedAll<Self::Key>, StoreError> {
        let ask_for = crate::PageRequest::new(Filter::of(State::Uncertain)).limit(limit);
        let ask_for = match after {
            Some(key) => ask_for.after(crate::Cursor { at: None, key: key.clone() }),
            None => ask_for,
        };
        let page = self.page(&ask_for)?;
        let next = page.next.map(|cursor| cursor.key);
        let mut probed = ProbedAll { resolved: Vec::new(), unknown: Vec::new(), failed: Vec::new(), next };
        for row in page.rows {
            let answer = match self.read(&row.key) {
                Ok(Some(model)) => ask(&row, &model),
                // It is gone: somebody has decided.
                Ok(None) => continue,
                Err(error) => {
                    probed.failed.push((row.key, error.into()));
                    continue;
                }
            };
            let resolution = match answer {
                Probed::Done => Resolution::Done,
                Probed::NotDone => Resolution::Again,
                Probed::Unknown => {
                    probed.unknown.push(row.key);
                    continue;
                }
            };
            match self.resolve(&row.key, row.fence, resolution, by) {
                Ok(done) => probed.resolved.push(done),
                Err(error) => probed.failed.push((row.key, error)),
            }
        }
        Ok(probed)
    }
}
