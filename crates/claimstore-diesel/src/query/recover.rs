//! Finding expired leases and ending those claims.

use std::time::Duration;

use claimstore_core::{Expired, RecoveryAction, Timestamp};

use crate::dialect::Dialect;
use crate::query::node::query_node;
use crate::query::settle::{set_by_state, update_given};
use crate::query::table_text::{Assignments, TableText, literal};
use crate::query::{GivenColumn, Hole, Shape, Values};
use crate::sql_types::At;
use crate::table::ClaimTable;

/// Finds expired leases; loads [`ExpiredRow<T>`](crate::query::ExpiredRow). See [`expiring`].
pub struct Expiring<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Ends expired claims; loads [`Touched<T>`](crate::query::Touched). See [`recover`].
pub struct Recover<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Running rows whose lease ended more than `grace` ago, oldest first, after the row `after` names. A
/// plain read: it locks nothing.
#[must_use = "a query does nothing until it is run"]
pub fn expiring<T: ClaimTable>(
    grace: Duration,
    limit: usize,
    after: Option<(Timestamp, T::Key)>,
) -> Expiring<T> {
    let mut values = Values::empty();
    values.grace.set_back(grace);
    values.limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let shape = Shape::Expiring { after: after.is_some() };
    values.after = after.map(|(lease, key)| (At(lease), key));
    Expiring { values, shape }
}

/// Ends these expired claims as decided, if each is still running under the fence that was seen and its
/// lease is still past the grace. The fence rises; locked rows are passed over.
#[must_use = "a query does nothing until it is run"]
pub fn recover<'a, T: ClaimTable>(
    decided: impl IntoIterator<Item = (&'a Expired<T::Key>, RecoveryAction)>,
    grace: Duration,
) -> Recover<T>
where
    T::Key: 'a,
{
    let mut values = Values::empty();
    values.grace.set_back(grace);
    for (row, action) in decided {
        values.given.push(row.key.clone(), row.fence, "");
        values.given.push_recovery(action, row.tally.crashes.saturating_add(1));
    }
    Recover { values, shape: Shape::Recover }
}

query_node!(Expiring, write_expiring);
query_node!(Recover, write_recover);

/// The lease has been over for longer than the grace. NULL never is.
fn is_expired<D: Dialect>(text: &TableText<D>) -> String {
    let lease = text.column(text.declaration.columns.lease.unwrap_or_default());
    format!("{lease} IS NOT NULL AND {lease} < {}", D::grace_ago(text.forms.lease))
}

/// The same for rows whose keys are given, in words from which no planner takes the index of the leases: each
/// row is found by its key, and not by reading all that has expired, page after page.
fn is_still_expired<D: Dialect>(text: &TableText<D>) -> String {
    let lease = text.column(text.declaration.columns.lease.unwrap_or_default());
    format!("COALESCE({lease} < {}, FALSE)", D::grace_ago(text.forms.lease))
}

fn write_expiring<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let columns = &text.declaration.columns;
    let lease = text.column(columns.lease.unwrap_or_default());
    let key = text.key();
    let optional = |column| text.or_null(column);
    let mut read = vec![key.clone(), text.column(columns.fence), D::instant(&lease, text.forms.lease)];
    read.extend([columns.worker, columns.idempotent].map(optional));
    let counts =
        [columns.failures, columns.crashes, columns.interruptions, columns.max_failures, columns.max_crashes];
    read.extend(counts.map(optional));
    let after = match shape {
        Shape::Expiring { after: true } => {
            let seen = [D::after_lease(text.forms.lease), Hole::AfterKey.mark()];
            format!(" AND {}", D::after([&lease, &key], [&seen[0], &seen[1]]))
        }
        _ => String::new(),
    };
    format!(
        "SELECT {} FROM {} WHERE {} AND {}{after} ORDER BY {lease}, {key} LIMIT {}",
        read.join(", "),
        text.table,
        is_expired(text),
        text.is_running(),
        Hole::Limit.mark(),
    )
}

fn write_recover<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let given =
        [GivenColumn::Key, GivenColumn::Fence, GivenColumn::State, GivenColumn::Delay, GivenColumn::Crashes];
    let columns = &text.declaration.columns;
    let mut set = Assignments::<D>::default();
    set_by_state(text, &mut set);
    set.put(columns.fence, D::raised(&text.column(columns.fence)));
    set.maybe(columns.crashes, || "mine.crashes".to_owned());
    set.maybe(columns.last_error, || literal(RecoveryAction::ABANDONED));
    let also = format!(" AND {}", is_still_expired(text));
    update_given(text, &given, true, &set.finish(), &also)
}
