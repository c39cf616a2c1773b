//! What kind of table it is, and where.

use claimstore::verify::{Check, Severity};
use claimstore_tests::harness::TestDialect;
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;

use super::sound;
use crate::bench::one;
use crate::tables::{TASKS_POSTGRES, Task};

#[test]
fn a_view_cannot_be_claimed_from() {
    let bench = sound();
    let found = bench.broken(
        "ALTER TABLE tasks RENAME TO all_tasks; CREATE VIEW tasks AS SELECT * FROM all_tasks",
        Check::Table,
        Severity::Error,
    );
    assert!(found.says.contains("\"tasks\" is a view"), "{found}");
}

#[test]
fn an_unlogged_table_is_emptied_by_a_crash() {
    let found = sound().broken_and_mended("ALTER TABLE tasks SET UNLOGGED", Check::Table, Severity::Warning);
    assert_eq!(found.mend.as_deref(), Some("ALTER TABLE \"tasks\" SET LOGGED;"));
}

/// The table is looked for as the store's statements find it.
#[test]
fn a_table_in_another_schema_is_named() {
    let (here, elsewhere) = (postgres::fresh(), postgres::fresh());
    elsewhere.connect().batch_execute(TASKS_POSTGRES).expect("a table");
    let report = Pg::store::<Task>(&here, 2).verify().expect("the server is there");
    let errors = report.findings.into_iter().filter(|found| found.severity == Severity::Error).collect();
    let found = one(errors, Check::Table, Severity::Error);
    assert!(
        found.says.contains("no table \"tasks\" where search_path leads; there is one in schema"),
        "{found}"
    );
    assert!(found.mend.as_deref().is_some_and(|mend| mend.contains("SET search_path = ")), "{found}");
}

/// While a migration has the table to itself.
#[test]
fn a_locked_table_is_told_and_not_waited_for() {
    let bench = sound();
    let mut migration = Pg::connect(&bench.place);
    migration.batch_execute("BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE").expect("it is free");
    let found = one(bench.more(), Check::Unreadable, Severity::Notice);
    assert!(found.says.contains("the table could not be looked at"), "{found}");
    migration.batch_execute("ROLLBACK").expect("it ends");
    bench.is_sound();
}

#[test]
fn it_writes_nothing() {
    let bench = sound().but("INSERT INTO tasks (id) SELECT generate_series(1, 900)");
    let state = |of: &str| Pg::texts(&mut Pg::connect(&bench.place), of);
    let rows = "SELECT md5(string_agg(t::text || xmin || ctid, ',' ORDER BY id)) AS value FROM tasks AS t";
    let before = state(rows);
    bench.is_sound();
    assert_eq!(state(rows), before);
}
