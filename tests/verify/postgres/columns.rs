//! Columns, their types, and NULLs.

use claimstore::verify::{Check, Severity};

use super::sound;

#[test]
fn a_missing_column_is_added() {
    let bench = sound();
    for column in ["since", "failures", "most", "trouble", "fence"] {
        let found = bench.broken_and_mended(
            &format!("ALTER TABLE tasks DROP COLUMN {column}"),
            Check::Columns,
            Severity::Error,
        );
        assert!(found.says.contains(&format!("no column \"{column}\"")), "{found}");
    }
}

#[test]
fn a_type_that_cannot_be_read_is_changed() {
    let bench = sound();
    bench.run("INSERT INTO tasks (id) VALUES (1)");
    for (column, wrong) in [
        ("fence", "integer"),
        ("failures", "bigint"),
        ("most", "smallint"),
        ("since", "timestamp"),
        ("lease", "bigint USING (extract(epoch FROM lease) * 1000000)::bigint"),
    ] {
        let found = bench.broken_and_mended(
            &format!("ALTER TABLE tasks ALTER COLUMN {column} TYPE {wrong}"),
            Check::Types,
            Severity::Error,
        );
        assert!(found.says.contains(&format!("column \"{column}\"")), "{found}");
    }
}

#[test]
fn a_text_that_is_too_short_is_told() {
    let bench = sound();
    bench.broken_and_mended(
        "ALTER TABLE tasks ALTER worker TYPE varchar(199)",
        Check::Types,
        Severity::Warning,
    );
    bench.broken_and_mended(
        "ALTER TABLE tasks ALTER trouble TYPE varchar(5000)",
        Check::Types,
        Severity::Warning,
    );
    bench.run("ALTER TABLE tasks ALTER worker TYPE varchar(200)");
    bench.is_sound();
}

#[test]
fn what_must_not_be_null_cannot_be() {
    let bench = sound();
    bench.run("INSERT INTO tasks (id) VALUES (1)");
    for (column, severity) in [
        ("fence", Severity::Error),
        ("state", Severity::Error),
        ("most", Severity::Warning),
        ("failures", Severity::Warning),
        ("due", Severity::Notice),
    ] {
        let broken = format!(
            "ALTER TABLE tasks ALTER {column} DROP NOT NULL; UPDATE tasks SET {column} = NULL WHERE id = 1"
        );
        let found = bench.broken_and_mended(&broken, Check::Nulls, severity);
        assert!(found.says.contains(&format!("column \"{column}\"")), "{found}");
    }
}

#[test]
fn what_a_settlement_empties_may_be_null() {
    let bench = sound();
    for column in ["worker", "lease", "since"] {
        bench.broken_and_mended(
            &format!("ALTER TABLE tasks ALTER {column} SET NOT NULL"),
            Check::Nulls,
            Severity::Error,
        );
    }
}

#[test]
fn a_fence_begins_at_zero() {
    let bench = sound();
    bench.broken_and_mended(
        "ALTER TABLE tasks ALTER fence DROP DEFAULT",
        Check::FenceDefault,
        Severity::Warning,
    );
    bench.broken_and_mended(
        "ALTER TABLE tasks ALTER fence SET DEFAULT 10",
        Check::FenceDefault,
        Severity::Warning,
    );
    bench.run("ALTER TABLE tasks ALTER fence SET DEFAULT '0'::bigint");
    bench.is_sound();
}

#[test]
fn a_domain_is_what_it_is_made_of() {
    let bench = sound();
    bench.run("CREATE DOMAIN fence AS bigint; ALTER TABLE tasks ALTER fence TYPE fence");
    bench.is_sound();
}
