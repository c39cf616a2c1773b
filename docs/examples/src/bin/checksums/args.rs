//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use claimstore::core::WorkerId;

use crate::place::Address;

pub(crate) const USAGE: &str = "\
usage: checksums [DIRECTORY] [--postgres URL]

  DIRECTORY        what to read; unless given, the repository this was built from
  --postgres URL   work in a schema of its own on this server; unless given, in an SQLite file

Exit code: 0 every file completed exactly once, with at least one claim recovered and one late writer
refused; 1 not so, or a file could not be read; 2 could not be run; 130 interrupted.
";

/// The hidden first argument of a worker process.
const WORK: &str = "__work";

pub(crate) enum Command {
    Help,
    Run { directory: PathBuf, server: Option<String> },
    Work(Assignment),
}

/// What a worker process is told at its start.
pub(crate) struct Assignment {
    pub(crate) worker: WorkerId,
    /// It holds its first claim, with the result ready, until it is told to go on.
    pub(crate) holds: bool,
    pub(crate) directory: PathBuf,
    pub(crate) address: Address,
}

impl Assignment {
    /// What [`read`] reads back. The address is not among it: it may hold a password.
    pub(crate) fn arguments(&self) -> [OsString; 4] {
        let holds = if self.holds { "holds" } else { "works" };
        [WORK.into(), self.worker.as_str().into(), holds.into(), self.directory.clone().into()]
    }
}

pub(crate) fn read() -> Result<Command, String> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == WORK).is_some() {
        let [Some(worker), Some(holds), Some(directory)] = [(); 3].map(|()| arguments.next()) else {
            return Err("a worker is started by this program only".to_owned());
        };
        let worker = WorkerId::new(worker.to_string_lossy()).map_err(|why| why.to_string())?;
        let address = Address::from_environment().ok_or("a worker needs an address")?;
        let (holds, directory) = (holds == "holds", directory.into());
        return Ok(Command::Work(Assignment { worker, holds, directory, address }));
    }
    let (mut directory, mut server, mut only_names) = (None, None, false);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--") if !only_names => only_names = true,
            Some("--help" | "-h") if !only_names => return Ok(Command::Help),
            Some("--postgres") if !only_names => {
                let url = arguments.next().ok_or("--postgres needs a URL")?;
                server = Some(url.into_string().map_err(|_| "the URL is not UTF-8")?);
            }
            Some(option) if option.starts_with('-') && !only_names => {
                return Err(format!("unknown option {option}"));
            }
            _ if directory.is_some() => return Err("more than one directory".to_owned()),
            _ => directory = Some(PathBuf::from(argument)),
        }
    }
    let directory = directory.unwrap_or_else(repository);
    Ok(Command::Run { directory, server })
}

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
