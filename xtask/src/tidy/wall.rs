//! The two dialects share a crate, and a wall stands between them.

use super::{Finding, Repository};

/// The code of a dialect, and which words belong to the other.
type Side = (&'static str, fn(&str) -> bool);

const SIDES: [Side; 4] = [
    ("crates/claimstore-diesel/src/postgres", is_sqlite),
    ("crates/claimstore-diesel/src/verify/postgres", is_sqlite),
    ("crates/claimstore-diesel/src/sqlite", is_postgres),
    ("crates/claimstore-diesel/src/verify/sqlite", is_postgres),
];

/// The code of one dialect names nothing of the other; its comments may compare.
pub(super) fn the_dialects_do_not_meet(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (side, is_other) in SIDES {
        for file in repository.under(side).filter(|file| file.is_rust()) {
            for (number, line) in file.lines() {
                let code = line.split("//").next().unwrap_or_default();
                if let Some(word) = words(code).find(|word| is_other(word)) {
                    findings.push(file.finding(number, format!("names {word}, which is beyond the wall")));
                }
            }
        }
    }
    findings
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn is_sqlite(word: &str) -> bool {
    word.to_ascii_lowercase().contains("sqlite")
}

fn is_postgres(word: &str) -> bool {
    let begins_a_type =
        word.strip_prefix("Pg").is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase));
    begins_a_type || word == "pg" || word.to_ascii_lowercase().contains("postgres")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(side: &str, code: &str) -> usize {
        the_dialects_do_not_meet(&Repository::of(&[(&format!("crates/claimstore-diesel/src/{side}"), code)]))
            .len()
    }

    #[test]
    fn each_side_must_not_name_the_other() {
        assert_eq!(findings("postgres/claim.rs", "use crate::sqlite::claim;"), 1);
        assert_eq!(findings("postgres.rs", "fn f(c: &mut SqliteConnection) {}"), 1);
        assert_eq!(findings("sqlite/claim.rs", "use diesel::pg::Pg;"), 1);
        assert_eq!(findings("sqlite/claim.rs", "fn f(c: &mut PgConnection) {}"), 1);
    }

    #[test]
    fn comments_and_the_crate_around_them_may() {
        assert_eq!(findings("postgres/claim.rs", "//! SQLite does this in another way."), 0);
        assert_eq!(findings("sqlite/pragma.rs", "let page = 1; // unlike crate::postgres"), 0);
        assert_eq!(findings("lib.rs", "mod postgres; mod sqlite;"), 0);
    }
}
