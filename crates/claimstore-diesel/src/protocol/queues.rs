//! Pausing queues and kinds, and what becomes of their completed rows.

use claimstore_core::{InputError, Operator, Pausable, QueueSetting};

use super::Answer;
use super::claim::{once, together};
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
    match check(&T::DECLARATION, what, by, "a pause") {
        Ok(()) => set::<T, D>(conn, what, "pause", by, place, &|| query::pause(what, by)),
        Err(input) => Ok(Err(input.into())),
    }
}

pub(crate) fn unpause<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    what: &Pausable,
    by: &Operator,
    place: Place,
) -> Answer<bool> {
    match check(&T::DECLARATION, what, by, "a pause") {
        Ok(()) => set::<T, D>(conn, what, "unpause", by, place, &|| query::unpause(what)),
        Err(input) => Ok(Err(input.into())),
    }
}

pub(crate) fn keep_completed<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    queue: &Pausable,
    keep: bool,
    by: &Operator,
    place: Place,
) -> Answer<bool> {
    let verb = if keep { "keep_completed" } else { "discard_completed" };
    match check(&T::DECLARATION, queue, by, "a choice per queue") {
        Ok(()) => set::<T, D>(conn, queue, verb, by, place, &|| query::keep_completed(queue, keep)),
        Err(input) => Ok(Err(input.into())),
    }
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

/// Whether it changed anything; only then is there something to record, in the same transaction.
fn set<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    what: &Pausable,
    verb: &str,
    by: &Operator,
    place: Place,
    query: &dyn Fn() -> SetQueue<T>,
) -> Answer<bool> {
    if !T::DECLARATION.events {
        return once::<D, _>(conn, place, &mut |conn| Ok(D::execute(conn, query())? > 0)).map(Ok);
    }
    let mut set = |conn: &mut D::Conn| {
        let changed = D::execute(conn, query())? > 0;
        if changed {
            super::events::record_setting::<T, D>(conn, what, verb, by)?;
        }
        Ok(changed)
    };
    together::<D, _>(conn, place, &mut set).map(Ok)
}
