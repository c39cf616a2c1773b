//! `cargo xtask bench`: rates as ratios to raw statements, and what a long history costs.

use crate::root::cargo;
use crate::{postgres, step};

/// `arguments` may name one database, `sqlite` or `postgres`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let with_postgres = postgres::built_alone()?;
    let mut command =
        vec!["bench", "--package", "claimstore-tests", "--bench", "rates", "--bench", "history", "--"];
    command.extend(arguments.iter().map(String::as_str));
    step::run(&mut postgres::wrapped(&with_postgres, &cargo(&command)))
}
