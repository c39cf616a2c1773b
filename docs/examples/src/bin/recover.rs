//! Finding the claims of a process that is gone.

use std::error::Error;
use std::time::Duration;

use claimstore::core::{RecoveryAction, SettleCause};
use claimstore::prelude::*;
use diesel::connection::SimpleConnection;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Resize {
    image: String,
}

impl JobKind for Resize {
    const KIND: &'static str = "resize";
}

// ANCHOR: recover
fn recover(store: &impl RecoverStore<Key = i64>) -> Result<(), Box<dyn Error>> {
    let policy = RecoveryPolicy::default().grace(Duration::from_secs(5)).max_crashes(3);
    let recovered = store.recover(&policy, 500)?;
    for row in &recovered.rows {
        println!("job {} of {:?}: {:?}", row.key, row.worker, row.action);
    }
    for (key, why) in &recovered.failed {
        eprintln!("job {key} could not be recovered: {why}");
    }
    Ok(())
}
// ANCHOR_END: recover

fn main() -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    store.enqueue(&[NewJob::of(&Resize { image: "a.png".to_owned() })?])?;
    let gone = WorkerId::generate("resizer");
    let claimed =
        store.claim_next(&ClaimRequest::new(&gone))?.into_iter().next().ok_or("nothing to claim")?;

    let policy = RecoveryPolicy::default();
    assert!(store.preview(&policy, 10)?.rows.is_empty(), "its lease is good");
    // As if the process had been gone for an hour.
    let an_hour_ago = "UPDATE claimstore_jobs SET lease = lease - 3600000000";
    store.pool().get()?.batch_execute(an_hour_ago)?;

    // The lease has run out, and the row is still the holder's: nobody else gets it.
    assert!(store.claim_next(&ClaimRequest::new(&WorkerId::generate("other")))?.is_empty());
    let (expired, action) = store.preview(&policy, 10)?.rows.remove(0);
    assert_eq!(expired.worker, Some(gone));
    assert!(matches!(action, RecoveryAction::Requeue(_)));

    recover(&store)?;
    assert!(store.preview(&policy, 10)?.rows.is_empty());

    // The holder is back, and late.
    let refused = store.complete(claimed.claim).expect_err("the claim was recovered");
    assert!(matches!(refused.cause(), SettleCause::Fenced(_)));
    println!("{refused}");
    Ok(())
}
