//! Each public bug report in the book is answered by a test or a sentence.

use super::{Finding, Repository, SourceFile};

const REPORTS: &str = "docs/src/field-reports.md";
const COLUMN: &str = "answered by";

/// In rows that begin with an H number, the column "answered by" names tests in backticks that exist
/// as `fn`, or says `docs: file.md#heading`.
pub(super) fn each_field_report_has_one(repository: &Repository) -> Vec<Finding> {
    repository.file(REPORTS).map_or(Vec::new(), |reports| unanswered(reports, repository))
}

fn unanswered(reports: &SourceFile, repository: &Repository) -> Vec<Finding> {
    let mut column = None;
    let mut findings = Vec::new();
    for (number, line) in reports.lines() {
        let cells = cells(line);
        if let Some(at) = cells.iter().position(|cell| cell.eq_ignore_ascii_case(COLUMN)) {
            column = Some(at);
        } else if let Some(report) = cells.first().filter(|cell| is_a_number(cell)) {
            let answer = column.and_then(|at| cells.get(at)).copied().unwrap_or_default();
            if let Err(reason) = check(answer, repository) {
                findings.push(reports.finding(number, format!("{report}: {reason}")));
            }
        }
    }
    findings
}

fn check(answer: &str, repository: &Repository) -> Result<(), String> {
    let tests: Vec<&str> =
        answer.split('`').skip(1).step_by(2).filter(|name| !name.starts_with("docs:")).collect();
    let places: Vec<&str> =
        answer.split("docs:").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    if tests.is_empty() && places.is_empty() {
        return Err(format!("no test and no sentence in the column \"{COLUMN}\""));
    }
    if let Some(missing) = tests.iter().find(|name| !is_a_function(name, repository)) {
        return Err(format!("no fn {missing} anywhere"));
    }
    match places.into_iter().find(|place| !is_a_heading(place, repository)) {
        Some(missing) => Err(format!("no heading {missing}")),
        None => Ok(()),
    }
}

/// The last part of a path such as `conformance::each_row_is_won_once`.
fn is_a_function(name: &str, repository: &Repository) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    let declared = format!("fn {name}");
    repository.rust().any(|file| {
        file.text.match_indices(&declared).any(|(at, _)| {
            let after = file.text[at + declared.len()..].chars().next();
            after.is_some_and(|c| !c.is_alphanumeric() && c != '_')
        })
    })
}

/// `file.md#heading`, the file beside the reports or from the root.
fn is_a_heading(place: &str, repository: &Repository) -> bool {
    let place = place.trim_matches(|c: char| "`,;.".contains(c));
    let (file, heading) = place.split_once('#').unwrap_or((place, ""));
    let file = repository.file(&format!("docs/src/{file}")).or_else(|| repository.file(file));
    file.is_some_and(|file| {
        heading.is_empty() || file.lines().any(|(_, line)| anchor(line).as_deref() == Some(heading))
    })
}

/// The link to a heading as the book makes it: lower case, dashes for spaces, the rest left out.
fn anchor(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let letters = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    Some(letters.collect())
}

fn cells(line: &str) -> Vec<&str> {
    let row = line.trim().strip_prefix('|').map(|row| row.strip_suffix('|').unwrap_or(row));
    row.map_or(Vec::new(), |row| row.split('|').map(str::trim).collect())
}

fn is_a_number(cell: &str) -> bool {
    cell.strip_prefix('H')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(row: &str) -> usize {
        let reports = format!("| report | symptom | answered by |\n|---|---|---|\n{row}\n");
        each_field_report_has_one(&Repository::of(&[
            (REPORTS, &reports),
            ("docs/src/leases.md", "## What it does not do\n"),
            ("tests/tests/a.rs", "fn each_row_is_won_once<H: Harness>() {}"),
        ]))
        .len()
    }

    #[test]
    fn an_existing_test_or_heading_is_an_answer() {
        assert_eq!(findings("| H1 | s | `each_row_is_won_once` |"), 0);
        assert_eq!(findings("| H1 | s | `conformance::each_row_is_won_once` |"), 0);
        assert_eq!(findings("| H1 | s | docs: leases.md#what-it-does-not-do |"), 0);
    }

    #[test]
    fn no_answer_or_one_that_does_not_exist_is_found() {
        for answer in ["", "later", "`each_row`", "`gone`", "docs: leases.md#gone", "docs: gone.md#a"] {
            assert_eq!(findings(&format!("| H1 | s | {answer} |")), 1, "{answer}");
        }
    }

    #[test]
    fn other_rows_are_left_alone() {
        assert_eq!(findings("| Hx | s | later |\n| total | 99 | |"), 0);
    }
}
