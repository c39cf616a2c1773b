//! Code in docs is code that runs.

use super::{Finding, Repository, SourceFile};

/// A doc block is run by rustdoc, or it is not there. `compile_fail` is run, too.
pub(super) fn rustdoc_examples_run(repository: &Repository) -> Vec<Finding> {
    let rust = repository
        .rust()
        .filter(|file| !file.path.starts_with("xtask/"))
        .flat_map(|file| unrun(file, in_docs));
    let docs = repository.under("docs/").filter(|file| file.path.ends_with(".md"));
    rust.chain(docs.flat_map(|file| unrun(file, |line| Some(line)))).collect()
}

fn in_docs(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

fn unrun(file: &SourceFile, text_of: fn(&str) -> Option<&str>) -> Vec<Finding> {
    let fences = file.lines().filter_map(|(number, line)| Some((number, fence(text_of(line)?)?)));
    fences
        .filter(|(_, words)| {
            words.split([',', ' ']).any(|word| word.starts_with("ignore") || word == "no_run")
        })
        .map(|(number, words)| file.finding(number, format!("an example that does not run ({words})")))
        .collect()
}

/// Chapters hold no Rust of their own: it would not be built. They include from `docs/examples`.
pub(super) fn chapters_include_their_code(repository: &Repository) -> Vec<Finding> {
    repository.under("docs/src/").filter(|file| file.path.ends_with(".md")).flat_map(own_code).collect()
}

fn own_code(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut block: Option<bool> = None;
    for (number, line) in file.lines() {
        match (fence(line), block) {
            (Some(words), None) => block = Some(words.split([',', ' ']).any(|word| word == "rust")),
            (Some(_), Some(_)) => block = None,
            (None, Some(true)) if !line.trim().is_empty() && !is_include(line) => {
                findings.push(file.finding(number, "Rust that nobody builds; include it from docs/examples"));
            }
            _ => {}
        }
    }
    findings
}

fn is_include(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("{{#include ") || line.starts_with("{{#rustdoc_include ")
}

/// What stands behind the three backticks, if the line is a fence.
fn fence(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("```").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_do_not_run_are_found() {
        for (path, text, expected) in [
            ("crates/a/src/lib.rs", "/// ```ignore\n/// ```", 1),
            ("crates/a/src/lib.rs", "//! ```rust,no_run\n//! ```", 1),
            ("crates/a/src/lib.rs", "/// ```compile_fail\n/// ```", 0),
            ("crates/a/src/lib.rs", "let text = \"```ignore\";", 0),
            ("docs/src/a.md", "```rust,ignore\n```", 1),
        ] {
            assert_eq!(rustdoc_examples_run(&Repository::of(&[(path, text)])).len(), expected, "{text}");
        }
    }

    #[test]
    fn chapters_may_only_include_rust() {
        for (text, expected) in [
            ("```rust\nlet a = 1;\n```", 1),
            ("```rust,noplayground\n{{#include ../examples/a.rs:b}}\n```", 0),
            ("```sql\nSELECT 1\n```\nlet us see", 0),
        ] {
            assert_eq!(
                chapters_include_their_code(&Repository::of(&[("docs/src/a.md", text)])).len(),
                expected,
                "{text}"
            );
        }
    }
}
