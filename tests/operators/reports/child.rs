//! A worker, and a retention, as processes of their own, which can be killed.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use claimstore::core::{ClaimRequest, ClaimStore, RetainStore, Retention};
use claimstore::{ClaimOn, Dialect, Job, PgStore, Store};

use crate::support::{Database, OnPostgres, OnSqlite, ask, pg_pool};

const AT: &str = "CLAIMSTORE_OPERATORS_AT";
const ROLE: &str = "CLAIMSTORE_OPERATORS_ROLE";

/// Where a child finds the rows.
pub(super) trait Reached: Database {
    /// The address of the file or schema.
    fn address(&self) -> String;
}

impl Reached for OnPostgres {
    fn address(&self) -> String {
        self.schema.url()
    }
}

impl Reached for OnSqlite {
    fn address(&self) -> String {
        self.file.url().to_owned()
    }
}

/// What it does once told to; it says one line for each thing.
fn play<D: Dialect>(store: &Store<Job, D>, role: &str)
where
    Job: ClaimOn<D>,
{
    let mut orders = std::io::stdin().lines();
    match role {
        "worker" => {
            let ask: ClaimRequest = ask("anna").lease(Duration::from_secs(600));
            let claim = store
                .claim_next(&ask)
                .expect("the store claims")
                .into_iter()
                .next()
                .expect("it is due")
                .claim;
            println!("\nclaimed {}", claim.key());
            if orders.next().is_some() {
                let late = store.complete(claim).is_err_and(|error| error.fenced().is_some());
                println!("\n{}", if late { "late" } else { "completed" });
            }
        }
        _ => {
            println!("\nready");
            let retention = Retention::keep_all().completed(Duration::ZERO);
            loop {
                let pruned = store.prune(&retention, 500).expect("the batch is short enough");
                println!("\npruned {}", pruned.rows);
                if !pruned.more {
                    return;
                }
            }
        }
    }
}

#[test]
#[ignore = "other tests start it as a process of its own"]
fn a_process_of_its_own() {
    // Somebody runs the ignored tests too; by itself this is none.
    let (Ok(at), Ok(role)) = (env::var(AT), env::var(ROLE)) else { return };
    if at.starts_with("postgres") {
        play(&PgStore::<Job>::new(pg_pool(&at, 1)), &role);
    } else {
        play(&claimstore::SqliteStore::<Job>::open(&at).expect("the file is there"), &role);
    }
}

/// Such a process, seen from outside; killed if it is still there at the end.
pub(super) struct Process {
    child: Child,
    orders: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(super) fn start(address: &str, role: &str) -> Process {
        let mut command = Command::new(env::current_exe().expect("this binary"));
        command.args(["--exact", "reports::child::a_process_of_its_own", "--ignored", "--nocapture"]);
        command.env(AT, address).env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let orders = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Process { child, orders, lines }
    }

    /// What follows this word, once a line begins with it.
    #[track_caller]
    pub(super) fn line(&mut self, word: &str) -> String {
        let mut lines = self.lines.by_ref().map(|line| line.expect("a text"));
        let line = lines.find_map(|line| line.strip_prefix(word).map(|rest| rest.trim().to_owned()));
        line.unwrap_or_else(|| panic!("the process ended before it said {word:?}"))
    }

    pub(super) fn tell(&mut self, order: &str) {
        let orders = self.orders.as_mut().expect("not closed yet");
        writeln!(orders, "{order}").and_then(|()| orders.flush()).expect("it listens");
    }

    /// As `kill -9`, and waits until it is gone.
    pub(super) fn kill(&mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it was started");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What a failed test has left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
