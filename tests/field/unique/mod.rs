//! One job per key: what each way of enqueueing does, what stands in between, and what it costs.

mod modes;
mod numbers;
mod races;
mod ways;
mod wholes;

use claimstore::{ClaimOn, Enqueued, Job, NewJob};

use crate::support::{Database, note};

/// A job with a text, of which there is one at a time.
fn keyed(text: &str, key: &str) -> NewJob {
    note(text).unique(key)
}

fn new(id: i64) -> Enqueued {
    Enqueued::New { id }
}

fn duplicate(id: i64) -> Enqueued {
    Enqueued::Duplicate { id }
}

fn replaced(id: i64) -> Enqueued {
    Enqueued::Replaced { id }
}

/// Enqueues one job.
#[track_caller]
fn put<B: Database>(db: &B, job: NewJob) -> Enqueued
where
    Job: ClaimOn<B::D>,
{
    let told = db.store().enqueue(&[job]).expect("it enqueues");
    assert_eq!(told.len(), 1);
    told[0]
}

/// What a row was enqueued with, as one text.
fn asked<B: Database>(db: &B, id: i64) -> String {
    let columns = ["payload", "queue", "priority", "due", "max_failures", "max_crashes", "idempotent"];
    let columns = columns.map(|column| format!("CAST({column} AS TEXT)")).join(" || ' ' || ");
    db.texts(&format!("SELECT {columns} AS text FROM claimstore_jobs WHERE id = {id}")).remove(0)
}

/// One column of a row.
fn column<B: Database>(db: &B, id: i64, column: &str) -> String {
    db.texts(&format!("SELECT CAST({column} AS TEXT) AS text FROM claimstore_jobs WHERE id = {id}")).remove(0)
}
