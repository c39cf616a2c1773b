//! Pausing queues and kinds, and what becomes of their completed rows.

use claimstore_core::{InputError, Operator, Pausable, QueueSetting};

use super::Answer;
use super::claim::once;
use crate::declaration::Declaration;
use crate::dialect::{Dialect, Place};
use crate::query::{self, Set, SetQueue};
use crate::table::ClaimOn;

pub(crate) fn pause<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    what: &Pausable,
    by: &Operator,
    place: Place,
) -> Answer<bool> {
    set::<T, D>(conn, what, ("pause", "a pause"), by, place, &|| query::pause(what, by))
}

pub(crate) fn unpause<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    what: &Pausable,
    by: &Operator,
    place: Place,
) -> Answer<bool> {
    set::<T, D>(conn, what, ("unpause", "a pause"), by, place, &|| query::unpause(what))
}

pub(crate) fn keep_completed<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    queue: &Pausable,
    keep: bool,
    by: &Operator,
    place: Place,
) -> Answer<bool> {
    let verb = if keep { "keep_completed" } else { "discard_completed" };
    let asked = (verb, "a choice per queue");
    set::<T, D>(conn, queue, asked, by, place, &|| query::keep_completed(queue, keep))
}

pub(crate) fn settings<T: ClaimOn<D>, D: Dialect>(conn: &mut D::Conn) -> Answer<Vec<QueueSetting>> {
    let rows: Vec<Set> = D::load(conn, query::settings::<T>())?;
    let mut settings: Vec<QueueSetting> = rows.into_iter().map(|Set(setting)| setting).collect();
    // Here and not in the statement, so that no collation has a say.
    settings.sort_by(|a, b| a.what.cmp(&b.what));
    Ok(Ok(settings))
}

/// Refuses what can name no row of this table.
fn check(table: &Declaration, what: &Pausable, by: &Operator, asked: &'static str) -> Result<(), InputError> {
    what.check()?;
    by.check()?;
    let column = match what {
        Pausable::Queue(_) => table.columns.queue,
        Pausable::Kind(_) => table.columns.kind,
    };
    if column.is_none() {
        return Err(InputError::NoColumn { table: table.table, column: what.scope(), what: asked });
    }
    Ok(())
}

/// Sets it, and says whether that changed anything; only then is there something to record, in the same
/// transaction.
fn set<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    what: &Pausable,
    (verb, asked): (&str, &'static str),
    by: &Operator,
    place: Place,
    query: &dyn Fn() -> SetQueue<T>,
) -> Answer<bool> {
    if let Err(input) = check(&T::DECLARATION, what, by, asked) {
        return Ok(Err(input.into()));
    }
    let records = T::DECLARATION.events;
    let place = if records { place.whole() } else { place };
    let mut set = |conn: &mut D::Conn| {
        let changed = D::execute(conn, query())? > 0;
        if changed && records {
            super::events::record_setting::<T, D>(conn, what, verb, by)?;
        }
        Ok(changed)
    };
    once::<D, _>(conn, place, &mut set).map(Ok)
}
