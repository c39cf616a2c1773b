//! What is recorded, always in the transaction of what it tells.

use std::collections::HashMap;

use claimstore_core::{
    Claim, ClaimRequest, Event, Expired, Fence, Happened, History, InputError, Operated, Operator, Pausable,
    RecoveryAction, Settlement, Tally, Verdict, WorkerId, check_limit,
};
use diesel::QueryResult;

use super::{Answer, Rules};
use crate::dialect::{Dialect, Place};
use crate::event::NewEvent;
use crate::job::Job;
use crate::query::Marked;
use crate::table::{ClaimOn, ClaimTable};
use crate::unique::Enqueued;

/// Every transition is recorded.
fn tells_all<T: ClaimTable>(rules: &Rules) -> bool {
    T::DECLARATION.events && rules.history == History::All
}

/// Where a claim is written: with its event, if it has one.
pub(super) fn place<T: ClaimTable>(rules: &Rules, place: Place) -> Place {
    if tells_all::<T>(rules) { place.whole() } else { place }
}

fn event<T: ClaimTable>(key: &T::Key, worker: Option<&WorkerId>, fence: Fence, what: &Happened) -> NewEvent {
    NewEvent::new(T::DECLARATION.table, T::key_text(key), worker, fence, what)
}

/// Writes them; nothing is sent for none.
pub(super) fn write<D: Dialect>(conn: &mut D::Conn, events: &[NewEvent]) -> QueryResult<()> {
    if events.is_empty() { Ok(()) } else { D::record(conn, events) }
}

/// Writes those whose settlement took place.
pub(super) fn write_done<T: ClaimTable, D: Dialect>(
    conn: &mut D::Conn,
    notes: &[(T::Key, Fence, NewEvent)],
    done: &HashMap<T::Key, Fence>,
) -> QueryResult<()> {
    let took_place = notes.iter().filter(|(key, fence, _)| done.get(key) == Some(fence));
    let events: Vec<NewEvent> = took_place.map(|(.., event)| event.clone()).collect();
    write::<D>(conn, &events)
}

pub(super) fn claimed<T: ClaimTable, D: Dialect>(
    conn: &mut D::Conn,
    rules: &Rules,
    ask: &ClaimRequest,
    won: &[Marked<T>],
) -> QueryResult<()> {
    if !tells_all::<T>(rules) {
        return Ok(());
    }
    let claimed =
        |won: &Marked<T>| event::<T>(&won.key, Some(ask.worker()), won.fence, &Happened::Claimed {});
    let events: Vec<NewEvent> = won.iter().map(claimed).collect();
    write::<D>(conn, &events)
}

/// What is recorded of this settlement, if it takes place: a failure always, anything else where everything is.
pub(super) fn settled<T: ClaimTable>(
    rules: &Rules,
    claim: &Claim<T::Key>,
    verdict: &Verdict,
    to: &Settlement,
) -> Option<NewEvent> {
    let what = match verdict {
        Verdict::Fail { .. } if T::DECLARATION.events => {
            Happened::Failed { to: to.to, error: to.error.clone(), tally: to.tally }
        }
        _ if tells_all::<T>(rules) => Happened::Settled { verb: verdict.verb().to_owned(), to: to.to },
        _ => return None,
    };
    Some(event::<T>(claim.key(), Some(claim.worker()), claim.fence(), &what))
}

pub(super) fn recovered<T: ClaimTable>(
    row: &Expired<T::Key>,
    action: RecoveryAction,
    fence: Fence,
) -> Option<NewEvent> {
    let to = action.state().filter(|_| T::DECLARATION.events)?;
    let Tally { crashes, .. } = row.tally;
    let what = Happened::Recovered { to, crashes: crashes.saturating_add(1) };
    Some(event::<T>(&row.key, row.worker.as_ref(), fence, &what))
}

pub(super) fn operated<T: ClaimTable>(
    done: &Operated<T::Key>,
    holder: Option<&WorkerId>,
    verb: &str,
    by: &Operator,
) -> NewEvent {
    let what = Happened::operated(verb, by, Some(done.from), done.to, done.ended.is_some());
    event::<T>(&done.key, holder, done.fence, &what)
}

/// Records that a queue or kind was set.
pub(super) fn record_setting<T: ClaimTable, D: Dialect>(
    conn: &mut D::Conn,
    what: &Pausable,
    verb: &str,
    by: &Operator,
) -> QueryResult<()> {
    let key = format!("{}/{}", what.scope(), what.name());
    let what = Happened::operated(verb, by, None, None, false);
    write::<D>(conn, &[NewEvent::new(T::DECLARATION.table, key, None, Fence::NEVER, &what)])
}

/// Records which jobs are new, where everything is recorded.
pub(crate) fn enqueued<D: Dialect>(conn: &mut D::Conn, rules: &Rules, jobs: &[Enqueued]) -> QueryResult<()> {
    if !tells_all::<Job>(rules) {
        return Ok(());
    }
    let new = jobs.iter().filter(|job| job.is_new());
    let events: Vec<NewEvent> =
        new.map(|job| event::<Job>(&job.id(), None, Fence::NEVER, &Happened::Enqueued {})).collect();
    write::<D>(conn, &events)
}

/// The last events of a row, latest first.
pub(crate) fn history<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
    limit: usize,
) -> Answer<Vec<Event>> {
    if let Err(input) = check_limit(limit) {
        return Ok(Err(InputError::into(input)));
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let events = D::events(conn, T::DECLARATION.table, &T::key_text(key), None, limit)?;
    Ok(Ok(events.into_iter().map(Event::from).collect()))
}
