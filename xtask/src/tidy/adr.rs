//! A decision that the book does not list is not found again.

use super::{Finding, Repository};

const BOOK: &str = "docs/src/";

/// Each file of `docs/src/adr` is linked from the summary.
pub(super) fn each_is_in_the_summary(repository: &Repository) -> Vec<Finding> {
    let summary = repository.file("docs/src/SUMMARY.md").map_or("", |file| file.text.as_str());
    let decisions = repository.under("docs/src/adr/").filter(|file| file.path.ends_with(".md"));
    decisions
        .filter(|file| {
            let link = file.path.strip_prefix(BOOK).unwrap_or(&file.path);
            !summary.contains(&format!("({link})")) && !summary.contains(&format!("(./{link})"))
        })
        .map(|file| file.finding(0, "is not in SUMMARY.md"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_decision_without_a_link_is_found() {
        let repository = Repository::of(&[
            ("docs/src/SUMMARY.md", "- [A fence of its own](adr/0001-fence.md)"),
            ("docs/src/adr/0001-fence.md", ""),
            ("docs/src/adr/0002-lease.md", ""),
        ]);
        let found = each_is_in_the_summary(&repository);
        assert_eq!(
            found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(),
            ["docs/src/adr/0002-lease.md"]
        );
    }
}
