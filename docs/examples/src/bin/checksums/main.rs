//! The main job: the SHA-256 of every file below a directory, computed by four worker processes, of which
//! one is killed and one is stopped in the middle of its work.
//!
//! ```text
//! cargo run --release -p claimstore-examples --bin checksums [-- DIRECTORY] [--postgres URL]
//! ```
//!
//! It ends with exit code 0 only if every file was completed exactly once, the killed worker's claim was
//! recovered, and the stopped worker's late result was refused. Otherwise the code is 1: also where a file
//! could not be read (its job has failed for good, and is named), and for an empty directory, which shows
//! nothing. 2 means that the job could not be run, 130 that it was interrupted.

#[cfg(unix)]
mod args;
#[cfg(unix)]
mod crew;
#[cfg(unix)]
mod database;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod orders;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod progress;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod script;
#[cfg(unix)]
mod sha256;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod worker;

/// Whatever went wrong, for people.
#[cfg(unix)]
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;

    let done = match args::read() {
        Ok(args::Command::Run { directory, server }) => script::run(&directory, server),
        Ok(args::Command::Work(assignment)) => worker::run(&assignment).map(|()| ExitCode::SUCCESS),
        Ok(args::Command::Help) => {
            print!("{}", args::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprint!("checksums: {why}\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|why| {
        eprintln!("checksums: {why}");
        if why.is::<watch::Interrupted>() { ExitCode::from(130) } else { ExitCode::from(2) }
    })
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    eprintln!("checksums: it kills and stops its own workers, which needs the signals of a Unix");
    std::process::ExitCode::from(2)
}
