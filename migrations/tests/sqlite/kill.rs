//! A process killed midway, wherever that is, and the next start repairs (field report H79).

use claimstore_migrations::{check_sqlite, run_sqlite};

use crate::child::Migrator;
use crate::support::{Database, PATIENT, TestResult, all_versions};

fn kill_at_every_step(prepare: &str) -> TestResult {
    let mut steps: Vec<String> = Vec::new();
    for stop_at in 1.. {
        let db = Database::empty();
        db.execute(prepare);
        let mut process = Migrator::start(&db.path(), Some(stop_at));
        process.go();
        let Some(step) = process.kill_where_it_stops() else { break };

        let mut conn = db.connect();
        let report = run_sqlite(&mut conn, PATIENT)?;
        check_sqlite(&mut conn)?;
        assert_eq!(db.recorded(), all_versions(), "killed before {step}");
        assert_eq!(db.integrity(), ["ok"], "killed before {step}");
        // All or nothing: the commit is what separates the two.
        let committed = steps.iter().any(|step| step == "COMMIT");
        let left = if committed { Vec::new() } else { all_versions() };
        assert_eq!(report.versions, left, "killed before {step}");
        steps.push(step);
    }
    // The killing went through the migration itself, and past the commit.
    for word in ["CREATE TABLE claimstore_jobs", "INSERT INTO `__diesel_schema_migrations`", "COMMIT"] {
        assert!(steps.iter().any(|step| step.contains(word)), "never stopped before {word}: {steps:#?}");
    }
    assert_ne!(steps.last().map(String::as_str), Some("COMMIT"));
    Ok(())
}

#[test]
fn a_process_killed_at_any_step_leaves_nothing_half_done() -> TestResult {
    kill_at_every_step("")
}

#[test]
fn a_process_killed_at_any_step_leaves_nothing_half_done_in_wal_mode() -> TestResult {
    kill_at_every_step("PRAGMA journal_mode = WAL")
}
