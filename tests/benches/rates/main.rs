//! `cargo xtask bench`: how fast jobs are claimed and completed, as a ratio to raw statements.
//!
//! Ours and the raw client take turns on the same tables on the same machine, and the ratio is taken pair by
//! pair: the absolute rates are the disk's, and the machine is shared. The raw client sends the very
//! statements of the library's nodes, prepared: on PostgreSQL pgbench does, on SQLite rusqlite. In batches
//! the raw client fetches keys and fences alone, while the library reads whole rows: that ratio is strict.

mod postgres;
mod sqlite;
mod table;

use std::time::{Duration, Instant};

use claimstore::core::{ClaimRequest, ClaimStore, Verdict, WorkerId};
use claimstore::{Dialect, Job, JobKind, NewJob, Store};

use table::Table;

/// A job that does nothing.
#[derive(serde::Serialize, serde::Deserialize)]
struct Nothing {
    n: usize,
}

impl JobKind for Nothing {
    const KIND: &'static str = "nothing";
}

/// How many jobs, by how many threads, in batches of how many, claimed together with settling or apart.
#[derive(Debug, Clone, Copy)]
struct Run {
    jobs: usize,
    threads: usize,
    batch: usize,
    together: bool,
}

impl Run {
    fn name(self) -> String {
        let how = if self.together { ", settle_and_claim" } else { "" };
        format!("batches of {}, {} connections{how}", self.batch, self.threads)
    }

    fn rate(self, took: Duration) -> f64 {
        self.jobs as f64 / took.as_secs_f64()
    }
}

const RUNS: [Run; 7] = [
    Run { jobs: 4_000, threads: 1, batch: 1, together: false },
    Run { jobs: 8_000, threads: 16, batch: 1, together: false },
    Run { jobs: 100_000, threads: 2, batch: 100, together: false },
    Run { jobs: 200_000, threads: 2, batch: 1_000, together: false },
    Run { jobs: 4_000, threads: 1, batch: 1, together: true },
    Run { jobs: 8_000, threads: 16, batch: 1, together: true },
    Run { jobs: 100_000, threads: 2, batch: 100, together: true },
];

/// Pairs of each run; the median is told.
const PAIRS: usize = 3;

fn main() {
    // `cargo bench` hands flags to every bench; the one word that is ours chooses the database.
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        sqlite::bench();
    }
    if wanted("postgres") {
        postgres::bench();
    }
}

fn jobs(n: usize) -> Vec<NewJob> {
    (0..n).map(|n| NewJob::of(&Nothing { n }).expect("a number is JSON")).collect()
}

fn fill<D: Dialect>(store: &Store<Job, D>, run: Run)
where
    Job: claimstore::ClaimOn<D>,
{
    for part in jobs(run.jobs).chunks(5_000) {
        store.enqueue(part).expect("enqueued");
    }
}

/// Claims and completes everything, each thread its share, and tells how long it took.
fn drain<D: Dialect>(store: &Store<Job, D>, run: Run) -> Duration
where
    Job: claimstore::ClaimOn<D>,
    Store<Job, D>: Sync,
{
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..run.threads {
            scope.spawn(|| {
                let ask = ClaimRequest::new(&WorkerId::generate("bench")).limit(run.batch);
                if run.together { drain_together(store, &ask) } else { drain_apart(store, &ask) }
            });
        }
    });
    started.elapsed()
}

fn drain_apart<D: Dialect>(store: &Store<Job, D>, ask: &ClaimRequest)
where
    Job: claimstore::ClaimOn<D>,
{
    loop {
        let batch = store.claim_next(ask).expect("claimed");
        match batch.len() {
            0 => return,
            1 => {
                for job in batch {
                    store.complete(job.claim).expect("completed");
                }
            }
            _ => {
                let done = batch.into_iter().map(|job| (job.claim, Verdict::Complete)).collect();
                store.settle_all(done).into_iter().for_each(|answer| {
                    answer.expect("completed");
                });
            }
        }
    }
}

fn drain_together<D: Dialect>(store: &Store<Job, D>, ask: &ClaimRequest)
where
    Job: claimstore::ClaimOn<D>,
{
    let mut done = Vec::new();
    loop {
        let step = store.settle_and_claim(std::mem::take(&mut done), ask);
        step.settled.into_iter().for_each(|answer| {
            answer.expect("completed");
        });
        done = step.claimed.expect("claimed").into_iter().map(|job| (job.claim, Verdict::Complete)).collect();
        if done.is_empty() {
            return;
        }
    }
}

/// Ours and raw in turn.
fn pairs(
    table: &mut Table,
    run: Run,
    mut ours: impl FnMut(Run) -> Duration,
    mut raw: impl FnMut(Run) -> Duration,
) {
    let pairs = (0..PAIRS).map(|_| (run.rate(ours(run)), run.rate(raw(run)))).collect();
    table.row(&run.name(), pairs);
}
