//! The scenarios, by table and database.

use claimstore::Job;
use claimstore_testkit::{Harness, MemoryHarness, for_each_scenario, scenario};
use claimstore_tests::harness::{Invoice, Letter, Minimal, Pallet, Parcel, PgDb, SqliteDb};
use rstest::rstest;

macro_rules! over_all_tables {
    ([] $($area:ident { $($name:ident)* })*) => { $(
        mod $area {
            use super::*;
            $(
                #[rstest]
                #[case::memory(MemoryHarness::jobs())]
                #[case::sqlite_jobs(SqliteDb::<Job>::fresh())]
                #[case::sqlite_invoices(SqliteDb::<Invoice>::fresh())]
                #[case::sqlite_minimal(SqliteDb::<Minimal>::fresh())]
                #[case::sqlite_letters(SqliteDb::<Letter>::fresh())]
                #[case::postgres_jobs(PgDb::<Job>::fresh())]
                #[case::postgres_invoices(PgDb::<Invoice>::fresh())]
                #[case::postgres_minimal(PgDb::<Minimal>::fresh())]
                #[case::postgres_parcels(PgDb::<Parcel>::fresh())]
                #[case::postgres_pallets(PgDb::<Pallet>::fresh())]
                fn $name<H: Harness>(#[case] h: H) {
                    scenario::$area::$name(&h);
                }
            )*
        }
    )* };
}

for_each_scenario!([over_all_tables]);
