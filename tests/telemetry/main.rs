//! What the stores tell of their calls: spans and numbers, on both databases.

mod book;
mod busy;
mod capture;
mod claims;
mod failures;
mod fenced;
mod numbers;
mod operators;
mod secrets;
mod settlements;
mod spans;
#[path = "../field/support/mod.rs"]
#[allow(dead_code, unused_imports)]
mod support;

use claimstore::core::{Claim, ClaimRequest, ClaimStore};
use claimstore::{ClaimOn, Job};

use support::{Database, ask, notes};

/// This many jobs that are due, by id.
fn due<B: Database>(db: &B, count: usize) -> Vec<i64>
where
    Job: ClaimOn<B::D>,
{
    db.store().enqueue(&notes(count)).expect("they can be written");
    let ids = db.texts("SELECT CAST(id AS TEXT) AS text FROM claimstore_jobs ORDER BY id");
    ids.iter().rev().take(count).rev().map(|id| id.parse().expect("a number")).collect()
}

fn anna() -> ClaimRequest {
    ask("anna")
}

/// So many claims of anna, over which nothing is told.
fn held<B: Database>(db: &B, count: usize) -> Vec<Claim<i64>>
where
    Job: ClaimOn<B::D>,
{
    due(db, count).iter().map(|id| take(db, *id)).collect()
}

fn take<B: Database>(db: &B, id: i64) -> Claim<i64>
where
    Job: ClaimOn<B::D>,
{
    ClaimStore::claim(db.store(), &id, &anna()).expect("the store works").claimed().expect("it is free").claim
}
