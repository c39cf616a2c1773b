//! A file holds one idea.

use super::{Finding, Repository};

/// Past this, a file is sure to hold two.
const MOST: usize = 500;

pub(super) fn files_stay_short(repository: &Repository) -> Vec<Finding> {
    let lengths = repository.rust().map(|file| (file, file.text.lines().count()));
    lengths
        .filter(|(_, lines)| *lines > MOST)
        .map(|(file, lines)| file.finding(0, format!("{lines} lines; split it before {MOST}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_past_the_limit_is_found() {
        let (fits, too_long) = ("\n".repeat(MOST), "\n".repeat(MOST + 1));
        let repository = Repository::of(&[("a.rs", &fits), ("b.rs", &too_long), ("c.md", &too_long)]);
        let found = files_stay_short(&repository);
        assert_eq!(found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["b.rs"]);
    }
}
