//! Claiming.

use claimstore_core::{
    Batch, ClaimOutcome, ClaimRequest, LocalInstant, LockScope, Refusal, RowLocks, Seen, State, StoreError,
    StoreErrorKind, Timestamp, Verdict,
};
use diesel::QueryResult;

use super::{Answer, Rules, check_request, events};
use crate::declaration::Declaration;
use crate::dialect::{Dialect, Place};
use crate::query::{self, Due, Marked, Observed, Unreadable};
use crate::table::ClaimOn;

/// How often a row that looked claimable again is tried once more.
const TRIES: usize = 3;

pub(crate) fn by_key<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
    ask: &ClaimRequest,
    rules: &Rules,
    place: Place,
) -> Answer<ClaimOutcome<T::Key, T>> {
    if let Err(input) = check_request(&T::DECLARATION, ask) {
        return Ok(Err(input.into()));
    }
    let locked = Refusal::Locked { scope: LockScope::Row };
    let place = events::place::<T>(rules, place);
    for _ in 0..TRIES {
        let asked = LocalInstant::now();
        let mut work = |conn: &mut D::Conn, wait: bool| {
            let mut won: Vec<Marked<T>> = D::load(conn, query::claim_key::<T>(key, ask, wait))?;
            match won.pop() {
                Some(won) => {
                    events::claimed::<T, D>(conn, rules, ask, std::slice::from_ref(&won))?;
                    Ok(Ok(won))
                }
                // In the same transaction on SQLite, so that the reason fits the refusal.
                None => Ok(Err((seen::<T, D>(conn, key)?, wait))),
            }
        };
        let Some(answer) = D::waiting(conn, ask.wait_mode(), place, &mut work)? else {
            return Ok(match D::LOCKS {
                RowLocks::Row => Ok(ClaimOutcome::Refused(locked)),
                _ => Err(busy("claiming")),
            });
        };
        let refusal = match answer {
            Ok(won) => {
                return Ok(match won.into_claimed(ask, asked) {
                    Ok(claimed) => Ok(ClaimOutcome::Claimed(claimed)),
                    Err(row) => Err(unreadable::<T, D>(conn, &row, rules, place)?),
                });
            }
            Err((seen, waited)) => (why(&T::DECLARATION, seen.as_ref()), waited),
        };
        match refusal {
            (Some(refusal), _) => return Ok(Ok(ClaimOutcome::Refused(refusal))),
            // Passed over, and yet it looks claimable: somebody has it locked.
            (None, false) if D::LOCKS == RowLocks::Row => return Ok(Ok(ClaimOutcome::Refused(locked))),
            // It was taken while we waited, and given back before we looked.
            (None, _) => {}
        }
    }
    Ok(Ok(ClaimOutcome::Refused(locked)))
}

pub(super) fn busy(doing: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Contended, doing, "the file stayed locked for the whole wait")
}

/// One plain read.
pub(super) fn observed<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
) -> QueryResult<Option<Observed<T>>> {
    let mut rows: Vec<Observed<T>> = D::load(conn, query::observe::<T>(key))?;
    Ok(rows.pop())
}

/// What it saw of the claim.
pub(super) fn seen<T: ClaimOn<D>, D: Dialect>(conn: &mut D::Conn, key: &T::Key) -> QueryResult<Option<Seen>> {
    Ok(observed::<T, D>(conn, key)?.map(|row| row.seen))
}

/// Why the row could not be claimed; `None` where nothing speaks against it.
///
/// Of several true reasons the one that lasts longest comes first: a spent budget needs an operator, a pause
/// an operator's other decision, and a due time only time.
fn why(table: &Declaration, seen: Option<&Seen>) -> Option<Refusal> {
    let Some(seen) = seen else { return Some(Refusal::Missing) };
    let due = match (table.columns.due, seen.due) {
        (Some(_), None) if !table.null_due_is_now => Timestamp::MAX,
        (_, due) => due.unwrap_or(Timestamp::MIN),
    };
    match seen.state {
        State::Running => Some(Refusal::Held {
            worker: seen.worker.clone(),
            until: seen.until,
            fence: seen.fence,
            expired: seen.until.is_some_and(|until| until < seen.clock),
        }),
        State::Pending if !seen.fence.can_rise() || seen.budget.is_spent(&seen.tally) => {
            Some(Refusal::Exhausted)
        }
        State::Pending if seen.paused => Some(Refusal::Paused),
        State::Pending if due > seen.clock => Some(Refusal::NotDue(due)),
        State::Pending => None,
        other => Some(Refusal::NotPending(other)),
    }
}

