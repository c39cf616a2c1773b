//! Settling some and claiming the next, in one statement.

use claimstore_core::{Claim, ClaimRequest, Settlement};

use crate::dialect::WritesTwice;
use crate::query::claim::{asked, with_ready};
use crate::query::node::query_node;
use crate::query::settle::{given_guards, set_settled, settle_columns, settle_many, update_mine};
use crate::query::table_text::TableText;
use crate::query::{LockedRows, Shape, Values};
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
    let mut mixed = false;
    let settled = settled.into_iter().inspect(|(_, to)| mixed |= to.to != claimstore_core::State::Completed);
    let given = settle_many::<T>(settled).values.given;
    let (values, one, queues) = asked::<T>(ask);
    let values = Values { given, ..values };
    SettleAndClaim { values, shape: Shape::SettleAndClaim { mixed, one, queues } }
}

query_node!(SettleAndClaim, write, WritesTwice);

fn write<D: WritesTwice>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::SettleAndClaim { mixed, one, queues } = shape else {
        unreachable!("{shape:?} claims nothing")
    };
    let mine = D::locked_rows(&LockedRows {
        table: &text.table,
        bare: text.bare(),
        key: &text.key(),
        columns: settle_columns(mixed),
        guards: &given_guards(text, settle_columns(mixed), "given"),
        skip_locked: true,
        no_key_update: text.declaration.no_key_update,
    });
    let done = update_mine(text, settle_columns(mixed), &set_settled(text, mixed), "");
    let columns = &text.declaration.columns;
    let settled = [D::quote(columns.fence), D::quote(columns.key)];
    with_ready(text, one, queues, true, |parts| D::both(&mine, &done, [&settled[0], &settled[1]], parts))
}
