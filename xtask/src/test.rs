//! `cargo xtask test`: all tests of the workspace, with one PostgreSQL for all.

use crate::postgres;
use crate::root::cargo;
use crate::step;

/// Passes `arguments` on to `cargo test`. Without a package among them the whole workspace is meant.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let with_postgres = if names_a_package(&given) {
        postgres::built_alone()?
    } else {
        postgres::built_by(&whole_workspace(&["--no-run"], before_the_harness(&given)))?
    };
    let command = if names_a_package(&given) {
        cargo(&[&["test"], &given[..]].concat())
    } else {
        cargo(&whole_workspace(&[], &given))
    };
    step::run(&mut postgres::wrapped(&with_postgres, &command))
}

fn whole_workspace<'a>(first: &[&'a str], then: &[&'a str]) -> Vec<&'a str> {
    [&["test", "--workspace"], first, then].concat()
}

fn names_a_package(arguments: &[&str]) -> bool {
    before_the_harness(arguments).iter().any(|argument| {
        argument.starts_with("-p")
            || argument.starts_with("--package")
            || argument.starts_with("--manifest-path")
    })
}

/// Arguments after `--` are for the test programs.
fn before_the_harness<'a, 'b>(arguments: &'b [&'a str]) -> &'b [&'a str] {
    let end = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    &arguments[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_seen_in_each_spelling_but_not_behind_the_dashes() {
        for arguments in [&["-p", "a"][..], &["-pa"], &["--package=a"], &["x", "--package", "a"]] {
            assert!(names_a_package(arguments), "{arguments:?}");
        }
        assert!(!names_a_package(&["name", "--", "-p"]));
    }
}
