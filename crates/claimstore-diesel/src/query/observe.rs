//! Plain reads.

use claimstore_core::ClaimRequest;

use crate::dialect::Dialect;
use crate::query::claim::asked;
use crate::query::node::query_node;
use crate::query::table_text::{TableText, last_fence};
use crate::query::{Hole, Shape, Values};
use crate::table::ClaimTable;

/// Reads one row's claim columns; loads [`Observed<T>`](crate::query::Observed). See [`observe()`].
pub struct Observe<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Reads when the next row is due; loads [`Due`](crate::query::Due). See [`next_due`].
pub struct NextDue<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// The claim columns of one row, and the deciding clock. Locks nothing.
#[must_use = "a query does nothing until it is run"]
pub fn observe<T: ClaimTable>(key: &T::Key) -> Observe<T> {
    let mut values = Values::empty();
    values.key = Some(key.clone());
    Observe { values, shape: Shape::Observe }
}

/// When the first claimable row of the request's queues is due. A time that has passed means that such a
/// row was locked, or became due meanwhile: ask again soon.
#[must_use = "a query does nothing until it is run"]
pub fn next_due<T: ClaimTable>(ask: &ClaimRequest) -> NextDue<T> {
    let (values, _, queues) = asked::<T>(ask);
    NextDue { values, shape: Shape::NextDue { queues } }
}

query_node!(Observe, write_observe);
query_node!(NextDue, write_next_due);

fn write_observe<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let columns = &text.declaration.columns;
    let optional = |column| text.or_null(column);
    let instant = |column, form| text.instant_or_null(column, form);
    let read = [
        text.column(columns.state),
        text.column(columns.fence),
        D::clock(),
        optional(columns.worker),
        instant(columns.lease, text.forms.lease),
        instant(columns.due, text.forms.due),
        optional(columns.failures),
        optional(columns.crashes),
        optional(columns.interruptions),
        optional(columns.max_failures),
        optional(columns.max_crashes),
        text.is_paused(),
        text.discards().unwrap_or_else(|| "FALSE".to_owned()),
    ];
    format!("SELECT {} FROM {} WHERE {} = {}", read.join(", "), text.table, text.key(), Hole::Key.mark())
}

fn write_next_due<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::NextDue { queues } = shape else { unreachable!("{shape:?} reads no due time") };
    let columns = &text.declaration.columns;
    let due = text.column(columns.due.unwrap_or_default());
    let mut claimable =
        format!("{} AND {} <= {}", text.is_waiting_in_queue(), text.column(columns.fence), last_fence());
    for (count, most) in [(columns.failures, columns.max_failures), (columns.crashes, columns.max_crashes)] {
        if let (Some(count), Some(most)) = (count, most) {
            claimable.push_str(&format!(" AND {} < {}", text.column(count), text.column(most)));
        }
    }
    claimable.push_str(&text.and_kind_runs());
    let first_of = |queue: &str| {
        let from = text.and_from(queue);
        let rows = format!("FROM {} WHERE {claimable}{from}", text.table);
        // NULL would be the first on SQLite and hide all others.
        let read = D::instant(&due, text.forms.due);
        let later = format!("SELECT {read} AS first_due {rows} AND {due} IS NOT NULL ORDER BY {due} LIMIT 1");
        if !text.declaration.null_due_is_now {
            return later;
        }
        let now = D::instant(&D::now(text.forms.due), text.forms.due);
        let at_once = format!("SELECT {now} AS first_due {rows} AND {due} IS NULL LIMIT 1");
        format!(
            "SELECT min(first_due) AS first_due FROM \
             (SELECT * FROM ({at_once}) AS at_once UNION ALL SELECT * FROM ({later}) AS later) AS either"
        )
    };
    match queues {
        0 | 1 => first_of(&Hole::Queue(0).mark()),
        _ if D::ARRAYS => format!(
            "SELECT min(first_due) FROM unnest((SELECT {})) AS wanted(queue) CROSS JOIN LATERAL ({}) AS first",
            Hole::Queues.mark(),
            first_of("wanted.queue"),
        ),
        n => {
            let each = (0..n).map(|i| format!("SELECT * FROM ({})", first_of(&Hole::Queue(i).mark())));
            let each: Vec<String> = each.collect();
            format!("SELECT min(first_due) FROM ({}) AS first", each.join(" UNION ALL "))
        }
    }
}
