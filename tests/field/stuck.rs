//! Stuck and never recovered.

use std::time::Duration;

use claimstore::core::{ClaimStore, RecoverStore, Verdict};
use claimstore::{ClaimOn, Job};
use diesel::connection::SimpleConnection;

use crate::support::{Database, Ids, TestResult, ask, at_once, notes, on_both};

on_both! {
    no_statement_can_store_a_running_row_without_a_lease
    no_way_to_end_a_claim_leaves_it_running_without_a_lease
}

/// H10: such a row could be neither claimed nor recovered.
fn no_statement_can_store_a_running_row_without_a_lease<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let ids = db.store().enqueue(&notes(2))?.ids();
    let claim = db.store().claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let before = (db.row(ids[0]), db.row(ids[1]));
    let mut conn = db.connect();
    for set in [
        format!("lease = NULL WHERE id = {}", ids[0]),
        format!("worker = NULL WHERE id = {}", ids[0]),
        format!("state = 'running' WHERE id = {}", ids[1]),
        format!("state = 'running', worker = 'bert' WHERE id = {}", ids[1]),
        format!("state = 'pending' WHERE id = {}", ids[0]),
        format!("lease = {} WHERE id = {}", B::now_plus(60), ids[1]),
    ] {
        let refused = conn.batch_execute(&format!("UPDATE claimstore_jobs SET {set}"));
        let error = refused.expect_err(&set).to_string();
        assert!(error.contains("claimstore_jobs_held"), "{set}: {error}");
    }
    assert_eq!((db.row(ids[0]), db.row(ids[1])), before);
    db.store().complete(claim)?;
    Ok(())
}

fn no_way_to_end_a_claim_leaves_it_running_without_a_lease<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(8))?.ids();
    let verdicts = [
        Verdict::complete(),
        Verdict::release(),
        Verdict::fail("no"),
        Verdict::fail_for_good("never"),
        Verdict::snooze(Duration::from_secs(9)),
    ];
    for (id, verdict) in ids.iter().zip(verdicts) {
        let claim = store.claim(id, &ask("anna"))?.claimed().expect("it is free").claim;
        store.settle(claim, verdict)?;
    }
    // A claim that is dropped, one recovered after it, and one whose handler panicked.
    drop(store.claim(&ids[5], &ask("anna"))?);
    drop(store.claim(&ids[6], &ask("anna"))?);
    db.expire(&ids[6..7]);
    store.recover(&at_once(), 10)?;
    let claim = store.claim(&ids[7], &ask("anna"))?.claimed().expect("it is free").claim;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _held = claim;
        panic!("the handler");
    }));
    assert!(panicked.is_err());
    assert_eq!(db.count("claimstore_jobs WHERE state = 'running' AND lease IS NULL"), 0);
    assert_eq!(db.count("claimstore_jobs WHERE state <> 'running' AND lease IS NOT NULL"), 0);
    // Whatever still runs is found once its lease is over.
    assert_eq!((db.state(ids[5]), db.state(ids[7])), ("running".to_owned(), "running".to_owned()));
    db.expire(&[ids[5], ids[7]]);
    assert_eq!(store.recover(&at_once(), 10)?.rows.len(), 2);
    Ok(())
}
