//! `cargo xtask sql [--write]`: the statements as they are sent, one file each.

use crate::root::cargo;
use crate::step;

/// Tells the test to rewrite the files where they differ.
const WRITE_VARIABLE: &str = "CLAIMSTORE_WRITE_SQL";

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let mut command = cargo(&["test", "--package=claimstore-tests", "--test=pinned"]);
    match arguments {
        [] => command.env_remove(WRITE_VARIABLE),
        [flag] if flag == "--write" => command.env(WRITE_VARIABLE, "1"),
        _ => return Err("usage: cargo xtask sql [--write]".to_owned()),
    };
    step::run(&mut command)
}
