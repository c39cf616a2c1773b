//! One row and sixteen threads, five hundred times (H2).

use claimstore::Job;
use claimstore_testkit::{Harness, scenario};
use claimstore_tests::harness::{PgDb, SqliteDb};
use rstest::rstest;

const ROUNDS: usize = 500;

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh().with_rounds(ROUNDS))]
#[case::postgres(PgDb::<Job>::fresh().with_rounds(ROUNDS))]
fn one_row_is_won_by_one_thread_each_time<H: Harness>(#[case] h: H) {
    scenario::race::one_row_is_won_by_one_thread(&h);
}

#[rstest]
#[case::sqlite(SqliteDb::<Job>::fresh().with_rounds(ROUNDS))]
#[case::postgres(PgDb::<Job>::fresh().with_rounds(ROUNDS))]
fn the_next_row_is_won_by_one_thread_each_time<H: Harness>(#[case] h: H) {
    scenario::race::the_next_row_is_won_by_one_thread(&h);
}
