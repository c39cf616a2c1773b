//! One job per key.

use std::error::Error;
use std::time::Duration;

use claimstore::core::StoreError;
use claimstore::prelude::*;
use claimstore::{Enqueued, OnDuplicate};
use serde::{Deserialize, Serialize};

// ANCHOR: modes
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Reindex {
    shop: i64,
    why: String,
}

impl JobKind for Reindex {
    const KIND: &'static str = "reindex";
}

fn ask_for(why: &str, mode: OnDuplicate) -> Result<NewJob, claimstore::core::InputError> {
    let job = NewJob::of(&Reindex { shop: 7, why: why.to_owned() })?;
    Ok(job.unique("shop-7").on_duplicate(mode).delay(Duration::from_secs(30)))
}

fn enqueue(store: &SqliteStore<Job>, job: NewJob) -> Result<String, StoreError> {
    Ok(match store.enqueue(&[job])?[0] {
        Enqueued::New { id } => format!("job {id} is new"),
        Enqueued::Duplicate { id } => format!("job {id} is there, as it was"),
        Enqueued::Replaced { id } => format!("job {id} waits, with the new payload"),
        _ => "done".to_owned(),
    })
}
// ANCHOR_END: modes

fn main() -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    let why = |store: &SqliteStore<Job>| -> Result<String, Box<dyn Error>> {
        Ok(store.read(&1)?.ok_or("it is there")?.payload::<Reindex>()?.why)
    };
    let due = |store: &SqliteStore<Job>| -> Result<_, Box<dyn Error>> {
        Ok(store.show(&1)?.ok_or("it is there")?.due)
    };

    assert_eq!(enqueue(&store, ask_for("a new price", OnDuplicate::Keep)?)?, "job 1 is new");
    assert_eq!(enqueue(&store, ask_for("a new name", OnDuplicate::Keep)?)?, "job 1 is there, as it was");
    assert_eq!(why(&store)?, "a new price");

    let replaced = "job 1 waits, with the new payload";
    let sooner = ask_for("a recall", OnDuplicate::Replace)?.delay(Duration::from_secs(1));
    let at = due(&store)?;
    assert_eq!(enqueue(&store, sooner)?, replaced);
    assert_eq!(why(&store)?, "a recall");
    assert!(due(&store)? < at, "replacing may bring it forward");

    assert_eq!(enqueue(&store, ask_for("one more change", OnDuplicate::Debounce)?)?, replaced);
    let at = due(&store)?;
    let at_once = ask_for("and one more", OnDuplicate::Debounce)?.delay(Duration::ZERO);
    assert_eq!(enqueue(&store, at_once)?, replaced);
    assert_eq!(
        (why(&store)?.as_str(), due(&store)?),
        ("and one more", at),
        "debouncing only ever puts it off"
    );

    // ANCHOR: batch
    // The n-th answer belongs to the n-th job, as if they had been enqueued one after the other.
    let jobs = [ask_for("first", OnDuplicate::Keep)?.unique("shop-8"), ask_for("second", OnDuplicate::Keep)?];
    let answers = store.enqueue(&jobs)?;
    assert!(matches!(answers[..], [Enqueued::New { .. }, Enqueued::Duplicate { id: 1 }]));
    // ANCHOR_END: batch

    // A key is taken while the job runs, and free once it has ended.
    let now = ask_for("now", OnDuplicate::Replace)?.delay(Duration::ZERO);
    assert_eq!(enqueue(&store, now.clone())?, replaced);
    let ask = ClaimRequest::new(&WorkerId::generate("indexer"));
    let claimed = store.claim(&1, &ask)?.claimed().ok_or("it is due")?;
    assert_eq!(enqueue(&store, now.clone())?, "job 1 is there, as it was");
    store.complete(claimed.claim)?;
    assert!(enqueue(&store, now)?.ends_with("is new"));
    Ok(())
}
