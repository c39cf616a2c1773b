//! An operator's action: take the row, decide, write, record.

use std::collections::HashMap;
use std::time::Duration;

use claimstore_core::{
    Action, Bulk, Cursor, Fence, Filter, InputError, Moment, OperateError, OperatePreview, Operated,
    OperatedAll, Operator, PageOrder, RowLocks, Sighting, State, Step, StoreError, StoreErrorKind, Wait,
};
use diesel::result::{DatabaseErrorKind, Error};
use diesel::{Connection, QueryResult};

use super::claim::{busy, together};
use super::inspect::check_filter;
use super::recover::is_of_a_row;
use super::{Answer, events};
use crate::declaration::Declaration;
use crate::dialect::{Dialect, Place};
use crate::query::{self, Hold, KeyOf, Sighted, Touched};
use crate::table::{ClaimOn, ClaimTable};

/// No index can be asked not to wait at all: so long it may take to learn that a key is in somebody's hands.
const BRIEF: Duration = Duration::from_millis(10);

type Decided<K> = (Sighting<K>, Step);
/// The rows of a batch, and the last of them where there may be more.
type Candidates<K> = (Vec<Sighting<K>>, Option<K>);

pub(crate) fn operate<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
    seen: Fence,
    action: &Action,
    by: &Operator,
    place: Place,
) -> Answer<Operated<T::Key>, OperateError<T::Key>> {
    if let Err(input) = check(&T::DECLARATION, action, by) {
        return Ok(Err(input.into()));
    }
    let wait = match by.wait_span() {
        span if span.as_millis() == 0 => Wait::Never,
        span => Wait::AtMost(span),
    };
    let mut work = |conn: &mut D::Conn, waits: bool| {
        // SQLite has no locked rows to pass over: there it is a write, whatever the wait.
        let hold = if waits || D::LOCKS != RowLocks::Row { Hold::Waiting } else { Hold::Skipping };
        let mut rows: Vec<Sighted<T>> = D::load(conn, query::look_at::<T>(key, hold))?;
        let Some(Sighted(row)) = rows.pop() else {
            let there: Vec<Sighted<T>> = D::load(conn, query::look_at::<T>(key, Hold::No))?;
            let locked = hold == Hold::Skipping && !there.is_empty();
            return Ok(Err(if locked { OperateError::Locked } else { OperateError::Missing }));
        };
        if row.fence != seen {
            return Ok(Err(OperateError::Changed { seen, now: Box::new(row) }));
        }
        let step = match decide::<T>(&row, action, by) {
            Ok(step) => step,
            Err(refused) => return Ok(Err(refused)),
        };
        let decided = [(row, step)];
        match write_apart::<T, D>(conn, &decided, action, by, waits) {
            Ok(Some(mut done)) => Ok(done.pop().ok_or(OperateError::Missing)),
            Ok(None) => Ok(Err(OperateError::Locked)),
            Err(error) if is_of_a_row::<D>(&error, place) => refused::<T, D>(conn, key, error).map(Err),
            Err(error) => Err(error),
        }
    };
    Ok(match D::waiting(conn, wait, place.whole(), &mut work)? {
        Some(answer) => answer,
        None if D::LOCKS == RowLocks::Row => Err(OperateError::Locked),
        None => Err(OperateError::Store(busy("operating"))),
    })
}

pub(crate) fn operate_all<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    rows: &Bulk<T::Key>,
    action: &Action,
    by: &Operator,
    place: Place,
) -> Answer<OperatedAll<T::Key>> {
    if let Err(input) = check_all(&T::DECLARATION, rows, action, by) {
        return Ok(Err(input.into()));
    }
    together::<D, _>(conn, place, &mut |conn| {
        let (seen, next) = candidates::<T, D>(conn, rows, action, Hold::Skipping)?;
        let (mut decided, mut all) =
            (Vec::new(), OperatedAll { done: Vec::new(), refused: Vec::new(), next });
        for row in seen {
            match decide::<T>(&row, action, by) {
                Ok(step) => decided.push((row, step)),
                Err(refused) => all.refused.push((row.key, refused)),
            }
        }
        let whole = write_apart::<T, D>(conn, &decided, action, by, false);
        let is_refused = match &whole {
            Ok(done) => done.is_none(),
            Err(error) => is_of_a_row::<D>(error, place),
        };
        if !is_refused {
            all.done = whole?.unwrap_or_default();
            return Ok(Ok(all));
        }
        // One row that cannot be changed must not hold up the others: each on its own.
        for one in decided.chunks(1) {
            let key = &one[0].0.key;
            let why = match write_apart::<T, D>(conn, one, action, by, false) {
                Ok(Some(done)) => {
                    all.done.extend(done);
                    continue;
                }
                Ok(None) => OperateError::Locked,
                Err(error) if is_of_a_row::<D>(&error, place) => refused::<T, D>(conn, key, error)?,
                Err(error) => return Err(error),
            };
            all.refused.push((key.clone(), why));
        }
        Ok(Ok(all))
    })
}

pub(crate) fn preview_all<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    rows: &Bulk<T::Key>,
    action: &Action,
    by: &Operator,
) -> Answer<OperatePreview<T::Key>> {
    if let Err(input) = check_all(&T::DECLARATION, rows, action, by) {
        return Ok(Err(input.into()));
    }
    let (seen, next) = candidates::<T, D>(conn, rows, action, Hold::No)?;
    let decided = seen.into_iter().map(|row| {
        let to = decide::<T>(&row, action, by).map(|step| step.to);
        (row, to)
    });
    Ok(Ok(OperatePreview { rows: decided.collect(), next }))
}

