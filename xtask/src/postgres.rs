//! One PostgreSQL for all processes of a command, by the program `with-postgres` of the tests.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::root::{cargo, root};
use crate::step::in_words;

/// `command`, run by the program at `with_postgres`.
pub(crate) fn wrapped(with_postgres: &PathBuf, command: &Command) -> Command {
    let mut outer = Command::new(with_postgres);
    outer.arg(command.get_program()).args(command.get_args()).current_dir(root());
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(key, value),
            None => outer.env_remove(key),
        };
    }
    outer
}

/// Builds by this `cargo` command line, and says where `with-postgres` then is.
///
/// The build of the tests themselves makes it too, so that no dependency is built twice only because
/// this program alone would need fewer of its features.
pub(crate) fn built_by(arguments: &[&str]) -> Result<PathBuf, String> {
    let mut command = cargo(arguments);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("{} failed", in_words(&command)));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .find_map(executable)
        .ok_or_else(|| format!("{} built no with-postgres", in_words(&command)))
}

fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let is_it = message["reason"] == "compiler-artifact"
        && message["target"]["name"] == "with-postgres"
        && message["profile"]["test"] == false;
    is_it.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
}

/// Builds `with-postgres` and nothing beside it.
pub(crate) fn built_alone() -> Result<PathBuf, String> {
    built_by(&["build", "--package=claimstore-tests", "--bin=with-postgres"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_told_from_its_own_test() {
        let message = |test| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"name":"with-postgres"}},
                    "profile":{{"test":{test}}},"executable":"/t/with-postgres"}}"#
            )
        };
        assert_eq!(executable(&message(false)), Some(PathBuf::from("/t/with-postgres")));
        assert_eq!(executable(&message(true)), None);
        assert_eq!(executable("not json"), None);
    }
}
