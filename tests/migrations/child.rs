//! A process of its own that migrates: this test binary again, with its orders in the environment.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use claimstore_migrations::run_postgres;
use diesel::PgConnection;
use diesel::connection::{Connection, InstrumentationEvent};

use crate::support::{PATIENT, TestResult};

const URL: &str = "CLAIMSTORE_MIGRATE_URL";
const STOP_AT: &str = "CLAIMSTORE_MIGRATE_STOP_AT";

#[test]
#[ignore = "other tests start it as a process of its own"]
fn migrate_in_a_process_of_its_own() -> TestResult {
    let Ok(url) = env::var(URL) else {
        return Ok(()); // Somebody runs the ignored tests too; by itself this is none.
    };
    let mut conn = PgConnection::establish(&url)?;
    if let Ok(stop_at) = env::var(STOP_AT) {
        stop_before(&mut conn, stop_at.parse()?);
    }
    println!("\nready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let report = run_postgres(&mut conn, PATIENT)?;
    println!("\nmigrated {}", report.versions.len());
    Ok(())
}

/// Stands still for ever before the n-th statement, BEGIN and COMMIT included.
fn stop_before(conn: &mut PgConnection, stop_at: u32) {
    let mut seen = 0;
    conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        let InstrumentationEvent::StartQuery { query, .. } = event else { return };
        seen += 1;
        if seen == stop_at {
            println!("\nstopped before {}", query.to_string().replace('\n', " "));
            loop {
                thread::park();
            }
        }
    });
}

/// The process, seen from outside.
pub(crate) struct Migrator {
    child: Child,
    gate: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Migrator {
    /// Starts it and waits until it is connected.
    pub(crate) fn start(url: &str, stop_at: Option<u32>) -> Migrator {
        let mut command = Command::new(env::current_exe().expect("this binary"));
        command.args(["--exact", "child::migrate_in_a_process_of_its_own", "--ignored", "--nocapture"]);
        command.env(URL, url).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(stop_at) = stop_at {
            command.env(STOP_AT, stop_at.to_string());
        }
        let mut child = command.spawn().expect("it starts");
        let gate = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut migrator = Migrator { child, gate, lines };
        migrator.line("ready");
        migrator
    }

    /// Lets it begin.
    pub(crate) fn go(&mut self) {
        self.gate.take();
    }

    /// The rest of the next line that begins with one of these words.
    fn line_of(&mut self, words: &[&'static str]) -> (&'static str, String) {
        let mut line = String::new();
        while self.lines.read_line(&mut line).expect("readable") > 0 {
            if let Some((word, rest)) =
                words.iter().find_map(|word| line.trim_end().strip_prefix(word).map(|rest| (*word, rest)))
            {
                return (word, rest.trim().to_owned());
            }
            line.clear();
        }
        panic!("the process ended without saying any of {words:?}");
    }

    fn line(&mut self, word: &'static str) -> String {
        self.line_of(&[word]).1
    }

    /// How many versions it applied; it must have ended well.
    pub(crate) fn migrated(mut self) -> usize {
        let versions = self.line("migrated").parse().expect("a number");
        std::io::copy(&mut self.lines, &mut std::io::sink()).expect("readable");
        assert!(self.child.wait().expect("it ends").success());
        versions
    }

    /// Waits until it stands still, kills it, and says before what. `None`: it came to its end first.
    pub(crate) fn kill_where_it_stops(mut self) -> Option<String> {
        let (word, rest) = self.line_of(&["stopped before", "migrated"]);
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
        (word == "stopped before").then_some(rest)
    }
}
