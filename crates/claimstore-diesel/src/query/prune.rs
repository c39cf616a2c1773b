//! Deleting what has been kept for long enough, in bounded batches.

use std::time::Duration;

use claimstore_core::State;

use crate::dialect::Dialect;
use crate::query::look::{is_in, time_of};
use crate::query::node::query_node;
use crate::query::table_text::{TableText, literal};
use crate::query::{Hole, Shape, Values};
use crate::table::ClaimTable;

/// Deletes; counts the rows. See [`prune`] and [`prune_events`].
pub struct Prune<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// The parts from which a dialect makes a bounded delete.
#[derive(Debug)]
pub struct PruneParts<'a> {
    /// The table, quoted.
    pub table: &'a str,
    /// The key column, quoted, unqualified.
    pub key: &'a str,
    /// Which rows may go.
    pub which: &'a str,
    /// The oldest first.
    pub order: &'a str,
    /// How many.
    pub limit: &'a str,
}

/// Deletes up to `limit` rows of this final state that ended more than `age` ago, oldest first, passing over
/// locked ones.
#[must_use = "a query does nothing until it is run"]
pub fn prune<T: ClaimTable>(state: State, age: Duration, limit: usize) -> Prune<T> {
    Prune { values: aged(age, limit), shape: Shape::Prune { state } }
}

/// Deletes up to `limit` events of this table that are older than `age`, oldest first.
#[must_use = "a query does nothing until it is run"]
pub fn prune_events<T: ClaimTable>(age: Duration, limit: usize) -> Prune<T> {
    Prune { values: aged(age, limit), shape: Shape::PruneEvents }
}

fn aged<K>(age: Duration, limit: usize) -> Values<K> {
    let mut values = Values::empty();
    values.grace.set_back(age);
    values.limit = i64::try_from(limit).unwrap_or(i64::MAX);
    values
}

query_node!(Prune, write);

fn write<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let (table, key, which, order) = match shape {
        Shape::Prune { state } => rows(text, state),
        _ => events(text),
    };
    let limit = Hole::Limit.mark();
    D::prune_statement(&PruneParts { table: &table, key: &key, which: &which, order: &order, limit: &limit })
}

/// Table, key, which rows, and in which order.
type Parts = (String, String, String, String);

fn rows<D: Dialect>(text: &TableText<D>, state: State) -> Parts {
    let is = is_in(text, state).unwrap_or_else(|| "FALSE".to_owned());
    let Some((time, form)) = time_of(text, state) else { unreachable!("checked with the shape") };
    let time = text.column(time);
    let which = format!("{is} AND {time} < {}", D::grace_ago(form));
    let order = format!("{time}, {}", text.key());
    (text.table.clone(), D::quote(text.declaration.columns.key), which, order)
}

fn events<D: Dialect>(text: &TableText<D>) -> Parts {
    let [table, key, at, of] = ["claimstore_events", "id", "at", "table_name"].map(D::quote);
    let which =
        format!("{of} = {} AND {at} < {}", literal(text.declaration.table), D::grace_ago(D::OWN_FORM));
    let order = format!("{at}, {key}");
    (table, key, which, order)
}
