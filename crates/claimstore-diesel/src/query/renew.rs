//! Extending leases.

use std::time::Duration;

use claimstore_core::ClaimToken;

use crate::dialect::Dialect;
use crate::query::node::query_node;
use crate::query::settle::update_given;
use crate::query::table_text::TableText;
use crate::query::{GivenColumn, Shape, Values};
use crate::table::ClaimTable;

/// Extends leases; loads [`Touched<T>`](crate::query::Touched). See [`renew`].
pub struct Renew<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Extends these leases to `lease` from now. Rows that somebody has locked are passed over (PostgreSQL),
/// so that a heartbeat never waits behind a handler; what does not come back was locked, settled or lost.
#[must_use = "a query does nothing until it is run"]
pub fn renew<T: ClaimTable>(claims: &[ClaimToken<T::Key>], lease: Duration) -> Renew<T> {
    let mut values = Values::empty();
    values.lease.set(lease);
    for claim in claims {
        values.given.push(claim.key.clone(), claim.fence, claim.worker.as_str());
    }
    Renew { values, shape: Shape::Renew }
}

query_node!(Renew, write);

fn write<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let columns = [GivenColumn::Key, GivenColumn::Fence, GivenColumn::Worker];
    update_given(text, &columns, true, &text.set_renewed(), "")
}
