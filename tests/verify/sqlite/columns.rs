//! Columns, types, NULLs, the key, CHECKs and triggers.

use claimstore::verify::{Check, Severity};

use super::{made, sound};
use crate::bench::one;

#[test]
fn a_missing_column_is_added() {
    let bench = sound();
    for column in ["since", "trouble", "failures", "most", "fence"] {
        let found = bench.broken_and_mended(
            &format!("ALTER TABLE tasks DROP COLUMN {column}"),
            Check::Columns,
            Severity::Error,
        );
        assert!(found.says.contains(&format!("no column `{column}`")), "{found}");
    }
}

#[test]
fn an_affinity_that_spoils_values_is_told() {
    for (column, typed, severity) in [
        ("fence    BIGINT ", "fence TEXT", Severity::Error),
        ("fence    BIGINT ", "fence REAL", Severity::Error),
        ("failures INTEGER", "failures VARCHAR(9)", Severity::Error),
        ("lease    INTEGER", "lease TEXT", Severity::Error),
        ("due      INTEGER", "due DOUBLE", Severity::Error),
        ("worker   TEXT", "worker STRING", Severity::Warning),
        ("lane     TEXT", "lane INTEGER", Severity::Warning),
    ] {
        let bench = made(|sql| sql.replacen(column, typed, 1));
        let found = one(bench.more(), Check::Types, severity);
        assert!(!found.mend_is_sql() && found.mend.is_some(), "{found}");
    }
    // No affinity spoils nothing.
    made(|sql| sql.replacen("worker   TEXT", "worker", 1)).is_sound();
    made(|sql| sql.replacen("lease    INTEGER", "lease DATETIME", 1)).is_sound();
}

#[test]
fn nulls_where_none_may_be_and_where_some_must() {
    for (column, without, severity) in [
        ("fence    BIGINT  NOT NULL", "fence BIGINT", Severity::Error),
        ("state    TEXT    NOT NULL", "state TEXT", Severity::Error),
        ("most     INTEGER NOT NULL", "most INTEGER", Severity::Warning),
        ("failures INTEGER NOT NULL", "failures INTEGER", Severity::Warning),
        ("due      INTEGER NOT NULL", "due INTEGER", Severity::Notice),
        ("worker   TEXT", "worker TEXT NOT NULL", Severity::Error),
        ("lease    INTEGER", "lease INTEGER NOT NULL", Severity::Error),
    ] {
        let bench = made(|sql| sql.replacen(column, without, 1));
        one(bench.more(), Check::Nulls, severity);
    }
}

#[test]
fn a_fence_begins_at_zero() {
    for default in ["", " DEFAULT 7"] {
        let with = format!("NOT NULL{default},\n        worker");
        let bench = made(|sql| sql.replacen("NOT NULL DEFAULT 0,\n        worker", &with, 1));
        one(bench.more(), Check::FenceDefault, Severity::Warning);
    }
}

#[test]
fn a_key_that_names_several_rows_is_an_error() {
    for key in ["INTEGER NOT NULL,", "INTEGER NOT NULL, UNIQUE (id, lane),"] {
        let bench = made(|sql| {
            let (columns, unique) = key.split_once(", ").unwrap_or((key.trim_end_matches(','), ""));
            let sql = sql.replacen("INTEGER NOT NULL PRIMARY KEY", columns, 1);
            match unique.trim_end_matches(',') {
                "" => sql,
                unique => {
                    sql.replacen("CONSTRAINT tasks_held", &format!("{unique}, CONSTRAINT tasks_held"), 1)
                }
            }
        });
        let found = one(bench.more(), Check::Key, Severity::Error);
        bench.mend(&found);
    }
}

#[test]
fn a_check_that_refuses_a_declared_word_is_told() {
    let bench = made(|sql| sql.replacen("'again', 'held', 'done', 'lost')", "'held', 'done', 'it''s')", 1));
    let found = one(bench.more(), Check::StateWords, Severity::Error);
    assert!(found.says.contains("the declared words 'again', 'lost'"), "{found}");
    // Other columns decide with it.
    let also = "CHECK (state <> 'lost' OR trouble IS NOT NULL), CONSTRAINT tasks_held";
    made(|sql| sql.replacen("CONSTRAINT tasks_held", also, 1)).is_sound();
    let also = "CHECK (state <> 'lost' AND fence >= 0), CONSTRAINT tasks_held";
    let bench = made(|sql| sql.replacen("CONSTRAINT tasks_held", also, 1));
    one(bench.more(), Check::StateWords, Severity::Notice);
}

#[test]
fn a_running_row_should_say_who_has_it() {
    let bench = made(|sql| sql.replacen("state <> 'held' OR", "fence > 0 OR", 1));
    one(bench.more(), Check::HeldCheck, Severity::Notice);
}

#[test]
fn a_trigger_that_fires_for_each_claim_is_told() {
    let bench = sound();
    let found = bench.broken(
        "CREATE TRIGGER touch AFTER UPDATE ON tasks BEGIN SELECT 1; END",
        Check::Triggers,
        Severity::Warning,
    );
    assert!(found.says.contains("the trigger `touch`"), "{found}");
    bench.run(
        "DROP TRIGGER touch;
         CREATE TRIGGER touch AFTER UPDATE OF urgency ON tasks BEGIN SELECT 1; END;
         CREATE TRIGGER fresh AFTER INSERT ON tasks BEGIN UPDATE tasks SET urgency = 1 WHERE id = NEW.id; END",
    );
    bench.is_sound();
    bench.broken(
        "CREATE TRIGGER lease AFTER UPDATE OF lease ON tasks BEGIN SELECT 1; END",
        Check::Triggers,
        Severity::Warning,
    );
}

#[test]
fn a_view_cannot_be_claimed_from() {
    let found = sound().broken(
        "ALTER TABLE tasks RENAME TO all_tasks; CREATE VIEW tasks AS SELECT * FROM all_tasks",
        Check::Table,
        Severity::Error,
    );
    assert!(found.says.contains("`tasks` is a view"), "{found}");
}
