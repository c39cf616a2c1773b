//! Holding a queue back, and what becomes of its completed rows.

use std::error::Error;

use claimstore::core::{Pausable, StoreError, Why};
use claimstore::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Ping {
    host: String,
}

impl JobKind for Ping {
    const KIND: &'static str = "ping";
    const QUEUE: &'static str = "pings";
}

// ANCHOR: pause
fn hold(store: &impl QueueStore, by: &Operator) -> Result<(), StoreError> {
    if store.pause(&Pausable::queue("pings"), by)? {
        println!("no claim that begins from here on takes a row of it");
    }
    for set in store.queues()? {
        if let Some(pause) = set.pause {
            println!("{:?} is paused since {} by {}: {}", set.what, pause.since, pause.actor, pause.reason);
        }
    }
    Ok(())
}
// ANCHOR_END: pause

fn main() -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    let ping = || NewJob::of(&Ping { host: "example.org".to_owned() });
    let ids: Vec<i64> = store.enqueue(&[ping()?, ping()?, ping()?])?.iter().map(|job| job.id()).collect();
    let ask = ClaimRequest::new(&WorkerId::generate("pinger")).queue("pings");
    let anna = Operator::new("anna@example.org", "the network is being rewired")?;

    let held = store.claim_next(&ask)?.into_iter().next().ok_or("nothing to claim")?;
    hold(&store, &anna)?;
    assert!(!store.pause(&Pausable::queue("pings"), &anna)?, "it was paused before");
    assert!(store.claim_next(&ask)?.is_empty());
    assert_eq!(store.claim(&ids[1], &ask)?.refusal(), Some(&Refusal::Paused));
    assert_eq!(store.explain(&ids[1])?.why, Why::Paused);
    store.complete(held.claim)?; // held before the pause: it goes on

    // ANCHOR: unpause
    store.unpause(&Pausable::queue("pings"), &anna)?;
    // ANCHOR_END: unpause

    // A kind is held back in every queue.
    store.pause(&Pausable::kind(Ping::KIND), &anna)?;
    assert!(store.claim_next(&ask)?.is_empty());
    store.unpause(&Pausable::kind(Ping::KIND), &anna)?;

    let before = store.claim_next(&ask)?.into_iter().next().ok_or("nothing to claim")?;
    // ANCHOR: keep_completed
    // Millions of pings, and nobody asks about one that went well.
    store.keep_completed("pings", false, &anna)?;
    let after = store.claim_next(&ask)?.into_iter().next().ok_or("nothing to claim")?;
    assert!(after.claim.discards() && !before.claim.discards()); // by what was set when it was claimed
    // ANCHOR_END: keep_completed

    let (kept, gone) = (*before.claim.key(), *after.claim.key());
    let twin = store.resume(&after.claim.token())?;
    store.complete(before.claim)?;
    store.complete(after.claim)?;
    assert!(store.show(&kept)?.is_some() && store.show(&gone)?.is_none());
    // As if the answer had been lost: that the first try succeeded cannot be told any more.
    let refused = store.complete(twin).expect_err("the row is gone");
    assert!(matches!(refused.cause(), SettleCause::Fenced(_)));
    println!("{refused}");
    Ok(())
}
