//! Four processes of four threads each on one SQLite file, racing for single rows (H2).

use std::env;
use std::io::{BufRead, BufReader, Lines, StdinLock, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use claimstore::{Job, Store};
use claimstore_core::{Claim, ClaimRequest, ClaimStore, Refusal, State, Wait, WorkerId};
use claimstore_testkit::{Harness, Seed};
use claimstore_tests::harness::SqliteDb;
use claimstore_tests::sqlite::TestFile;
use diesel::sqlite::Sqlite;

const FILE: &str = "CLAIMSTORE_CONFORMANCE_FILE";
const PROCESSES: usize = 4;
const THREADS: usize = 4;
const ROUNDS: usize = 500;

type Jobs = Store<Job, Sqlite>;

/// A key by which all claim, or `next`.
fn claim_as_told(store: &Jobs, order: &str, ask: &ClaimRequest) -> Option<Claim<i64>> {
    let Ok(key) = order.parse::<i64>() else {
        let batch = store.claim_next(ask).expect("losing is not an error");
        return batch.into_iter().next().map(|claimed| claimed.claim);
    };
    let outcome = store.claim(&key, ask).expect("losing is not an error");
    let fair = |why: &Refusal| matches!(why, Refusal::Held { .. });
    assert!(outcome.refusal().is_none_or(fair), "{:?}", outcome.refusal());
    outcome.claimed().map(|claimed| claimed.claim)
}

#[test]
#[ignore = "another test starts it as a process of its own"]
fn race_in_a_process_of_its_own() {
    // Somebody runs the ignored tests too; by itself this is none.
    let Ok(file) = env::var(FILE) else { return };
    let store = Jobs::open(&file).expect("the file is there");
    println!("\nready");
    let orders: Lines<StdinLock<'_>> = std::io::stdin().lines();
    for order in orders {
        let (order, start) = (order.expect("an order"), Barrier::new(THREADS));
        let won: Vec<_> = std::thread::scope(|scope| {
            let racing = |_| {
                scope.spawn(|| {
                    let ask = ClaimRequest::new(&WorkerId::generate("racer"))
                        .lease(Duration::from_secs(600))
                        .wait(Wait::AtMost(Duration::from_secs(60)));
                    start.wait();
                    claim_as_told(&store, &order, &ask)
                })
            };
            let threads: Vec<_> = (0..THREADS).map(racing).collect();
            threads.into_iter().filter_map(|thread| thread.join().expect("no panic")).collect()
        });
        let fences: Vec<_> = won.iter().map(|claim| claim.fence().get().to_string()).collect();
        println!("\nwon {}", fences.join(" "));
    }
}

/// Such a process, seen from outside.
struct Racer {
    child: Child,
    orders: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn start(file: &TestFile) -> Racer {
        let mut command = Command::new(env::current_exe().expect("this binary"));
        command.args(["--exact", "processes::race_in_a_process_of_its_own", "--ignored", "--nocapture"]);
        command.env(FILE, file.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let orders = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut racer = Racer { child, orders, lines };
        racer.line("ready");
        racer
    }

    /// What follows this word, once a line begins with it.
    #[track_caller]
    fn line(&mut self, word: &str) -> String {
        let mut lines = self.lines.by_ref().map(|line| line.expect("a text"));
        let line = lines.find_map(|line| line.strip_prefix(word).map(|rest| rest.trim().to_owned()));
        line.unwrap_or_else(|| panic!("the process ended before it said {word:?}"))
    }

    fn tell(&mut self, order: &str) {
        let orders = self.orders.as_mut().expect("not closed yet");
        writeln!(orders, "{order}").and_then(|()| orders.flush()).expect("it listens");
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        // The end of its orders ends the process.
        self.orders.take();
        let ended = self.child.wait().expect("it was started");
        assert!(std::thread::panicking() || ended.success(), "a racer failed: {ended}");
    }
}

/// By key and by readiness in turn. The orders reach all processes at once, and a barrier holds the threads of
/// each until all four are there.
#[test]
fn one_row_is_won_by_one_thread_of_one_process() {
    let db = SqliteDb::<Job>::fresh();
    let mut racers: Vec<Racer> = (0..PROCESSES).map(|_| Racer::start(db.place())).collect();
    for round in 0..ROUNDS {
        let key = db.seed(Seed::pending());
        let order = if round % 2 == 0 { key.to_string() } else { "next".to_owned() };
        racers.iter_mut().for_each(|racer| racer.tell(&order));
        let won: Vec<String> = racers.iter_mut().map(|racer| racer.line("won")).collect();
        let won: Vec<&str> = won.iter().flat_map(|line| line.split_whitespace()).collect();
        let stored = db.read(&key).expect("the row");
        assert_eq!(won, [stored.fence.get().to_string()], "round {round}: {order}");
        assert_eq!(stored.state, State::Running);
    }
    assert_eq!(db.count_in(State::Running), ROUNDS);
}
