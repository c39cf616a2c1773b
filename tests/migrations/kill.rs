//! A process killed midway, wherever that is, and the next start repairs (field report H79).

use claimstore_migrations::{check_postgres, run_postgres};
use claimstore_tests::postgres::fresh;

use crate::child::Migrator;
use crate::support::{PATIENT, TestResult, all_versions, recorded};

#[test]
fn a_process_killed_at_any_step_leaves_nothing_half_done_and_no_lock() -> TestResult {
    let mut steps: Vec<String> = Vec::new();
    for stop_at in 1.. {
        let schema = fresh();
        let mut process = Migrator::start(&schema.url(), Some(stop_at));
        process.go();
        let Some(step) = process.kill_where_it_stops() else { break };

        let mut conn = schema.connect();
        let report = run_postgres(&mut conn, PATIENT)?;
        check_postgres(&mut conn)?;
        assert_eq!(report.versions, all_versions(), "killed before {step}");
        assert_eq!(recorded(&mut conn), all_versions(), "killed before {step}");
        steps.push(step);
    }
    // The killing went through the migration itself and up to the commit.
    for word in ["CREATE TABLE claimstore_jobs", "INSERT INTO \"__diesel_schema_migrations\""] {
        assert!(steps.iter().any(|step| step.contains(word)), "never stopped before {word}: {steps:#?}");
    }
    assert_eq!(steps.last().map(String::as_str), Some("COMMIT"));
    Ok(())
}