/// Refuses what this table cannot store.
fn check(table: &Declaration, action: &Action, by: &Operator) -> Result<(), InputError> {
    by.check()?;
    action.check()?;
    let lacks = |column| InputError::NoColumn { table: table.table, column, what: "the action" };
    match action {
        Action::Requeue(requeue) => {
            // At once is what a table without due times always says.
            let waits = requeue.due().is_some_and(|due| due != Moment::In(Duration::ZERO));
            if waits && table.columns.due.is_none() {
                return Err(lacks("due"));
            }
            if requeue.new_priority().is_some() && table.columns.priority.is_none() {
                return Err(lacks("priority"));
            }
            Ok(())
        }
        Action::Recover(_) if table.columns.lease.is_none() => Err(lacks("lease")),
        _ => Ok(()),
    }
}

fn check_all<K>(
    table: &Declaration,
    rows: &Bulk<K>,
    action: &Action,
    by: &Operator,
) -> Result<(), InputError> {
    check(table, action, by)?;
    rows.check()?;
    check_filter(table, &of(rows, action))
}

/// The rows of the filter from which the action can begin.
fn of<K>(rows: &Bulk<K>, action: &Action) -> Filter {
    rows.filter().within(action.from())
}

/// One batch in key order, and where the next begins.
fn candidates<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    rows: &Bulk<T::Key>,
    action: &Action,
    hold: Hold,
) -> QueryResult<Candidates<T::Key>> {
    let filter = of(rows, action);
    if filter.states().is_empty() {
        return Ok((Vec::new(), None));
    }
    let after = rows.start().map(|key| Cursor { at: None, key: key.clone() });
    let limit = rows.limit_rows();
    let look = query::look_for::<T>(&filter, PageOrder::Key, false, limit, after.as_ref(), hold);
    let seen: Vec<Sighted<T>> = D::load(conn, look)?;
    let seen: Vec<_> = seen.into_iter().map(|Sighted(row)| row).collect();
    let next = seen.last().filter(|_| seen.len() == limit).map(|row| row.key.clone());
    Ok((seen, next))
}

fn decide<T: ClaimTable>(
    row: &Sighting<T::Key>,
    action: &Action,
    by: &Operator,
) -> Result<Step, OperateError<T::Key>> {
    let has_word = |state| T::DECLARATION.words.word(state).is_some();
    if action != &Action::Delete && !row.fence.can_rise() {
        let why = "the fence of this row cannot rise any more; delete the row or enqueue it anew";
        return Err(OperateError::Store(StoreError::new(StoreErrorKind::Constraint, "operating", why)));
    }
    action.decide(row, by, T::DECLARATION.table, has_word, fastrand::f64())
}

/// Writes in a savepoint, since a refusal by the database must not abort the transaction. Who does not wait gets
/// `None` where somebody has taken a row's unique key and not committed it.
fn write_apart<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    decided: &[Decided<T::Key>],
    action: &Action,
    by: &Operator,
    waits: bool,
) -> QueryResult<Option<Vec<Operated<T::Key>>>> {
    let mut work = |conn: &mut D::Conn, _| conn.transaction(|conn| write::<T, D>(conn, decided, action, by));
    if waits {
        return work(conn, true).map(Some);
    }
    D::waiting(conn, Wait::AtMost(BRIEF), Place::Begun, &mut work)
}

/// Writes what was decided of rows that are locked, and records it.
fn write<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    decided: &[Decided<T::Key>],
    action: &Action,
    by: &Operator,
) -> QueryResult<Vec<Operated<T::Key>>> {
    if decided.is_empty() {
        return Ok(Vec::new());
    }
    let changed: Vec<Touched<T>> = match action {
        Action::Delete => D::load(conn, query::remove::<T>(decided.iter().map(|(row, _)| row)))?,
        _ => D::load(conn, query::operate::<T>(decided.iter().map(|(row, step)| (row, step))))?,
    };
    let changed: HashMap<T::Key, Fence> = changed.into_iter().map(|row| (row.key, row.fence)).collect();
    let (mut done, mut notes) = (Vec::new(), Vec::new());
    for (row, step) in decided {
        let Some(fence) = changed.get(&row.key) else { continue };
        let holder = row.worker.as_ref().filter(|_| row.state == State::Running);
        let ended = holder.filter(|_| row.is_live()).cloned();
        let one = Operated { key: row.key.clone(), from: row.state, to: step.to, fence: *fence, ended };
        if T::DECLARATION.events {
            notes.push(events::operated::<T>(&one, holder, action.verb(), by));
        }
        done.push(one);
    }
    events::write::<D>(conn, &notes)?;
    Ok(done)
}

/// Why the database refused the row: the unique key is taken, or a constraint of the user's.
fn refused<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
    error: Error,
) -> QueryResult<OperateError<T::Key>> {
    let is_taken = matches!(&error, Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _));
    if is_taken && T::DECLARATION.columns.unique_key.is_some() {
        let holder: Vec<KeyOf<T>> = D::load(conn, query::holder::<T>(key))?;
        if let Some(KeyOf(id)) = holder.into_iter().next() {
            return Ok(OperateError::Duplicate { id });
        }
    }
    Ok(OperateError::Store(StoreError::new(StoreErrorKind::Constraint, "operating", error)))
}
