//! `cargo xtask docs`: what the chapters of the book point at exists.

use std::path::{Component, Path, PathBuf};

use crate::root::root;
use crate::tidy::{Finding, Repository, SourceFile, report};

const BOOK: &str = "docs/src/";

pub(crate) fn run() -> Result<(), String> {
    let repository = Repository::read(root())?;
    let chapters =
        repository.files.iter().filter(|file| file.path.starts_with(BOOK) && file.path.ends_with(".md"));
    report(chapters.flat_map(|chapter| broken(chapter, &repository)).collect())
}

fn broken(chapter: &SourceFile, repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in chapter.lines() {
        for include in between(line, "{{#", "}}") {
            if let Err(reason) = check_include(chapter, include, repository) {
                findings.push(chapter.finding(number, reason));
            }
        }
        for link in between(line, "](", ")").into_iter().filter(|link| is_to_a_file(link)) {
            let target = link.split('#').next().unwrap_or_default();
            let place = beside(&chapter.path, target);
            if !repository.has(&place) && !root().join(&place).exists() {
                findings.push(chapter.finding(number, format!("link to {target}, which is not there")));
            }
        }
    }
    findings
}

/// `include path`, `include path:anchor` or `rustdoc_include …`; other directives are not ours.
fn check_include(chapter: &SourceFile, directive: &str, repository: &Repository) -> Result<(), String> {
    let Some(("include" | "rustdoc_include", target)) = directive.split_once(' ') else { return Ok(()) };
    let (target, anchor) = target.trim().split_once(':').map_or((target.trim(), None), |(t, a)| (t, Some(a)));
    let place = beside(&chapter.path, target);
    let file = repository.files.iter().find(|file| file.path == place);
    let file = file.ok_or_else(|| format!("include of {target}, which is not there"))?;
    let anchor =
        anchor.filter(|anchor| !anchor.is_empty() && !anchor.starts_with(|c: char| c.is_ascii_digit()));
    match anchor {
        Some(anchor)
            if !file.lines().any(|(_, line)| line.trim_end().ends_with(&format!("ANCHOR: {anchor}"))) =>
        {
            Err(format!("{target} has no anchor {anchor}"))
        }
        _ => Ok(()),
    }
}

fn is_to_a_file(link: &str) -> bool {
    !link.is_empty() && !link.contains("://") && !link.starts_with(['#', '<']) && !link.starts_with("mailto:")
}

/// The path of `target` as seen from the directory of `file`, from the root.
fn beside(file: &str, target: &str) -> String {
    let mut place = PathBuf::from(Path::new(file).parent().unwrap_or(Path::new("")));
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            Component::Normal(name) => place.push(name),
            _ => {}
        }
    }
    place.to_string_lossy().into_owned()
}

fn between<'a>(line: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    line.split(open).skip(1).filter_map(|rest| rest.split_once(close).map(|(inner, _)| inner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(chapter: &str) -> usize {
        let repository = Repository::of(&[
            ("docs/src/a.md", chapter),
            ("docs/src/b.md", "# B"),
            ("docs/examples/src/lib.rs", "// ANCHOR: claim\n// ANCHOR_END: claim\n"),
        ]);
        broken(&repository.files[0], &repository).len()
    }

    #[test]
    fn what_is_there_is_accepted() {
        assert_eq!(
            findings("[b](b.md#x) [w](https://example.org) {{#include ../examples/src/lib.rs:claim}}"),
            0
        );
    }

    #[test]
    fn what_is_not_there_is_found() {
        assert_eq!(findings("[c](c.md)"), 1);
        assert_eq!(findings("{{#include ../examples/src/gone.rs}}"), 1);
        assert_eq!(findings("{{#rustdoc_include ../examples/src/lib.rs:settle}}"), 1);
    }
}
