//! What is remembered of a row, and for how long.

use std::error::Error;
use std::time::Duration;

use claimstore::core::{Backoff, Happened, History, Retention, RetryPolicy, StoreError};
use claimstore::prelude::*;
use diesel::connection::SimpleConnection;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Print {
    page: i64,
}

impl JobKind for Print {
    const KIND: &'static str = "print";
}

// ANCHOR: history
fn tell(store: &impl OperateStore<Key = i64>, id: i64) -> Result<Vec<String>, StoreError> {
    let mut told = Vec::new();
    for event in store.history(&id, 100)? {
        told.push(event.what.kind().to_owned());
        match event.what {
            Happened::Failed { to, error, tally } => {
                println!("{}: failed, {} times by now, and is {to}: {error:?}", event.at, tally.failures);
            }
            Happened::Operated { verb, actor, reason, .. } => {
                println!("{}: {verb} by {actor}: {reason}", event.at);
            }
            other => println!("{}: {other:?}", event.at),
        }
    }
    told.reverse(); // the latest came first
    Ok(told)
}
// ANCHOR_END: history

// ANCHOR: retention
fn tidy_up(store: &impl RetainStore) -> Result<usize, StoreError> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let keep = Retention::keep_all()
        .completed(7 * DAY)
        .cancelled(30 * DAY)
        .dead(90 * DAY) // what has no age is kept for ever
        .events(90 * DAY);
    let mut deleted = 0;
    loop {
        let batch = store.prune(&keep, 500)?; // one short transaction a state
        deleted += batch.rows + batch.events;
        if !batch.more {
            return Ok(deleted);
        }
    }
}
// ANCHOR_END: retention

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("work.db");
    let path = path.to_str().ok_or("not UTF-8")?;
    let at_once = RetryPolicy { backoff: Backoff::fixed(Duration::ZERO), ..RetryPolicy::default() };

    let store = SqliteStore::<Job>::open(path)?.retry_policy(at_once);
    store.migrate()?;
    // ANCHOR: all
    let telling = SqliteStore::<Job>::open(path)?.recording(History::All);
    // ANCHOR_END: all

    let ask = ClaimRequest::new(&WorkerId::generate("printer"));
    let anna = Operator::new("anna@example.org", "ticket 4711: there is paper again")?;

    // What went well leaves nothing behind by default.
    let good = store.enqueue(&[NewJob::of(&Print { page: 1 })?])?[0].id();
    store.complete(next(&store, &ask)?)?;
    assert_eq!(tell(&store, good)?, [""; 0]);

    // What did not, does.
    let bad = store.enqueue(&[NewJob::of(&Print { page: 2 })?.max_failures(2)])?[0].id();
    for _ in 0..2 {
        store.fail(next(&store, &ask)?, "there is no paper")?;
    }
    let dead = store.show(&bad)?.ok_or("it is there")?;
    store.retry(&bad, dead.fence, &anna)?;
    store.complete(next(&store, &ask)?)?;
    assert_eq!(tell(&store, bad)?, ["failed", "failed", "operated"]);

    let told = telling.enqueue(&[NewJob::of(&Print { page: 3 })?])?[0].id();
    telling.complete(next(&telling, &ask)?)?;
    assert_eq!(tell(&store, told)?, ["enqueued", "claimed", "settled"]);

    assert_eq!(tidy_up(&store)?, 0, "nothing is old yet");
    let a_hundred_days_ago = "UPDATE claimstore_jobs SET finished_at = finished_at - 8640000000000;
                              UPDATE claimstore_events SET at = at - 8640000000000";
    store.pool().get()?.batch_execute(a_hundred_days_ago)?;
    assert_eq!(tidy_up(&store)?, 9, "three jobs and six events");
    Ok(())
}

fn next(store: &SqliteStore<Job>, ask: &ClaimRequest) -> Result<Claim<i64>, Box<dyn Error>> {
    let claimed = store.claim_next(ask)?.into_iter().next();
    Ok(claimed.ok_or("nothing to claim")?.claim)
}
