//! The scenarios, by table and database.

use claimstore::Job;
use claimstore_core::{InspectStore, OperateStore, QueueStore, RetainStore};
use claimstore_testkit::{
    Harness, MemoryHarness, for_each_inspect_scenario, for_each_operator_scenario, for_each_scenario,
    scenario,
};
use claimstore_tests::harness::{Invoice, Letter, Minimal, Pallet, Parcel, PgDb, SqliteDb, Ticket};
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
                #[case::sqlite_tickets(SqliteDb::<Ticket>::fresh())]
                #[case::postgres_jobs(PgDb::<Job>::fresh())]
                #[case::postgres_invoices(PgDb::<Invoice>::fresh())]
                #[case::postgres_minimal(PgDb::<Minimal>::fresh())]
                #[case::postgres_parcels(PgDb::<Parcel>::fresh())]
                #[case::postgres_pallets(PgDb::<Pallet>::fresh())]
                #[case::postgres_tickets(PgDb::<Ticket>::fresh())]
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

for_each_scenario!([over_all_tables]);
for_each_inspect_scenario!([over_all_tables]);

/// Tables with events and queues.
macro_rules! with_operators {
    ([] $($area:ident { $($name:ident)* })*) => { $(
        mod $area {
            use super::*;
            $(
                #[rstest]
                #[case::memory(MemoryHarness::jobs())]
                #[case::sqlite_jobs(SqliteDb::<Job>::fresh())]
                #[case::sqlite_tickets(SqliteDb::<Ticket>::fresh())]
                #[case::postgres_jobs(PgDb::<Job>::fresh())]
                #[case::postgres_tickets(PgDb::<Ticket>::fresh())]
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
