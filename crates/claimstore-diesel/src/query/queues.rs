//! Setting what holds for queues and kinds, and reading it.

use claimstore_core::{Operator, Pausable, Pause, QueueSetting};
use diesel::deserialize::{self, QueryableByName};
use diesel::row::NamedRow;

use crate::dialect::Dialect;
use crate::query::node::query_node;
use crate::query::paused::Scope;
use crate::query::table_text::{TableText, literal};
use crate::query::won::Reader;
use crate::query::{Hole, Shape, Values};
use crate::table::ClaimTable;

/// Writes what is set for a queue or kind; counts the rows changed. See [`pause`], [`unpause`] and
/// [`keep_completed`].
pub struct SetQueue<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Reads what is set; loads [`Set`]. See [`settings`].
pub struct Settings<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// What is written for a queue or kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Setting {
    /// It is paused, unless it is already: the first reason stays.
    Pause,
    /// It is not paused any more.
    Unpause,
    /// Its completed rows are deleted.
    Discard,
    /// They are kept.
    Keep,
}

/// Pauses a queue or kind of the table; no row is changed where it is paused already.
#[must_use = "a query does nothing until it is run"]
pub fn pause<T: ClaimTable>(what: &Pausable, by: &Operator) -> SetQueue<T> {
    let mut set = set(what, Setting::Pause);
    set.values.worker = by.actor().to_owned();
    set.values.error = by.reason().to_owned();
    set
}

/// Ends the pause of a queue or kind of the table; no row is changed where it is not paused.
#[must_use = "a query does nothing until it is run"]
pub fn unpause<T: ClaimTable>(what: &Pausable) -> SetQueue<T> {
    set(what, Setting::Unpause)
}

/// Keeps the completed rows of a queue, or has completing delete them; no row is changed where it is so
/// already.
#[must_use = "a query does nothing until it is run"]
pub fn keep_completed<T: ClaimTable>(queue: &Pausable, keep: bool) -> SetQueue<T> {
    set(queue, if keep { Setting::Keep } else { Setting::Discard })
}

/// Everything that is set for the table. A plain read.
#[must_use = "a query does nothing until it is run"]
pub fn settings<T: ClaimTable>() -> Settings<T> {
    Settings { values: Values::empty(), shape: Shape::Settings }
}

fn set<T: ClaimTable>(what: &Pausable, setting: Setting) -> SetQueue<T> {
    let mut values = Values::empty();
    values.queues.push(what.name().to_owned());
    let kind = matches!(what, Pausable::Kind(_));
    SetQueue { values, shape: Shape::SetQueue { kind, setting } }
}

query_node!(SetQueue, write);
query_node!(Settings, write_settings);

fn write<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::SetQueue { kind, setting } = shape else { unreachable!("{shape:?} sets nothing") };
    let table = literal(text.declaration.table);
    let scope = literal(if kind { Scope::Kind } else { Scope::Queue }.word());
    let name = Hole::Queue(0).mark();
    let insert = |columns: &str, values: &str, set: &str, only: &str| {
        format!(
            "INSERT INTO claimstore_queues (table_name, scope, name, {columns}) \
             VALUES ({table}, {scope}, {name}, {values}) \
             ON CONFLICT (table_name, scope, name) DO UPDATE SET {set} WHERE {only}"
        )
    };
    let update = |set: &str, only: &str| {
        format!(
            "UPDATE claimstore_queues SET {set} \
             WHERE table_name = {table} AND scope = {scope} AND name = {name} AND {only}"
        )
    };
    match setting {
        Setting::Pause => insert(
            "paused_at, paused_by, reason",
            &[D::later(D::OWN_FORM, None), Hole::Worker.mark(), Hole::Error.mark()].join(", "),
            "paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason",
            "claimstore_queues.paused_at IS NULL",
        ),
        Setting::Unpause => {
            update("paused_at = NULL, paused_by = NULL, reason = NULL", "paused_at IS NOT NULL")
        }
        Setting::Discard => {
            insert("keep_completed", "FALSE", "keep_completed = FALSE", "claimstore_queues.keep_completed")
        }
        Setting::Keep => update("keep_completed = TRUE", "NOT keep_completed"),
    }
}

fn write_settings<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    format!(
        "SELECT scope, name, {}, paused_by, reason, keep_completed FROM claimstore_queues \
         WHERE table_name = {} AND (paused_at IS NOT NULL OR NOT keep_completed)",
        D::instant("paused_at", D::OWN_FORM),
        literal(text.declaration.table)
    )
}

/// What is set for one queue or kind.
#[derive(Debug)]
pub struct Set(pub QueueSetting);

impl<D: Dialect> QueryableByName<D> for Set {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let mut reader = Reader { row, at: 0 };
        let scope = reader.next(D::read_text)?;
        let name = reader.next(D::read_text)?.ok_or("a setting has a name")?;
        let what = match scope.as_deref() {
            Some("queue") => Pausable::Queue(name),
            Some("kind") => Pausable::Kind(name),
            other => return Err(format!("{other:?} is no scope of a setting").into()),
        };
        let since = reader.next(D::read_instant)?;
        let actor = reader.next(D::read_text)?;
        let reason = reader.next(D::read_text)?;
        let keep_completed = reader.next(D::read_bool)?.unwrap_or(true);
        let pause = since.map(|since| Pause {
            since,
            actor: actor.unwrap_or_default(),
            reason: reason.unwrap_or_default(),
        });
        Ok(Set(QueueSetting { what, pause, keep_completed }))
    }
}
