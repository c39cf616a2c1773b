//! Deleting what has been kept for long enough.

use claimstore_core::{InputError, Pruned, Retention, State, check_limit};

use super::Answer;
use super::claim::once;
use crate::declaration::Declaration;
use crate::dialect::{Dialect, Place};
use crate::query;
use crate::table::ClaimOn;

pub(crate) fn prune<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    retention: &Retention,
    limit: usize,
    place: Place,
) -> Answer<Pruned> {
    if let Err(input) = check(&T::DECLARATION, retention, limit) {
        return Ok(Err(input.into()));
    }
    let mut pruned = Pruned::default();
    for state in State::ALL {
        let Some(age) = retention.age_of(state) else { continue };
        if T::DECLARATION.words.word(state).is_none() {
            continue;
        }
        let rows =
            once::<D, _>(conn, place, &mut |conn| D::execute(conn, query::prune::<T>(state, age, limit)))?;
        pruned.rows += rows;
        pruned.more |= rows == limit;
    }
    if let Some(age) = retention.events_age() {
        let events =
            once::<D, _>(conn, place, &mut |conn| D::execute(conn, query::prune_events::<T>(age, limit)))?;
        pruned.events = events;
        pruned.more |= events == limit;
    }
    Ok(Ok(pruned))
}

fn check(table: &Declaration, retention: &Retention, limit: usize) -> Result<(), InputError> {
    retention.check()?;
    check_limit(limit)?;
    let (table_name, columns) = (table.table, &table.columns);
    let lacks = |column, what| Err(InputError::NoColumn { table: table_name, column, what });
    if State::ALL.into_iter().any(|state| retention.age_of(state).is_some()) && columns.finished_at.is_none()
    {
        return lacks("finished_at", "retention");
    }
    if retention.events_age().is_some() && !table.events {
        return Err(InputError::NoEvents { table: table_name });
    }
    Ok(())
}
