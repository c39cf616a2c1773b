//! Every scenario over the memory store, in several shapes of table.

use claimstore_core::{InspectStore, OperateStore, QueueStore, RetainStore, State};
use claimstore_testkit::{
    Columns, Harness, MemoryHarness, for_each_inspect_scenario, for_each_operator_scenario,
    for_each_scenario, scenario,
};
use rstest::rstest;

macro_rules! over_three_tables {
    ([] $($area:ident { $($name:ident)* })*) => { $(
        mod $area {
            use super::*;
            $(
                #[rstest]
                #[case::jobs(MemoryHarness::jobs())]
                #[case::invoices(MemoryHarness::invoices())]
                #[case::minimal(MemoryHarness::minimal())]
                fn $name<H: Harness>(#[case] h: H)
                where
                    H::Store: InspectStore + RetainStore,
                {
                    scenario::$area::$name(&h);
                }
            )*
        }
    )* };
}

for_each_scenario!([over_three_tables]);
for_each_inspect_scenario!([over_three_tables]);

/// Operators and pauses, and next to nothing else.
fn bare() -> MemoryHarness<i64> {
    MemoryHarness::shaped(Columns { late_writers: true, pauses: true, ..Columns::minimal() }, i64::from)
}

/// Some columns and words are missing, here and there.
fn gaps() -> MemoryHarness<String> {
    let words = State::ALL.into_iter().filter(|state| *state != State::Cancelled).collect();
    let columns = Columns {
        kind: false,
        due: false,
        due_orders: false,
        claimed_at: false,
        crashes: false,
        last_error: false,
        words,
        ..Columns::all()
    };
    MemoryHarness::shaped(columns, |n| format!("{n:06}'\"\\ü"))
}

macro_rules! with_operators {
    ([] $($area:ident { $($name:ident)* })*) => { $(
        mod $area {
            use super::*;
            $(
                #[rstest]
                #[case::jobs(MemoryHarness::jobs())]
                #[case::gaps(gaps())]
                #[case::bare(bare())]
                fn $name<H: Harness>(#[case] h: H)
                where
                    H::Store: OperateStore + QueueStore,
                {
                    scenario::$area::$name(&h);
                }
            )*
        }
    )* };
}

for_each_operator_scenario!([with_operators]);
