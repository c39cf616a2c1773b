//! Business writes and settlement in one transaction of the caller's.

use std::error::Error;
use std::time::Duration;

use claimstore::core::{Backoff, Claim};
use claimstore::prelude::*;
use claimstore::schema::claimstore_events;
use claimstore::{SqliteOptions, diesel::connection::SimpleConnection};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};

mod schema {
    diesel::table! {
        results (id) {
            id -> BigInt,
            job_id -> BigInt,
            total -> BigInt,
        }
    }
}
use schema::results;

#[derive(Serialize, Deserialize)]
struct AddUp {
    numbers: Vec<i64>,
}

impl JobKind for AddUp {
    const KIND: &'static str = "add_up";
}

// ANCHOR: settle
fn finish(store: &SqliteStore<Job>, claim: &Claim<i64>, total: i64) -> Result<(), Box<dyn Error>> {
    let mut conn = store.pool().get()?;
    let done = conn.immediate_transaction(|conn| {
        diesel::insert_into(results::table)
            .values((results::job_id.eq(claim.key()), results::total.eq(total)))
            .execute(conn)?;
        store.on(conn).settle(claim, &Verdict::complete()) // an Err rolls the insert back
    });
    drop(conn);
    if let Some(late) = done.as_ref().err().and_then(TxError::late_write) {
        store.record_late(late)?; // after the rollback
    }
    done?;
    Ok(())
}
// ANCHOR_END: settle

// ANCHOR: guard
fn add_while_mine(store: &SqliteStore<Job>, claim: &Claim<i64>, more: i64) -> Result<(), Box<dyn Error>> {
    let mut conn = store.pool().get()?;
    conn.immediate_transaction(|conn| {
        store.on(conn).guard(claim)?; // still mine, and it stays so until this transaction ends
        diesel::update(results::table)
            .filter(results::job_id.eq(claim.key()))
            .set(results::total.eq(results::total + more))
            .execute(conn)
            .map_err(TxError::from)
    })?;
    Ok(())
}
// ANCHOR_END: guard

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("work.db");
    let store = SqliteStore::<Job>::open_with(
        path.to_str().ok_or("not UTF-8")?,
        // One connection is enough: nothing takes a second one while it holds the first.
        SqliteOptions::default().connections(1),
    )?;
    store.migrate()?;
    store.pool().get()?.batch_execute(
        "CREATE TABLE results (id INTEGER PRIMARY KEY, job_id BIGINT NOT NULL, total BIGINT NOT NULL)",
    )?;

    store.enqueue(&[NewJob::of(&AddUp { numbers: vec![1, 2, 3] })?])?;
    let slow = claim(&store, "slow")?;
    // Its lease has run out long ago, as far as this recovery can see.
    expire(&store)?;
    let policy = RecoveryPolicy::default().grace(Duration::ZERO).backoff(Backoff::fixed(Duration::ZERO));
    assert_eq!(store.recover(&policy, 10)?.rows.len(), 1);

    let quick = claim(&store, "quick")?;
    finish(&store, &quick.claim, total(&quick.row)?)?;

    let refused = finish(&store, &slow.claim, -1).expect_err("the claim was recovered");
    println!("the late writer was refused: {refused}");
    assert!(add_while_mine(&store, &slow.claim, 100).is_err());

    let mut conn = store.pool().get()?;
    let written: Vec<i64> = results::table.select(results::total).load(&mut conn)?;
    assert_eq!(written, [6]);
    let late = claimstore_events::table.filter(claimstore_events::kind.eq("late_writer")).count();
    let late: i64 = late.get_result(&mut conn)?;
    assert_eq!(late, 1);
    drop(conn);

    // A holder may write as often as it likes, as long as the claim is its own.
    store.enqueue(&[NewJob::of(&AddUp { numbers: vec![] })?])?;
    let held = claim(&store, "holder")?;
    let row = (results::job_id.eq(held.claim.key()), results::total.eq(0));
    diesel::insert_into(results::table).values(row).execute(&mut store.pool().get()?)?;
    add_while_mine(&store, &held.claim, 4)?;
    store.complete(held.claim)?;
    let written: Vec<i64> = results::table.select(results::total).load(&mut store.pool().get()?)?;
    assert_eq!(written, [6, 4]);
    Ok(())
}

fn claim(store: &SqliteStore<Job>, worker: &str) -> Result<Claimed<i64, Job>, Box<dyn Error>> {
    let batch = store.claim_next(&ClaimRequest::new(&WorkerId::generate(worker)))?;
    batch.into_iter().next().ok_or_else(|| "nothing to claim".into())
}

fn total(job: &Job) -> Result<i64, Box<dyn Error>> {
    Ok(job.payload::<AddUp>()?.numbers.iter().sum())
}

fn expire(store: &SqliteStore<Job>) -> Result<(), Box<dyn Error>> {
    Ok(store.pool().get()?.batch_execute("UPDATE claimstore_jobs SET lease = 0 WHERE state = 'running'")?)
}
