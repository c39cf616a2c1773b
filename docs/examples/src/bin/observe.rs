//! Hearing what a store tells of itself.

use std::error::Error;

use claimstore::prelude::*;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Serialize, Deserialize)]
struct Resize {
    image: String,
}

impl JobKind for Resize {
    const KIND: &'static str = "resize";
}

// ANCHOR: set_up
fn observe() -> Result<Snapshotter, Box<dyn Error>> {
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::DEBUG) // the level of the spans
        .with_span_events(FmtSpan::CLOSE) // one line for each call, when it has ended
        .init();

    let recorder = DebuggingRecorder::new(); // or an exporter
    let numbers = recorder.snapshotter();
    recorder.install()?;
    claimstore::describe_metrics(); // units and meanings, once, after the recorder
    Ok(numbers)
}
// ANCHOR_END: set_up

fn main() -> Result<(), Box<dyn Error>> {
    let numbers = observe()?;
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    store.enqueue(&[NewJob::of(&Resize { image: "a.png".to_owned() })?])?;
    let ask = ClaimRequest::new(&WorkerId::generate("resizer"));
    for Claimed { claim, .. } in store.claim_next(&ask)? {
        store.complete(claim)?;
    }
    let claimed = numbers
        .snapshot()
        .into_vec()
        .into_iter()
        .find_map(|(key, _, _, value)| (key.key().name() == "claimstore_claimed_total").then_some(value));
    assert_eq!(claimed, Some(DebugValue::Counter(1)));
    Ok(())
}
