//! The commands of this repository, run as `cargo xtask COMMAND`.

mod bench;
mod ci;
mod consumers;
mod docs;
mod postgres;
mod root;
mod sql;
mod step;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [ARGUMENTS]   all tests with one PostgreSQL for all; ARGUMENTS go to cargo test
  ci [--list] [STEP] everything CI runs, in order; or only the steps whose names are given
  sql [--write]      compare the pinned statements with the code, or rewrite them
  tidy               the written rules that a program can check
  docs               the includes and links of the book
  bench [DATABASE]   rates as ratios to raw statements, on sqlite, postgres or both
  consumers          build and run the crates that use claimstore from outside the workspace
";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    }
    let command = arguments.remove(0);
    let done = match command.as_str() {
        "test" => test::run(&arguments),
        "ci" => ci::run(&arguments),
        "sql" => sql::run(&arguments),
        "tidy" => tidy::run(),
        "docs" => docs::run(),
        "bench" => bench::run(&arguments),
        "consumers" => consumers::run(),
        other => Err(format!("no command {other}\n{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask {command}: {reason}");
            ExitCode::FAILURE
        }
    }
}
