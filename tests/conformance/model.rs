//! Random sequences of operations, on real tables and on the model side by side. A failure prints the
//! smallest sequence that shows it, and writes its seed to `model.regressions` beside this file.

use claimstore::Job;
use claimstore_testkit::model::{ops, run_against_model};
use claimstore_tests::harness::{Invoice, Letter, Pallet, Parcel, PgDb, SqliteDb};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// Each case has a file or schema of its own. `PROPTEST_CASES` asks for more.
const CASES: u32 = 24;
const LENGTH: usize = 60;

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { CASES };
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 200,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sqlite_jobs_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&SqliteDb::<Job>::fresh(), &ops)?;
    }

    #[test]
    fn sqlite_invoices_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&SqliteDb::<Invoice>::fresh(), &ops)?;
    }

    #[test]
    fn sqlite_letters_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&SqliteDb::<Letter>::fresh(), &ops)?;
    }

    #[test]
    fn postgres_jobs_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&PgDb::<Job>::fresh(), &ops)?;
    }

    #[test]
    fn postgres_invoices_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&PgDb::<Invoice>::fresh(), &ops)?;
    }

    #[test]
    fn postgres_parcels_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&PgDb::<Parcel>::fresh(), &ops)?;
    }

    #[test]
    fn postgres_pallets_follow_the_model(ops in ops(LENGTH)) {
        run_against_model(&PgDb::<Pallet>::fresh(), &ops)?;
    }
}
