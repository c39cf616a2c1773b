//! Every scenario over the memory store, in three shapes of table.

use claimstore_testkit::{Harness, MemoryHarness, for_each_scenario, scenario};
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
                fn $name<H: Harness>(#[case] h: H) {
                    scenario::$area::$name(&h);
                }
            )*
        }
    )* };
}

for_each_scenario!([over_three_tables]);
