//! Every scenario over one more table, by the one-line form: failures are counted and interruptions not.

use claimstore_testkit::{Columns, MemoryHarness, conformance};

fn half_counted() -> MemoryHarness<i64> {
    let columns = Columns { interruptions: false, budgets: false, due_orders: false, ..Columns::all() };
    MemoryHarness::shaped(columns, i64::from)
}

conformance!(half_counted_table, half_counted(), operators);
