//! Rows that should not be.

use claimstore::verify::{Check, Finding, Severity};
use claimstore_tests::harness::TestDialect;
use diesel::pg::Pg;

use super::sound;
use crate::bench::Bench;
use crate::tables::Task;

/// A running row with this changed is found, and shown by the statement that the finding brings.
#[track_caller]
fn is_found(bench: &Bench<Task, Pg>, set: &str, severity: Severity) -> Finding {
    bench.run("DELETE FROM tasks");
    bench.is_sound();
    let running = "INSERT INTO tasks (id, state, fence, worker, since, lease)
        SELECT n, 'held', 7, 'anna', now() - interval '1 minute', now() + interval '1 minute'
        FROM generate_series(1, 5) AS n";
    bench.run(running);
    bench.is_sound();
    let found = bench.broken(&format!("UPDATE tasks SET {set} WHERE id IN (2, 4)"), Check::Rows, severity);
    assert!(found.says.starts_with("at least 2 rows "), "{found}");
    let shown = found.mend.as_deref().expect("a statement").trim_end_matches(';');
    let shown = shown.replacen("SELECT *", "SELECT id::text AS value", 1);
    assert_eq!(Pg::texts(&mut Pg::connect(&bench.place), &shown), ["2", "4"], "{found}");
    found
}

#[test]
fn rows_that_are_impossible_are_counted_and_shown() {
    let bench = sound().but("ALTER TABLE tasks DROP CONSTRAINT tasks_held, DROP CONSTRAINT tasks_words");
    for (set, severity, says) in [
        ("lease = NULL", Severity::Error, "no lease"),
        ("fence = -1", Severity::Error, "a fence below 0"),
        ("lease = 'infinity'", Severity::Warning, "more than a hundred years"),
        ("lease = now() + interval '101 years'", Severity::Warning, "more than a hundred years"),
        ("lease = since - interval '1 second'", Severity::Warning, "before the claim began"),
        (
            "since = now() + interval '1 hour', lease = now() + interval '2 hours'",
            Severity::Warning,
            "in the future",
        ),
        ("failures = -1", Severity::Warning, "a negative count in \"failures\""),
        ("most = 0", Severity::Warning, "a budget below 1"),
        ("state = 'draft'", Severity::Warning, "a word in \"state\" that is not declared"),
    ] {
        let found = is_found(&bench, set, severity);
        assert!(found.says.contains(says), "{found}");
    }
}

/// The sample is both ends of the keys.
#[test]
fn a_large_table_is_looked_at_from_both_ends() {
    let bench = sound();
    bench.run("INSERT INTO tasks (id, state, fence) SELECT n, 'done', 1 FROM generate_series(1, 11000) AS n");
    bench.run("UPDATE tasks SET fence = -1 WHERE id IN (1, 5500, 11000)");
    let found = bench.more();
    let rows: Vec<_> = found.iter().filter(|found| found.check == Check::Rows).collect();
    assert_eq!(rows.len(), 1, "{found:#?}");
    assert!(rows[0].says.starts_with("at least 2 rows have a fence below 0"), "{}", rows[0]);
}
