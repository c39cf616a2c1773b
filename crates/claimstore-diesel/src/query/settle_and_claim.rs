//! Settling some and claiming the next, in one statement.

use claimstore_core::{Claim, ClaimRequest, Settlement};

use crate::dialect::WritesTwice;
use crate::query::claim::{asked, with_ready};
use crate::query::node::query_node;
use crate::query::settle::{end_mine, locked, settle_columns, settle_many};
use crate::query::table_text::TableText;
use crate::query::{Shape, Values};
use crate::table::ClaimTable;

/// Settles and claims; loads [`WonOrTouched<T>`](crate::query::WonOrTouched). See [`settle_and_claim`].
pub struct SettleAndClaim<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Ends these claims and claims what is due, in one statement and so in one commit (PostgreSQL only:
/// SQLite has no statement that writes twice).
///
/// A row that is named in the settling half is not claimed by the same statement, whether it is settled
/// now or was before. Rows that somebody has locked are passed over in both halves.
#[must_use = "a query does nothing until it is run"]
pub fn settle_and_claim<'a, T: ClaimTable>(
    settled: impl IntoIterator<Item = (&'a Claim<T::Key>, &'a Settlement)>,
    ask: &ClaimRequest,
) -> SettleAndClaim<T>
where
    T::Key: 'a,
{
    let settling = settle_many::<T>(settled);
    let (mixed, discard) = settling.how();
    let (values, most, queues) = asked::<T>(ask);
    let values = Values { given: settling.values.given, ..values };
    SettleAndClaim { values, shape: Shape::SettleAndClaim { mixed, discard, most, queues } }
}

query_node!(SettleAndClaim, write, WritesTwice);

fn write<D: WritesTwice>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::SettleAndClaim { mixed, discard, most, queues } = shape else {
        unreachable!("{shape:?} claims nothing")
    };
    let mine = locked(text, settle_columns(mixed), true, "");
    let done = end_mine(text, mixed, discard);
    let columns = &text.declaration.columns;
    let settled = [D::quote(columns.fence), D::quote(columns.key)];
    with_ready(text, most, queues, true, |parts| D::both(&mine, &done, [&settled[0], &settled[1]], parts))
}
