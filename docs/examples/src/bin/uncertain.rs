//! Deciding what became of work that may have been done.

use std::collections::HashSet;
use std::error::Error;

use claimstore::core::{Probed, Resolution, State, Why};
use claimstore::prelude::*;
use diesel::connection::SimpleConnection;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Charge {
    order: i64,
}

impl JobKind for Charge {
    const KIND: &'static str = "charge";
    const IDEMPOTENT: bool = false;
}

/// The provider's own books, by the number that each charge carries.
struct Provider {
    charged: HashSet<i64>,
    answers: bool,
}

impl Provider {
    fn was_charged(&self, order: i64) -> Option<bool> {
        self.answers.then(|| self.charged.contains(&order))
    }
}

// ANCHOR: probe
fn ask_the_provider(
    store: &impl OperateStore<Key = i64, Row = Job>,
    provider: &Provider,
    by: &Operator,
) -> Result<usize, Box<dyn Error>> {
    let mut resolved = 0;
    let mut after = None;
    loop {
        let round = store.probe(100, after.as_ref(), by, &mut |_, job| {
            let Ok(charge) = job.payload::<Charge>() else { return Probed::Unknown };
            match provider.was_charged(charge.order) {
                Some(true) => Probed::Done,
                Some(false) => Probed::NotDone,
                None => Probed::Unknown, // it stays uncertain, and is asked about in the next round
            }
        })?;
        resolved += round.resolved.len();
        for (id, why) in &round.failed {
            println!("job {id} could not be resolved: {why}");
        }
        match round.next {
            Some(last) => after = Some(last),
            None => return Ok(resolved),
        }
    }
}
// ANCHOR_END: probe

fn main() -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    let jobs = (1..=3).map(|order| NewJob::of(&Charge { order })).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<i64> = store.enqueue(&jobs)?.iter().map(|job| job.id()).collect();

    // Their worker was cut off in the middle of the work.
    let ask = ClaimRequest::new(&WorkerId::generate("till")).limit(3);
    let mut lost: Vec<_> = store.claim_next(&ask)?.into_iter().map(|claimed| claimed.claim).collect();
    let an_hour_ago = "UPDATE claimstore_jobs SET lease = lease - 3600000000";
    store.pool().get()?.batch_execute(an_hour_ago)?;
    assert_eq!(store.recover(&RecoveryPolicy::default(), 10)?.rows.len(), 3);

    // One of them comes back. It is refused, and what it wanted to say is kept.
    assert!(store.complete(lost.remove(0)).is_err());
    let clerk = Operator::new("clerk@example.org", "the bank's statement of today")?;
    // ANCHOR: resolve
    let explained = store.explain(&ids[0])?;
    println!("{explained}");
    let row = explained.row.ok_or("it is there")?;
    if explained.why == Why::Uncertain && explained.late.iter().any(|late| late.verb == "complete") {
        store.resolve(&row.key, row.fence, Resolution::Done, &clerk)?;
    }
    // ANCHOR_END: resolve
    assert_eq!(store.show(&ids[0])?.map(|row| row.state), Some(State::Completed));

    let probe = Operator::new("probe", "asked the provider")?;
    let mut provider = Provider { charged: HashSet::from([2]), answers: false };
    assert_eq!(ask_the_provider(&store, &provider, &probe)?, 0);
    provider.answers = true;
    assert_eq!(ask_the_provider(&store, &provider, &probe)?, 2);
    let states = ids.iter().map(|id| Ok(store.show(id)?.map(|row| row.state)));
    let states: Vec<Option<State>> = states.collect::<Result<_, Box<dyn Error>>>()?;
    // The last one was never charged, and is worked on once more.
    assert_eq!(states, [Some(State::Completed), Some(State::Completed), Some(State::Pending)]);
    Ok(())
}
