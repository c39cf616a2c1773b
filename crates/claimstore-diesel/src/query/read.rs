//! Reading a row as its model.

use diesel::deserialize::{self, QueryableByName};
use diesel::row::NamedRow;

use crate::dialect::Dialect;
use crate::query::node::query_node;
use crate::query::table_text::TableText;
use crate::query::{Hole, Shape, Values};
use crate::table::{ClaimOn, ClaimTable};

/// Reads one row; loads [`Model<T>`]. See [`read()`].
pub struct Read<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// The row with this key, as a claim would read it. Locks nothing.
#[must_use = "a query does nothing until it is run"]
pub fn read<T: ClaimTable>(key: &T::Key) -> Read<T> {
    let mut values = Values::empty();
    values.key = Some(key.clone());
    Read { values, shape: Shape::Read }
}

query_node!(Read, write);

fn write<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let TableText { selection, table, .. } = text;
    format!("SELECT {selection} FROM {table} WHERE {} = {}", text.key(), Hole::Key.mark())
}

/// A row as its model reads it.
#[derive(Debug)]
pub struct Model<T: ClaimTable>(pub T);

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for Model<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        T::read_row(row).map(Model)
    }
}
