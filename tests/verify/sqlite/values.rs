//! Rows that should not be, and values of a wrong form.

use claimstore::verify::{Check, Finding, Severity};
use claimstore_tests::harness::TestDialect;
use diesel::sqlite::Sqlite;

use super::made;
use crate::bench::Bench;
use crate::tables::{LETTERS_SQLITE, Letter, Task};

const NOW: &str = "CAST(strftime('%s', 'now') AS INTEGER)";

/// A running row with this changed is found, and shown by the statement that the finding brings.
#[track_caller]
fn is_found(bench: &Bench<Task, Sqlite>, set: &str, severity: Severity) -> Finding {
    bench.run(&format!(
        "DELETE FROM tasks; INSERT INTO tasks (id, state, fence, worker, since, lease)
         SELECT value, 'held', 7, 'anna', ({NOW} - 60) * 1000000, ({NOW} + 60) * 1000000
         FROM json_each('[1, 2, 3, 4, 5]')"
    ));
    bench.is_sound();
    let found = bench.broken(&format!("UPDATE tasks SET {set} WHERE id IN (2, 4)"), Check::Rows, severity);
    assert!(found.says.starts_with("at least 2 rows "), "{found}");
    let shown = found.mend.as_deref().expect("a statement").trim_end_matches(';');
    let shown = shown.replacen("SELECT *", "SELECT CAST(id AS TEXT) AS value", 1);
    assert_eq!(Sqlite::texts(&mut Sqlite::connect(&bench.place), &shown), ["2", "4"], "{found}");
    found
}

#[test]
fn rows_that_are_impossible_are_counted_and_shown() {
    let words = " CHECK (state IN ('new', 'again', 'held', 'done', 'lost'))";
    let bench =
        made(|sql| sql.replacen("worker IS NOT NULL AND lease IS NOT NULL", "1", 1).replacen(words, "", 1))
            .but("");
    for (set, severity, says) in [
        ("lease = NULL".to_owned(), Severity::Error, "no lease"),
        ("fence = -1".to_owned(), Severity::Error, "a fence below 0"),
        (
            format!("lease = ({NOW} + 101 * 365 * 86400) * 1000000"),
            Severity::Warning,
            "more than a hundred years",
        ),
        ("lease = since - 1".to_owned(), Severity::Warning, "before the claim began"),
        (
            format!("since = ({NOW} + 3600) * 1000000, lease = ({NOW} + 7200) * 1000000"),
            Severity::Warning,
            "in the future",
        ),
        ("failures = -1".to_owned(), Severity::Warning, "a negative count in `failures`"),
        ("most = 0".to_owned(), Severity::Warning, "a budget below 1"),
        ("state = 'draft'".to_owned(), Severity::Warning, "a word in `state` that is not declared"),
    ] {
        let found = is_found(&bench, &set, severity);
        assert!(found.says.contains(says), "{found}");
    }
}

/// A bit of every form that others write, and what is made of it.
#[test]
fn instants_of_another_width_are_brought_to_the_one() {
    let bench = Bench::<Letter, Sqlite>::of(LETTERS_SQLITE);
    for other in
        ["'2026-01-31 12:00:00'", "'2026-01-31T12:00:00Z'", "'2026-01-31 12:00:00.000'", "1769860800000000"]
    {
        bench.run("DELETE FROM letters; INSERT INTO letters (id) VALUES (1), (2)");
        let broken = format!("UPDATE letters SET due = {other} WHERE id = 1");
        let found = bench.broken_and_mended(&broken, Check::StoredForm, Severity::Error);
        assert!(found.says.starts_with("at least 1 rows hold an instant"), "{found}");
        let due = "SELECT due AS value FROM letters WHERE id = 1";
        assert_eq!(Sqlite::texts(&mut Sqlite::connect(&bench.place), due), ["2026-01-31 12:00:00.000000"]);
    }
}

#[test]
fn what_should_be_a_number_is_one() {
    let bench = super::sound();
    bench.run("INSERT INTO tasks (id) VALUES (1), (2)");
    for (broken, mended) in [
        ("due = '2026-01-31 12:00:00'", "1769860800000000"),
        ("due = 1769860800000000.5", "1769860800000000"),
        ("fence = 'none'", "0"),
        ("fence = 7.5", "7"),
    ] {
        let column = broken.split(' ').next().expect("a column");
        let broken = format!("UPDATE tasks SET {broken} WHERE id = 1");
        bench.broken_and_mended(&broken, Check::StoredForm, Severity::Error);
        let value = format!("SELECT CAST({column} AS TEXT) AS value FROM tasks WHERE id = 1");
        assert_eq!(Sqlite::texts(&mut Sqlite::connect(&bench.place), &value), [mended], "{broken}");
    }
}
