//! The four steps, on the job table that claimstore brings.

use std::error::Error;
use std::time::Duration;

use claimstore::prelude::*;
use claimstore::schema::claimstore_jobs;
use diesel::prelude::*;
use serde::{Deserialize, Serialize};

// ANCHOR: enqueue
#[derive(Serialize, Deserialize)]
struct EncodeVideo {
    id: i64,
}

impl JobKind for EncodeVideo {
    const KIND: &'static str = "encode_video";
}

fn enqueue(store: &SqliteStore<Job>) -> Result<i64, Box<dyn Error>> {
    let enqueued = store.enqueue(&[NewJob::of(&EncodeVideo { id: 7 })?])?;
    Ok(enqueued[0].id())
}
// ANCHOR_END: enqueue

fn encode(video: &EncodeVideo) -> Result<(), String> {
    if video.id == 7 { Ok(()) } else { Err(format!("there is no video {}", video.id)) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("work.db");
    let path = path.to_str().ok_or("not UTF-8")?;

    // ANCHOR: open
    let store = SqliteStore::<Job>::open(path)?; // or PgStore::<Job>::connect(url)
    store.migrate()?;
    // ANCHOR_END: open

    let id = enqueue(&store)?;

    // ANCHOR: claim
    let me = WorkerId::generate("encoder");
    let ask = ClaimRequest::new(&me).lease(Duration::from_secs(30));

    let claimed = match store.claim(&id, &ask)? {
        ClaimOutcome::Claimed(claimed) => claimed,
        ClaimOutcome::Refused(reason) => return Err(format!("job {id}: {reason:?}").into()),
    };
    // ANCHOR_END: claim

    // The second to ask is told why not, and by readiness there is nothing left.
    let other = ClaimRequest::new(&WorkerId::generate("other"));
    match store.claim(&id, &other)? {
        ClaimOutcome::Refused(Refusal::Held { worker, expired, .. }) => {
            assert_eq!((worker, expired), (Some(me), false));
        }
        unexpected => return Err(format!("claimed twice: {unexpected:?}").into()),
    }
    assert!(store.claim_next(&other)?.is_empty());

    // ANCHOR: settle
    let video: EncodeVideo = claimed.row.payload()?;
    match encode(&video) {
        Ok(()) => store.complete(claimed.claim)?,
        Err(why) => store.fail(claimed.claim, &why)?,
    };
    // ANCHOR_END: settle

    let state: String =
        claimstore_jobs::table.find(id).select(claimstore_jobs::state).first(&mut store.pool().get()?)?;
    assert_eq!(state, "completed");
    println!("job {id} is {state}");
    Ok(())
}
