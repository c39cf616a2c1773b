//! An operator's desk: find what is stuck, and decide over it.

use std::error::Error;
use std::time::Duration;

use claimstore::core::{
    Action, Bulk, Count, OperateError, PageRequest, RenewError, Sighting, State, StoreError, Why,
};
use claimstore::prelude::*;
use diesel::connection::SimpleConnection;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct SendMail {
    to: String,
}

impl JobKind for SendMail {
    const KIND: &'static str = "send_mail";
    const QUEUE: &'static str = "mail";
    const MAX_FAILURES: i32 = 1;
}

// ANCHOR: explain
fn explain(store: &impl InspectStore<Key = i64>, id: i64) -> Result<Why, StoreError> {
    let explained = store.explain(&id)?;
    println!("{explained}"); // who, since when, until when, what happens next, which call frees it
    Ok(explained.why) // the same for a program
}
// ANCHOR_END: explain

// ANCHOR: page
fn dead_mail(store: &impl InspectStore<Key = i64>) -> Result<Vec<Sighting<i64>>, StoreError> {
    let mut ask = PageRequest::new(Filter::of(State::Dead).queue("mail")).limit(2);
    let mut dead = Vec::new();
    loop {
        let page = store.page(&ask)?;
        dead.extend(page.rows);
        match page.next {
            Some(next) => ask = ask.after(next),
            None => return Ok(dead),
        }
    }
}
// ANCHOR_END: page

// ANCHOR: retry
fn retry(
    store: &impl OperateStore<Key = i64>,
    seen: &Sighting<i64>,
    by: &Operator,
) -> Result<String, Box<dyn Error>> {
    Ok(match store.retry(&seen.key, seen.fence, by) {
        Ok(done) => format!("job {} was {} and waits again", done.key, done.from),
        Err(OperateError::Changed { now, .. }) => {
            format!("job {} is {} under fence {} by now: look again", now.key, now.state, now.fence)
        }
        Err(OperateError::Held { worker: Some(worker), .. }) => {
            format!("{worker} is at work on job {}: wait, or use force", seen.key)
        }
        Err(OperateError::Duplicate { id }) => format!("job {id} does this work already"),
        Err(other) => return Err(other.into()),
    })
}
// ANCHOR_END: retry

// ANCHOR: bulk
fn retry_dead_mail(store: &impl OperateStore<Key = i64>, by: &Operator) -> Result<usize, StoreError> {
    let mut rows = Bulk::new(Filter::of(State::Dead).queue("mail")).limit(2);
    let would = store.preview_all(&rows, &Action::Retry, by)?; // writes nothing
    println!("the first batch would retry {} jobs", would.rows.iter().filter(|(_, to)| to.is_ok()).count());

    let mut done = 0;
    loop {
        let batch = store.operate_all(&rows, &Action::Retry, by)?;
        done += batch.done.len();
        for (id, why) in &batch.refused {
            println!("job {id} stays as it is: {why}");
        }
        match batch.next {
            Some(last) => rows = rows.after(last),
            None => return Ok(done),
        }
    }
}
// ANCHOR_END: bulk

// ANCHOR: counts
fn counts(store: &impl InspectStore) -> Result<Count, StoreError> {
    let counts = store.counts(10_000)?;
    for (state, rows) in &counts.states {
        println!("{state}: {rows}"); // "812", "more than 10000", "about 1300000"
    }
    println!("the oldest due row has waited for {:?}", counts.oldest_wait());
    Ok(counts.of(State::Dead))
}
// ANCHOR_END: counts

fn main() -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    let mut ids = Vec::new();
    for to in ["anna", "bert", "cleo", "dora", "emil"] {
        let mail = NewJob::of(&SendMail { to: to.to_owned() })?.unique(to);
        ids.push(store.enqueue(&[mail])?[0].id());
    }
    let ask = ClaimRequest::new(&WorkerId::generate("mailer")).queue("mail").limit(10);
    for Claimed { claim, .. } in store.claim_next(&ask)? {
        store.fail(claim, "the relay is down")?;
    }

    // Everything is dead. One of them was meanwhile asked for anew, and its key is taken.
    let again = store.enqueue(&[NewJob::of(&SendMail { to: "anna".to_owned() })?.unique("anna")])?[0];
    assert!(again.is_new());
    let anna = Operator::new("anna@example.org", "ticket 4711: the relay is up again")?;
    assert_eq!(explain(&store, ids[1])?, Why::Ended(State::Dead));
    assert_eq!(counts(&store)?, Count::Exactly(5));
    let dead = dead_mail(&store)?;
    assert_eq!(dead.len(), 5);

    let of = |id| dead.iter().find(|row| row.key == id).ok_or("it is dead");
    let (first, second) = (of(ids[0])?, of(ids[1])?);
    assert_eq!(retry(&store, first, &anna)?, format!("job {} does this work already", again.id()));
    assert!(retry(&store, second, &anna)?.ends_with("waits again"));
    // The page is old by now. An action that shows an old fence changes nothing.
    assert!(retry(&store, second, &anna)?.contains("look again"));
    assert_eq!(retry_dead_mail(&store, &anna)?, 3);
    assert_eq!(counts(&store)?, Count::Exactly(1), "the one whose key is taken");

    // A worker is at work on one of them.
    let me = WorkerId::generate("mailer");
    let ask = ClaimRequest::new(&me).lease(Duration::from_secs(30));
    let mut claim = store.claim(&ids[1], &ask)?.claimed().ok_or("it waits")?.claim;
    assert_eq!(explain(&store, ids[1])?, Why::Held);
    let held = store.show(&ids[1])?.ok_or("it is there")?;
    assert!(retry(&store, &held, &anna)?.contains("is at work"));

    // ANCHOR: cancel
    let ended = store.cancel(&held.key, held.fence, &anna.clone().force())?;
    assert_eq!(ended.ended, Some(me)); // whose live claim that was

    // The holder learns of it when it renews or settles next.
    match store.renew(&mut claim, Duration::from_secs(30)) {
        Err(RenewError::Fenced(fenced)) => println!("stop the work: {fenced}"),
        other => return Err(format!("a cancelled claim was renewed: {other:?}").into()),
    }
    // ANCHOR_END: cancel
    assert!(store.complete(claim).is_err());

    // A worker has died. Recovery would find its row; whoever cannot wait for that says so.
    let gone = store.claim(&ids[2], &ask)?.claimed().ok_or("it waits")?.claim;
    drop(gone);
    let an_hour_ago = "UPDATE claimstore_jobs SET lease = lease - 3600000000";
    store.pool().get()?.batch_execute(an_hour_ago)?;
    assert_eq!(explain(&store, ids[2])?, Why::Abandoned);
    let abandoned = store.show(&ids[2])?.ok_or("it is there")?;
    let recover = Action::Recover(RecoveryPolicy::default());
    assert_eq!(store.operate(&ids[2], abandoned.fence, &recover, &anna)?.to, Some(State::Pending));
    Ok(())
}
