//! Claiming and completing in batches, with a thread beside it that deletes old rows, and without one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimstore::core::{ClaimRequest, ClaimStore, RetainStore, Retention, Verdict, WorkerId};
use claimstore::{ClaimOn, Dialect, Job, JobKind, NewJob, Store};

use crate::median;
use crate::rows::Rows;

/// A job that does nothing.
#[derive(serde::Serialize, serde::Deserialize)]
struct Nothing;

impl JobKind for Nothing {
    const KIND: &'static str = "nothing";
}

/// How retention goes on beside the claims.
#[derive(Debug, Clone, Copy)]
struct Pace {
    limit: usize,
    /// Between two batches.
    pause: Duration,
}

const PACES: [Pace; 5] = [
    Pace { limit: 1_000, pause: Duration::ZERO },
    Pace { limit: 500, pause: Duration::ZERO },
    Pace { limit: 1_000, pause: Duration::from_millis(100) },
    Pace { limit: 500, pause: Duration::from_millis(100) },
    Pace { limit: 100, pause: Duration::from_millis(20) },
];
const OLD: usize = 500_000;
const JOBS: usize = 40_000;
const BATCH: usize = 100;
const PAIRS: usize = 5;
/// Jobs complete within the run; the rows to delete are a year old.
const AGE: Duration = Duration::from_secs(86_400);

pub(crate) fn bench<D: Dialect>(backend: &str, store: &Store<Job, D>, rows: &dyn Rows)
where
    Job: ClaimOn<D>,
    Store<Job, D>: ClaimStore<Key = i64, Row = Job> + RetainStore + Sync,
{
    println!(
        "\n{backend}: jobs claimed and completed a second in batches of {BATCH}, alone and beside retention of \
         {OLD} rows, {PAIRS} pairs, median"
    );
    println!(
        "{:<42} {:>8} {:>8} {:>6} {:>9} {:>9} {:>8}  each ratio",
        "", "alone", "beside", "ratio", "deleted/s", "µs a row", "longest"
    );
    rows.completed(OLD);
    let mut left = OLD;
    for pace in PACES {
        let mut pairs = Vec::new();
        for n in 0..PAIRS {
            let mut measured = |pace| {
                refill(store, rows, &mut left);
                let run = run(store, pace);
                left -= run.deleted;
                run
            };
            // Who comes first changes, so that a table that grows favours neither.
            pairs.push(if n % 2 == 0 {
                let alone = measured(None);
                (alone, measured(Some(pace)))
            } else {
                let beside = measured(Some(pace));
                (measured(None), beside)
            });
        }
        tell(pace, &pairs);
    }
}

/// One run of all jobs.
struct Run {
    rate: f64,
    /// The longest time between two batches.
    longest: Duration,
    took: Duration,
    deleted: usize,
    deleting: Duration,
}

fn tell(pace: Pace, pairs: &[(Run, Run)]) {
    let ratios: Vec<f64> = pairs.iter().map(|(alone, beside)| beside.rate / alone.rate).collect();
    let alone = median(pairs.iter().map(|(alone, _)| alone.rate));
    let beside = median(pairs.iter().map(|(_, beside)| beside.rate));
    let deleted = median(pairs.iter().map(|(_, run)| run.deleted as f64 / run.took.as_secs_f64()));
    let a_row =
        median(pairs.iter().map(|(_, run)| run.deleting.as_secs_f64() * 1e6 / run.deleted.max(1) as f64));
    let longest = median(pairs.iter().map(|(_, run)| run.longest.as_secs_f64() * 1e3));
    let name = format!("{} at a time, {} ms between", pace.limit, pace.pause.as_millis());
    let ratio = median(ratios.iter().copied());
    let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    println!(
        "{name:<42} {alone:>8.0} {beside:>8.0} {ratio:>6.2} {deleted:>9.0} {a_row:>9.1} {longest:>5.0} ms  {}",
        ratios.join(" ")
    );
}

fn refill<D: Dialect>(store: &Store<Job, D>, rows: &dyn Rows, left: &mut usize)
where
    Job: ClaimOn<D>,
{
    if *left < OLD {
        rows.completed(OLD - *left);
        *left = OLD;
    }
    let jobs: Vec<_> = (0..JOBS).map(|_| NewJob::of(&Nothing).expect("it is JSON")).collect();
    for part in jobs.chunks(5_000) {
        store.enqueue(part).expect("enqueued");
    }
    rows.settle_down();
}

fn run<D: Dialect>(store: &Store<Job, D>, pace: Option<Pace>) -> Run
where
    Store<Job, D>: ClaimStore<Key = i64, Row = Job> + RetainStore + Sync,
{
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let retention = pace.map(|pace| {
            let over = &over;
            scope.spawn(move || delete(store, pace, over))
        });
        let started = Instant::now();
        let longest = drain(store);
        let took = started.elapsed();
        over.store(true, Ordering::Relaxed);
        let (deleted, deleting) =
            retention.map_or((0, Duration::ZERO), |thread| thread.join().expect("it deletes"));
        Run { rate: JOBS as f64 / took.as_secs_f64(), longest, took, deleted, deleting }
    })
}

fn drain<D: Dialect>(store: &Store<Job, D>) -> Duration
where
    Store<Job, D>: ClaimStore<Key = i64, Row = Job>,
{
    let ask = ClaimRequest::new(&WorkerId::generate("bench")).limit(BATCH);
    let mut longest = Duration::ZERO;
    loop {
        let started = Instant::now();
        let batch = store.claim_next(&ask).expect("claimed");
        if batch.is_empty() {
            return longest;
        }
        let done = batch.into_iter().map(|job| (job.claim, Verdict::Complete)).collect();
        store.settle_all(done).into_iter().for_each(|answer| {
            answer.expect("completed");
        });
        longest = longest.max(started.elapsed());
    }
}

/// How many rows went while the claims ran, and how long that took without the pauses.
fn delete<D: Dialect>(store: &Store<Job, D>, pace: Pace, over: &AtomicBool) -> (usize, Duration)
where
    Store<Job, D>: RetainStore,
{
    let retention = Retention::keep_all().completed(AGE);
    let (mut deleted, mut deleting) = (0, Duration::ZERO);
    while !over.load(Ordering::Relaxed) {
        let started = Instant::now();
        let pruned = store.prune(&retention, pace.limit).expect("pruned");
        deleting += started.elapsed();
        deleted += pruned.rows;
        // sleep: the pause between batches is what is measured here, as the book advises it.
        std::thread::sleep(pace.pause);
    }
    (deleted, deleting)
}
