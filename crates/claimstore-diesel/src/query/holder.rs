//! Which row has a unique key.

use claimstore_core::State;
use diesel::deserialize::{self, QueryableByName};
use diesel::row::NamedRow;

use crate::dialect::Dialect;
use crate::query::look::is_in;
use crate::query::node::query_node;
use crate::query::table_text::TableText;
use crate::query::{Hole, Shape, Values};
use crate::table::{ClaimOn, ClaimTable};

/// Finds the row that has another row's unique key; loads [`KeyOf<T>`]. See [`holder`].
pub struct Holder<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// The pending, running or uncertain row that has the unique key (of the same kind) which this row would need.
#[must_use = "a query does nothing until it is run"]
pub fn holder<T: ClaimTable>(key: &T::Key) -> Holder<T> {
    let mut values = Values::empty();
    values.key = Some(key.clone());
    Holder { values, shape: Shape::Holder }
}

query_node!(Holder, write);

fn write<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let columns = &text.declaration.columns;
    let same: Vec<&str> = [columns.kind, columns.unique_key].into_iter().flatten().collect();
    let theirs: Vec<String> = same.iter().map(|column| text.column(column)).collect();
    let its: Vec<String> = same.iter().map(|column| format!("its.{}", D::quote(column))).collect();
    let live = [State::Pending, State::Running, State::Uncertain];
    let live: Vec<String> = live.into_iter().filter_map(|state| is_in(text, state)).collect();
    let (table, key) = (&text.table, text.key());
    format!(
        "SELECT {key} FROM {table} WHERE ({}) IN (SELECT {} FROM {table} AS its WHERE its.{} = {}) \
         AND ({}) AND {key} <> {} LIMIT 1",
        theirs.join(", "),
        its.join(", "),
        D::quote(columns.key),
        Hole::Key.mark(),
        live.join(" OR "),
        Hole::Key.mark()
    )
}

/// A key.
#[derive(Debug)]
pub struct KeyOf<T: ClaimTable>(pub T::Key);

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for KeyOf<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        T::read_key(row, 0).map(KeyOf)
    }
}
