//! Dead rows, and who keeps them (field report H83).

use std::time::{Duration, Instant};

use claimstore::PgStore;
use claimstore::verify::{Check, Severity};
use claimstore_tests::postgres::fresh_database;
use diesel::connection::SimpleConnection;

use super::sound;
use crate::tables::{TASKS_POSTGRES, Task};

#[test]
fn autovacuum_belongs_on() {
    let found = sound().broken_and_mended(
        "ALTER TABLE tasks SET (autovacuum_enabled = off)",
        Check::Vacuum,
        Severity::Warning,
    );
    assert!(found.says.contains("autovacuum is switched off"), "{found}");
}

/// H83: the report names the dead rows and who has the oldest snapshot; once that is gone, the statement it brings
/// clears them away.
#[test]
fn dead_rows_are_told_with_the_oldest_snapshot() {
    // A database of its own: who else works in it keeps rows alive too.
    let database = fresh_database();
    let run = |sql: &str| database.connect().batch_execute(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    run(TASKS_POSTGRES);
    // Nobody else clears them away meanwhile.
    run("ALTER TABLE tasks SET (autovacuum_enabled = off)");
    run("INSERT INTO tasks (id, state) SELECT n, 'done' FROM generate_series(1, 12000) AS n");
    let mut reader = database.connect();
    reader
        .batch_execute(
            "SET application_name = 'a forgotten report'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1",
        )
        .expect("a snapshot");
    run("UPDATE tasks SET urgency = 1");
    let store = PgStore::<Task>::new(database.pool(2));
    let dead = || {
        let report = store.verify().expect("the server is there");
        report.findings.into_iter().find(|found| found.says.contains(" dead rows beside "))
    };
    // The server counts dead rows when the session that made them has ended, some time later.
    until("the server counts them", || dead().is_some());
    let found = dead().expect("they are counted");
    assert_eq!((found.check, found.severity), (Check::Vacuum, Severity::Warning), "{found}");
    assert!(found.says.contains("about 12000 dead rows beside 12000 live ones"), "{found}");
    assert!(found.says.contains("application \"a forgotten report\", idle in transaction"), "{found}");
    reader.batch_execute("ROLLBACK").expect("it ends");
    run(found.mend.as_deref().expect("a statement"));
    until("the server counts again", || dead().is_none());
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never came to this: {what}");
        // sleep: asks the server again for what it counts in its own time; nothing rests on how long.
        std::thread::sleep(Duration::from_millis(20));
    }
}
