//! The provider that starts a throwaway cluster from server programs installed here.
//!
//! The cluster runs with `fsync` off: it lives as long as one run of the tests, and nobody reads it
//! after a crash of the machine. What a commit means to other connections does not depend on that.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io};

use super::account::Account;
use super::programs;
use super::server::{Offer, one_line};
use super::url::ServerUrl;
use super::watchdog::Watchdog;
use crate::scratch;

/// Stops the server under `$1` with the `pg_ctl` command line that follows, and removes all of it. An
/// `initdb` that outlived us may still be writing, hence the repetition.
const STOP_AND_REMOVE: &str = r#"
directory=$1; shift
"$@" stop -m immediate -w -t 30 -D "$directory/data"
for attempt in 1 2 3 4 5; do
    rm -rf -- "$directory" && sleep 0.2
    [ -e "$directory" ] || exit 0
    sleep 1
done"#;

/// Another process may take the free port between our look and the server's start.
const PORTS_TO_TRY: usize = 5;

pub(super) fn offer() -> Result<Offer, String> {
    let programs = programs::of_the_server()?;
    let (cluster, watchdog) = Cluster::initialised(programs).map_err(|reason| one_line(&reason))?;
    let port = cluster.started().map_err(|reason| one_line(&reason))?;
    Ok(Offer {
        url: ServerUrl::parse(&format!(
            "postgres://postgres:{}@127.0.0.1:{port}/postgres",
            cluster.password
        ))?,
        provider: "local cluster".to_owned(),
        keeper: Some(Box::new(watchdog)),
        patience: Duration::from_secs(30),
    })
}

struct Cluster {
    programs: PathBuf,
    directory: PathBuf,
    account: Account,
    password: String,
}

impl Cluster {
    /// Makes the directory, then whatever removes it again, then its content.
    fn initialised(programs: PathBuf) -> Result<(Self, Watchdog), String> {
        let directory = env::temp_dir().join(scratch::name());
        fs::create_dir(&directory)
            .map_err(|error| format!("no directory {}: {error}", directory.display()))?;
        let account = Account::beside(&directory)?;
        let mut undo = vec![OsString::from(&directory)];
        undo.extend(account.words(&programs.join("pg_ctl")));
        let watchdog = Watchdog::afterwards(STOP_AND_REMOVE, &undo)
            .map_err(|error| format!("no shell to clean up afterwards: {error}"))?;

        let password: String = std::iter::repeat_with(fastrand::alphanumeric).take(24).collect();
        let cluster = Self { programs, directory, account, password };
        cluster.run_initdb()?;
        Ok((cluster, watchdog))
    }

    fn run_initdb(&self) -> Result<(), String> {
        let password_file = self.directory.join("password");
        self.write_for_the_server(&password_file)
            .map_err(|error| format!("cannot prepare {}: {error}", self.directory.display()))?;
        let mut initdb = self.account.command(&self.programs.join("initdb"));
        initdb
            .args([
                "--username=postgres",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ])
            .arg(argument("--pwfile=", &password_file))
            .arg(argument("--pgdata=", &self.data()));
        run("initdb", &mut initdb)
    }

    fn write_for_the_server(&self, password_file: &Path) -> io::Result<()> {
        fs::write(password_file, &self.password)?;
        self.account.give(password_file)?;
        self.account.give(&self.directory)
    }

    /// Starts the server on a free port, which it answers.
    fn started(&self) -> Result<u16, String> {
        let settings = self.data().join("postgresql.conf");
        let original = fs::read_to_string(&settings).map_err(|error| error.to_string())?;
        let log = self.directory.join("log");
        let mut reason = String::new();
        for _ in 0..PORTS_TO_TRY {
            let port = free_port().map_err(|error| format!("no free port: {error}"))?;
            fs::write(&settings, format!("{original}\n{}", settings_for(port)))
                .map_err(|error| error.to_string())?;
            let mut start = self.account.command(&self.programs.join("pg_ctl"));
            start.args(["start", "--silent", "--wait", "--timeout=60"]);
            start.arg(argument("--log=", &log)).arg(argument("--pgdata=", &self.data()));
            match run("pg_ctl start", &mut start) {
                Ok(()) => return Ok(port),
                Err(error) => reason = format!("{error}; its log: {}", programs::end_of(&log)),
            }
        }
        Err(reason)
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}

fn settings_for(port: u16) -> String {
    format!(
        "port = {port}\n\
         listen_addresses = '127.0.0.1'\n\
         unix_socket_directories = ''\n\
         max_connections = 300\n\
         fsync = off\n\
         full_page_writes = off\n\
         lc_messages = 'C'\n"
    )
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn argument(flag: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(flag);
    argument.push(value);
    argument
}

fn run(name: &str, command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr)))
}
