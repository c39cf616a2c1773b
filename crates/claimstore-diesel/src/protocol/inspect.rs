//! Looking at rows. Plain reads, which lock nothing.

use std::time::Duration;

use claimstore_core::{
    Count, Counts, Cursor, Event, Explanation, Filter, Happened, InputError, Page, PageOrder, PageRequest,
    Sighting, State, StoreError, Timestamp, Why,
};
use diesel::QueryResult;

use super::Answer;
use crate::declaration::Declaration;
use crate::dialect::Dialect;
use crate::query::{self, Due, Hold, Model, Number, Sighted};
use crate::table::ClaimOn;

/// Over what time the rate of completions is taken.
const RATE_OVER: Duration = Duration::from_secs(60);
/// How many late writers an explanation shows.
const LATE: i64 = 10;

pub(crate) fn show<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
) -> Answer<Option<Sighting<T::Key>>> {
    let mut rows: Vec<Sighted<T>> = D::load(conn, query::look_at::<T>(key, Hold::No))?;
    Ok(Ok(rows.pop().map(|Sighted(row)| row)))
}

pub(crate) fn read<T: ClaimOn<D>, D: Dialect>(conn: &mut D::Conn, key: &T::Key) -> Answer<Option<T>> {
    let mut rows: Vec<Model<T>> = D::load(conn, query::read::<T>(key))?;
    Ok(Ok(rows.pop().map(|Model(row)| row)))
}

pub(crate) fn page<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    ask: &PageRequest<T::Key>,
) -> Answer<Page<T::Key>> {
    if let Err(input) = ask.check().and_then(|()| check_filter(&T::DECLARATION, ask.filter())) {
        return Ok(Err(input.into()));
    }
    let order = PageOrder::of(ask.filter().states());
    let time = T::DECLARATION.columns.ordered_by(order);
    // One more than asked for tells whether there is a next page.
    let wanted = ask.limit_rows() + 1;
    let mut rows: Vec<Sighted<T>> = Vec::new();
    let cursor = ask.cursor();
    let among_the_timeless = time.is_some() && cursor.is_some_and(|cursor| cursor.at.is_none());
    if !among_the_timeless {
        rows = D::load(conn, query::look_for::<T>(ask.filter(), order, false, wanted, cursor, Hold::No))?;
    }
    // Rows without a time come last. A running row always has its lease: no index would find one without.
    if time.is_some() && order != PageOrder::Lease && rows.len() < wanted {
        let after = cursor.filter(|_| among_the_timeless);
        let left = wanted - rows.len();
        let timeless = query::look_for::<T>(ask.filter(), order, true, left, after, Hold::No);
        rows.extend(D::load(conn, timeless)?);
    }
    let more = rows.len() == wanted;
    rows.truncate(ask.limit_rows());
    let rows: Vec<Sighting<T::Key>> = rows.into_iter().map(|Sighted(row)| row).collect();
    let next = rows.last().filter(|_| more);
    let next =
        next.map(|row| Cursor { at: order.time(row).filter(|_| time.is_some()), key: row.key.clone() });
    Ok(Ok(Page { rows, next }))
}

/// Refuses a condition that the table has no column for.
pub(super) fn check_filter(table: &Declaration, filter: &Filter) -> Result<(), InputError> {
    let columns = &table.columns;
    let lacks = |column| InputError::NoColumn { table: table.table, column, what: "the filter" };
    if filter.queue_name().is_some() && columns.queue.is_none() {
        return Err(InputError::NoQueueColumn { table: table.table });
    }
    if filter.kind_name().is_some() && columns.kind.is_none() {
        return Err(lacks("kind"));
    }
    if filter.worker_id().is_some() && columns.worker.is_none() {
        return Err(lacks("worker"));
    }
    if filter.least_age().is_some() {
        let asked = |state: &State| filter.states().is_empty() || filter.states().contains(state);
        for state in State::ALL.into_iter().filter(asked).filter(|state| table.words.word(*state).is_some()) {
            if let (role, None) = columns.ages_by(state) {
                return Err(lacks(role));
            }
        }
    }
    Ok(())
}

pub(crate) fn counts<T: ClaimOn<D>, D: Dialect>(conn: &mut D::Conn, cap: u32) -> Answer<Counts> {
    if let Err(input) = Counts::check_cap(cap) {
        return Ok(Err(input.into()));
    }
    let table = &T::DECLARATION;
    let mut clock = Timestamp::MIN;
    let mut count = |conn: &mut D::Conn, state, since| -> QueryResult<Count> {
        let counted: Vec<Number> = D::load(conn, query::count::<T>(state, cap.saturating_add(1), since))?;
        let Some(Number { rows, clock: at }) = counted.into_iter().next() else {
            return Ok(Count::Exactly(0));
        };
        clock = at;
        Ok(if rows > cap.into() { Count::MoreThan(cap.into()) } else { Count::Exactly(rows) })
    };
    let mut states = Vec::new();
    for state in State::ALL {
        let Some(word) = table.words.word(state) else { continue };
        let counted = match count(conn, state, None)? {
            Count::MoreThan(least) if state.is_final() => {
                // It cannot be fewer than were counted.
                let estimate = D::estimate(conn, &T::text().table, table.columns.state, word)?;
                estimate.map_or(Count::MoreThan(least), |rows| Count::About(rows.max(least)))
            }
            counted => counted,
        };
        states.push((state, counted));
    }
    let completed_last_minute = match (table.words.completed, table.columns.finished_at) {
        (Some(_), Some(_)) => count(conn, State::Completed, Some(RATE_OVER))?,
        _ => Count::Exactly(0),
    };
    let due: Vec<Due> = match table.columns.due {
        Some(_) => D::load(conn, query::oldest_due::<T>())?,
        None => Vec::new(),
    };
    let oldest_due = due.into_iter().find_map(|Due(at)| at).filter(|due| *due <= clock);
    Ok(Ok(Counts { clock, states, oldest_due, completed_last_minute }))
}

pub(crate) fn explain<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    key: &T::Key,
) -> Answer<Explanation<T::Key>> {
    let row = match show::<T, D>(conn, key)? {
        Ok(row) => row,
        Err(error) => return Ok(Err(error)),
    };
    let table = &T::DECLARATION;
    let mut why = Why::of(row.as_ref(), table.null_due_is_now, table.columns.due.is_some());
    let ended = matches!(why, Why::Missing | Why::Ended(_));
    // What this role may not ask is no reason to say nothing.
    let lock = if ended { None } else { D::blocker::<T>(conn, key).unwrap_or(None) };
    if why == Why::Ready && lock.is_some() {
        why = Why::Locked;
    }
    let late = if table.events && row.is_some() {
        D::events(conn, table.table, &T::key_text(key), Some("late_writer"), LATE)?
    } else {
        Vec::new()
    };
    let late = late.into_iter().filter_map(|stored| match Event::from(stored).what {
        Happened::LateWriter(late) => Some(late),
        _ => None,
    });
    Ok(Ok::<_, StoreError>(Explanation { row, why, lock, late: late.collect() }))
}
