//! What a row holds for the work is told to nobody.

use claimstore::core::{ClaimStore, RecoverStore, Verdict};
use claimstore::{ClaimOn, Job, JobKind, NewJob};
use serde::{Deserialize, Serialize};

use crate::capture::heard;
use crate::numbers::counted;
use crate::support::{Database, TestResult, at_once, on_both};
use crate::{anna, take};

on_both! {
    neither_payloads_nor_error_texts_are_told
}

const SECRET: &str = "swordfish";

#[derive(Serialize, Deserialize)]
struct Letter {
    text: String,
}

impl JobKind for Letter {
    const KIND: &'static str = "letter";
}

/// Everything that goes well and wrong with such rows, also with messages of the database that quote them.
fn work<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let letter = NewJob::of(&Letter { text: SECRET.to_owned() })?;
    store.enqueue(&vec![letter; 6])?;
    let ids = db.texts("SELECT CAST(id AS TEXT) AS text FROM claimstore_jobs ORDER BY id");
    let ids: Vec<i64> = ids.iter().map(|id| id.parse().expect("a number")).collect();
    store.complete(take(db, ids[0]))?;
    store.fail(take(db, ids[1]), SECRET)?;
    let late = take(db, ids[2]);
    db.expire(&ids[2..3]);
    store.recover(&at_once(), 1)?;
    assert!(store.fail(late, SECRET).is_err());
    let failing = take(db, ids[3]);
    assert!(store.settle_with(failing, Verdict::fail(SECRET), |_| Err::<(), _>(SECRET)).is_err());
    // A constraint that the failure's own text violates, and a table that is gone under a claim.
    let refused = take(db, ids[4]);
    db.run(&format!(
        "CREATE UNIQUE INDEX only_once ON claimstore_jobs (last_error) WHERE last_error = '{SECRET}'"
    ));
    assert!(store.fail(refused, SECRET).is_err());
    db.run("ALTER TABLE claimstore_jobs RENAME TO swordfish");
    assert!(store.claim_next(&anna()).is_err());
    Ok(())
}

fn neither_payloads_nor_error_texts_are_told<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let ((done, numbers), heard) = heard(|| counted(|| work(db)));
    done?;
    assert!(heard.spans.len() > 10, "{:?}", heard.names());
    assert!(heard.events.len() > 2, "{heard:?}");
    let told = format!("{heard:?} {numbers:?}");
    assert!(!told.contains(SECRET), "{told}");
    Ok(())
}
