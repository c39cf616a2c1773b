//! Claiming: by readiness and by key.

use claimstore_core::ClaimRequest;

use crate::dialect::Dialect;
use crate::query::node::query_node;
use crate::query::table_text::TableText;
use crate::query::{ClaimParts, Hole, Shape, Values};
use crate::table::ClaimTable;

/// Claims what is due, in the table's order; loads [`Won<T>`](crate::query::Won). See [`claim_next`].
pub struct ClaimNext<T: ClaimTable> {
    pub(crate) values: Values<T::Key>,
    pub(crate) shape: Shape,
}

/// Claims one row by key; loads [`Won<T>`](crate::query::Won). See [`claim_key`].
pub struct ClaimKey<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Claims up to the request's limit of ready rows, as one statement.
///
/// On PostgreSQL the candidate select locks its rows and skips locked ones, inside a materialized
/// common table expression, so that the planner cannot run it twice and claim more than the limit (field
/// report H1); the update tests the state again. The rows come back in the declared order. On SQLite the
/// order must be restored: load [`Marked<T>`](crate::query::Marked) and use
/// [`Marked::in_order`](crate::query::Marked::in_order), which the store does.
#[must_use = "a query does nothing until it is run"]
pub fn claim_next<T: ClaimTable>(ask: &ClaimRequest) -> ClaimNext<T> {
    let (values, most, queues) = asked::<T>(ask);
    ClaimNext { values, shape: Shape::ClaimNext { most, queues, except: false } }
}

impl<T: ClaimTable> ClaimNext<T> {
    /// Leaves these rows alone, so that settling and claiming in one transaction never returns a row it has
    /// settled. They are taken out of the rows the limit found, so that fewer may come.
    #[must_use]
    pub fn except<'a>(mut self, keys: impl IntoIterator<Item = &'a T::Key>) -> Self
    where
        T::Key: 'a,
    {
        self.values.given.except(keys);
        if let Shape::ClaimNext { except, .. } = &mut self.shape {
            *except = true;
        }
        self
    }
}

/// The values of a claim by readiness, and the two facts its text depends on: how great the limit is at most, and
/// how many queues there are.
pub(crate) fn asked<T: ClaimTable>(ask: &ClaimRequest) -> (Values<T::Key>, u32, u8) {
    let mut values = Values::empty();
    values.worker = ask.worker().as_str().to_owned();
    values.lease.set(ask.lease_span());
    values.limit = i64::try_from(ask.limit_rows()).unwrap_or(i64::MAX);
    if T::DECLARATION.columns.queue.is_some() {
        values.queues = ask.queue_list();
    }
    let queues = u8::try_from(values.queues.len()).unwrap_or(u8::MAX);
    let most = u32::try_from(values.limit).ok().and_then(u32::checked_next_power_of_two).unwrap_or(0);
    (values, most, queues)
}

/// Claims this row if it is pending and due. `wait` waits for the row's lock (PostgreSQL); without it a
/// locked row is passed over. No row comes back where it was not claimed, whatever the reason.
#[must_use = "a query does nothing until it is run"]
pub fn claim_key<T: ClaimTable>(key: &T::Key, ask: &ClaimRequest, wait: bool) -> ClaimKey<T> {
    let mut values = Values::empty();
    values.key = Some(key.clone());
    values.worker = ask.worker().as_str().to_owned();
    values.lease.set(ask.lease_span());
    ClaimKey { values, shape: Shape::ClaimKey { wait } }
}

query_node!(ClaimNext, write);
query_node!(ClaimKey, write);

fn write<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    match shape {
        Shape::ClaimKey { wait } => {
            let select = if wait { &text.key_waiting } else { &text.key_skipping };
            with_parts(text, vec![select.clone()], None, false, false, D::claim_statement)
        }
        Shape::ClaimNext { most, queues, except } => {
            with_ready(text, most, queues, except, D::claim_statement)
        }
        other => unreachable!("{other:?} is not a claim"),
    }
}

/// Hands on the parts of a claim by readiness.
pub(crate) fn with_ready<D: Dialect>(
    text: &TableText<D>,
    most: u32,
    queues: u8,
    except: bool,
    then: impl FnOnce(&ClaimParts<'_>) -> String,
) -> String {
    let candidates = match queues {
        0 | 1 => vec![text.next.clone()],
        _ if D::ARRAYS => vec![text.next_of_each.clone()],
        n => (0..n).map(|i| text.next.replace(&Hole::Queue(0).mark(), &Hole::Queue(i).mark())).collect(),
    };
    with_parts(text, candidates, Some(most), queues > 1, except, then)
}

fn with_parts<D: Dialect>(
    text: &TableText<D>,
    candidates: Vec<String>,
    most: Option<u32>,
    merge: bool,
    except: bool,
    then: impl FnOnce(&ClaimParts<'_>) -> String,
) -> String {
    let sort = !matches!(most, None | Some(1));
    let mut returning = format!("{}, {}", text.selection, text.claim_columns());
    if sort {
        for (n, by) in text.declaration.order.iter().enumerate() {
            returning.push_str(&format!(", {} AS claim_order_{n}", text.column(by.column)));
        }
    }
    let mut still = text.is_pending();
    if except {
        still.push_str(&format!(" AND {} NOT IN ({})", text.key(), D::given_keys()));
    }
    then(&ClaimParts {
        table: &text.table,
        key: &D::quote(text.declaration.columns.key),
        candidates,
        most,
        merge,
        set: &text.set_claimed(),
        still: &still,
        returning: &returning,
        order: &text.order(),
        sort,
    })
}
