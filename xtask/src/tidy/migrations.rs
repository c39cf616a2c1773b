//! Both databases go through the same versions.

use std::collections::BTreeSet;

use super::{Finding, Repository};

const FOLDERS: [&str; 2] = ["migrations/postgres/", "migrations/sqlite/"];
const HALVES: [&str; 2] = ["up.sql", "down.sql"];

/// A version exists for both, with a way up and a way down.
pub(super) fn both_folders_hold_the_same_versions(repository: &Repository) -> Vec<Finding> {
    let all: BTreeSet<&str> = FOLDERS.iter().flat_map(|folder| versions(repository, folder)).collect();
    let mut findings = Vec::new();
    for folder in FOLDERS {
        for version in &all {
            for half in HALVES {
                let path = format!("{folder}{version}/{half}");
                if !repository.has(&path) {
                    findings.push(Finding { path, line: 0, what: "is missing".to_owned() });
                }
            }
        }
    }
    findings
}

fn versions<'a>(repository: &'a Repository, folder: &'a str) -> impl Iterator<Item = &'a str> {
    repository.under(folder).filter_map(move |file| Some(file.path.strip_prefix(folder)?.split_once('/')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [(&str, &str); 4] = [
        ("migrations/postgres/01_jobs/up.sql", ""),
        ("migrations/postgres/01_jobs/down.sql", ""),
        ("migrations/sqlite/01_jobs/up.sql", ""),
        ("migrations/sqlite/01_jobs/down.sql", ""),
    ];

    #[test]
    fn what_one_folder_lacks_is_found() {
        assert_eq!(both_folders_hold_the_same_versions(&Repository::of(&ONE)), []);
        for missing in 0..ONE.len() {
            let mut files = ONE.to_vec();
            let (gone, _) = files.remove(missing);
            let findings = both_folders_hold_the_same_versions(&Repository::of(&files));
            assert_eq!(findings.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), [gone]);
        }
    }
}
