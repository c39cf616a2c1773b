//! `with-postgres COMMAND [ARGUMENTS]`: runs a command with one PostgreSQL for all its processes.
//!
//! The server is found as the tests find it, its address is handed down in the environment, and it is
//! stopped when the command ends. The exit code is the command's.

use std::process::{Command, ExitCode};

use claimstore_tests::postgres::{PROVIDER_VARIABLE, Server, URL_VARIABLE};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: with-postgres COMMAND [ARGUMENTS]");
        return ExitCode::from(2);
    };
    let server = match Server::start() {
        Ok(server) => server,
        Err(none) => {
            eprintln!("{none}");
            return ExitCode::FAILURE;
        }
    };
    let ended = Command::new(&program)
        .args(arguments)
        .env(URL_VARIABLE, server.url().in_full())
        // Should this server die, the children must fail, and not quietly start one each.
        .env(PROVIDER_VARIABLE, "url")
        .status();
    drop(server);
    match ended {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("with-postgres: cannot run {}: {error}", program.display());
            ExitCode::from(127)
        }
    }
}
