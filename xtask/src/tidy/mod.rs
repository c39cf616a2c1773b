//! `cargo xtask tidy`: the written rules that a program can check.
//!
//! A rule is a function from the repository to findings. It reads, never writes, and knows no other.

mod adr;
mod answers;
mod arrows;
mod examples;
mod length;
mod migrations;
mod repository;
mod sleeps;
mod trees;
mod wall;

pub(crate) use repository::{Finding, Repository, SourceFile};

use crate::root::{metadata, root};

const RULES: [fn(&Repository) -> Vec<Finding>; 11] = [
    arrows::point_down,
    trees::core_and_worker_have_no_diesel,
    trees::test_crates_stay_in_tests,
    wall::the_dialects_do_not_meet,
    examples::rustdoc_examples_run,
    examples::chapters_include_their_code,
    sleeps::have_a_reason,
    migrations::both_folders_hold_the_same_versions,
    length::files_stay_short,
    adr::each_is_in_the_summary,
    answers::each_field_report_has_one,
];

pub(crate) fn run() -> Result<(), String> {
    let mut repository = Repository::read(root())?;
    repository.metadata = metadata()?;
    report(RULES.iter().flat_map(|rule| rule(&repository)).collect())
}

/// Prints the findings in the order of the files; any finding is a failure.
pub(crate) fn report(mut findings: Vec<Finding>) -> Result<(), String> {
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err("1 finding".to_owned()),
        n => Err(format!("{n} findings")),
    }
}
