//! The pool around the connections.

use claimstore::verify::{Check, Severity};
use claimstore::{PgStore, SqliteStore};
use claimstore_tests::harness::TestDialect;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;
use diesel::r2d2::{ConnectionManager, Pool};

use crate::tables::{TASKS_POSTGRES, TASKS_SQLITE, Task};

fn of_the_pool(report: &claimstore::verify::Report) -> Vec<Severity> {
    report.findings.iter().filter(|found| found.check == Check::Pool).map(|found| found.severity).collect()
}

#[test]
fn the_test_on_check_out_and_a_pool_of_one_are_told() {
    let place = Pg::place();
    place.connect().batch_execute(TASKS_POSTGRES).expect("a table");
    for (size, tested, expected) in [
        (2, false, &[][..]),
        (2, true, &[Severity::Warning]),
        (1, false, &[Severity::Notice]),
        (1, true, &[Severity::Warning, Severity::Notice]),
    ] {
        let manager = ConnectionManager::new(place.url());
        let pool = Pool::builder().max_size(size).test_on_check_out(tested).build(manager).expect("a pool");
        let report = PgStore::<Task>::new(pool).verify().expect("the server is there");
        assert_eq!(of_the_pool(&report), expected, "{report}");
    }
}

/// It cannot have more.
#[test]
fn one_connection_is_enough_for_a_database_in_memory() {
    let store = SqliteStore::<Task>::open(":memory:").expect("memory");
    store.pool().get().expect("a connection").batch_execute(TASKS_SQLITE).expect("a table");
    let report = store.verify().expect("it is there");
    assert_eq!(report.findings, [], "{report}");
}

#[test]
fn a_dead_connection_is_no_finding() {
    let place = Pg::place();
    place.connect().batch_execute(TASKS_POSTGRES).expect("a table");
    let store = Pg::store::<Task>(&place, 1);
    let mut sound = store.verify().expect("the server is there");
    let killed = format!(
        "SELECT count(pg_terminate_backend(pid, 10000)) AS value FROM pg_stat_activity \
         WHERE application_name = '{}' AND pid <> pg_backend_pid()",
        place.name()
    );
    assert_eq!(Pg::number(&mut place.connect(), &killed), 1);
    let report = store.verify().expect("the server is there");
    sound.findings.retain(|found| report.findings.contains(found));
    assert_eq!(report, sound);
}
