//! Counting rows, as far as somebody wants to know.

use std::time::Duration;

use claimstore_core::{PageOrder, State, Timestamp};
use diesel::deserialize::{self, QueryableByName};
use diesel::row::NamedRow;

use crate::dialect::Dialect;
use crate::query::look::{is_in, time_of};
use crate::query::node::query_node;
use crate::query::table_text::TableText;
use crate::query::won::Reader;
use crate::query::{Hole, Shape, Values};
use crate::table::ClaimTable;

/// Counts; loads [`Number`]. See [`count`].
pub struct Counting<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Reads one due time; loads [`Due`](crate::query::Due). See [`oldest_due`].
pub struct OldestDue<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// How many rows stand in `state`, as far as `most`; with `since` only those that came to it within that time.
/// It stops there, so that its cost has a bound.
#[must_use = "a query does nothing until it is run"]
pub fn count<T: ClaimTable>(state: State, most: u32, since: Option<Duration>) -> Counting<T> {
    let mut values = Values::empty();
    values.limit = most.into();
    values.grace.set_back(since.unwrap_or_default());
    Counting { values, shape: Shape::Count { state, recent: since.is_some() } }
}

/// When the pending row that has been due for longest became due.
#[must_use = "a query does nothing until it is run"]
pub fn oldest_due<T: ClaimTable>() -> OldestDue<T> {
    OldestDue { values: Values::empty(), shape: Shape::OldestDue }
}

query_node!(Counting, write_count);
query_node!(OldestDue, write_oldest);

fn write_count<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::Count { state, recent } = shape else { unreachable!("{shape:?} counts nothing") };
    let mut which = is_in(text, state).unwrap_or_else(|| "FALSE".to_owned());
    // The index of the leases holds the running rows and no others.
    if let (State::Running, Some(lease)) = (state, text.declaration.columns.lease) {
        which.push_str(&format!(" AND {} IS NOT NULL", text.column(lease)));
    }
    if let (true, Some((time, form))) = (recent, time_of(text, state)) {
        which.push_str(&format!(" AND {} > {}", text.column(time), D::grace_ago(form)));
    }
    let (table, limit, clock) = (&text.table, Hole::Limit.mark(), D::clock());
    let order = latest_first(text, state);
    format!(
        "SELECT count(*), {clock} FROM (SELECT 1 FROM {table} WHERE {which} ORDER BY {order} LIMIT {limit}) AS counted"
    )
}

/// The order decides which rows are counted first, and so the plan: without it a frequent state is counted from
/// the table's first page on, also where retention has emptied the first half. It begins at the end of the index
/// where nothing is claimed, recovered or pruned: entries of rows that have left wait there for VACUUM.
fn latest_first<D: Dialect>(text: &TableText<D>, state: State) -> String {
    let columns = &text.declaration.columns;
    let time = columns.ordered_by(PageOrder::of(&[state]));
    let by: Vec<String> = time.into_iter().chain([columns.key]).map(|c| text.column(c) + " DESC").collect();
    by.join(", ")
}

fn write_oldest<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let due = text.column(text.declaration.columns.due.unwrap_or_default());
    let read = D::instant(&due, text.forms.due);
    let (table, pending) = (&text.table, text.is_waiting());
    format!("SELECT {read} FROM {table} WHERE {pending} AND {due} IS NOT NULL ORDER BY {due} LIMIT 1")
}

/// A number of rows, and the deciding clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// How many.
    pub rows: u64,
    /// When.
    pub clock: Timestamp,
}

impl<D: Dialect> QueryableByName<D> for Number {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let mut reader = Reader { row, at: 0 };
        let rows = reader.next(D::read_i64)?.unwrap_or_default();
        let clock = reader.next(D::read_instant)?.unwrap_or_else(Timestamp::of_this_host);
        Ok(Number { rows: u64::try_from(rows).unwrap_or_default(), clock })
    }
}