pub(crate) fn next<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    ask: &ClaimRequest,
    rules: &Rules,
    place: Place,
) -> Answer<Batch<T::Key, T>> {
    if let Err(input) = check_request(&T::DECLARATION, ask) {
        return Ok(Err(input.into()));
    }
    let asked = LocalInstant::now();
    let won: Vec<Marked<T>> = once::<D, _>(conn, events::place::<T>(rules, place), &mut |conn| {
        let won = D::load(conn, query::claim_next::<T>(ask))?;
        events::claimed::<T, D>(conn, rules, ask, &won)?;
        Ok(won)
    })?;
    let won = Marked::in_order(won);
    batch::<T, D>(conn, ask, won, asked, rules, place).map(Ok)
}

/// The claimed rows and, where they are fewer than asked for, when the next one is due.
pub(super) fn batch<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    ask: &ClaimRequest,
    won: Vec<Marked<T>>,
    asked: LocalInstant,
    rules: &Rules,
    place: Place,
) -> QueryResult<Batch<T::Key, T>> {
    let short = won.len() < ask.limit_rows() && T::DECLARATION.columns.due.is_some();
    let mut claimed = Vec::with_capacity(won.len());
    for won in won {
        match won.into_claimed(ask, asked) {
            Ok(row) => claimed.push(row),
            // It must not take its neighbours along. Where this too fails, its lease ends by itself.
            Err(row) => drop(unreadable::<T, D>(conn, &row, rules, place)),
        }
    }
    // What was claimed is not lost for want of this answer.
    let due: Vec<Due> =
        if short { D::load(conn, query::next_due::<T>(ask)).unwrap_or_default() } else { Vec::new() };
    let next_due = due.into_iter().find_map(|Due(at)| at);
    Ok(Batch { claimed, next_due })
}

/// Fails the claim on a row that the model cannot read: the reason stands in the row, its budget ends it, and
/// its bytes stay as they are (field report H72).
fn unreadable<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    Unreadable { claim, why }: &Unreadable<T::Key>,
    rules: &Rules,
    place: Place,
) -> QueryResult<StoreError> {
    let why = format!("row {} cannot be read: {why}", T::key_text(claim.key()));
    // A table without a word for dead gets it back as pending.
    let answer = super::settle::<T, D>(conn, claim, &Verdict::fail(why.as_str()), rules, place)?;
    if answer.is_err() {
        let _ = super::settle::<T, D>(conn, claim, &Verdict::Release, rules, place)?;
    }
    Ok(StoreError::new(StoreErrorKind::CorruptRow, "claiming", why))
}

/// Runs one statement of ours as its place asks.
pub(super) fn once<D: Dialect, R>(
    conn: &mut D::Conn,
    place: Place,
    work: &mut dyn FnMut(&mut D::Conn) -> QueryResult<R>,
) -> QueryResult<R> {
    match place {
        Place::Own(isolation) => D::once(conn, isolation, work),
        Place::Begun | Place::Callers => work(conn),
    }
}

/// Runs statements that stand or fall together.
pub(super) fn together<D: Dialect, R>(
    conn: &mut D::Conn,
    place: Place,
    work: &mut dyn FnMut(&mut D::Conn) -> QueryResult<R>,
) -> QueryResult<R> {
    once::<D, _>(conn, place.whole(), work)
}

/// Runs statements of which one may be refused by the database without harm to the others.
pub(super) fn apart<D: Dialect, R>(
    conn: &mut D::Conn,
    place: Place,
    work: &mut dyn FnMut(&mut D::Conn) -> QueryResult<R>,
) -> QueryResult<R> {
    match place {
        Place::Own(isolation) => D::once(conn, isolation, work),
        Place::Begun | Place::Callers => diesel::Connection::transaction(conn, work),
    }
}
