//! The head of the queue, and the order of what comes back.

use claimstore::core::{ClaimStore, RecoverStore};
use claimstore::{ClaimOn, Job, PgStore};
use diesel::connection::SimpleConnection;

use crate::support::{
    Database, Ids, Note, OnPostgres, TestResult, ask, at_once, begin, commit, impatient, note, notes,
    on_both, pg_pool, roll_back,
};

on_both! {
    each_id_belongs_to_its_job
}

/// H25: the n-th id is the n-th job's, also where the database returns rows as it likes.
fn each_id_belongs_to_its_job<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let jobs: Vec<_> = (0..50).map(|n| note(&n.to_string()).priority((n * 37) % 11)).collect();
    let ids = db.store().enqueue(&jobs)?.ids();
    assert_eq!(ids.len(), jobs.len());
    let batch = db.store().claim_next(&ask("anna").limit(50))?;
    let order: Vec<_> =
        batch.claimed.iter().map(|one| (-one.row.priority, one.row.due, one.row.id)).collect();
    assert!(order.is_sorted(), "{order:?}");
    for one in &batch.claimed {
        let Note { text } = one.row.payload()?;
        assert_eq!(ids[text.parse::<usize>()?], one.row.id);
    }
    Ok(())
}

/// H26: A deletes or claims the head and does not commit. B does not wait, and gets the next row; no choice
/// is made from a snapshot and lost after a wait.
#[test]
fn a_head_row_that_is_being_taken_is_passed_over() -> TestResult {
    let db = OnPostgres::fresh(1);
    let store = db.store();
    let ids = store.enqueue(&notes(100))?.ids();
    // A wait would end in an error and not in a pass.
    let b = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    let mut a = db.connect();

    begin(&mut a);
    a.batch_execute(&format!("DELETE FROM claimstore_jobs WHERE id = {}", ids[0]))?;
    let got = b.claim_next(&ask("bert"))?;
    assert_eq!(*got.claimed[0].claim.key(), ids[1]);
    commit(&mut a);

    begin(&mut a);
    let first = store.on(&mut a).claim_next(&ask("anna").limit(3))?;
    assert_eq!(first.claimed.iter().map(|one| *one.claim.key()).collect::<Vec<_>>(), ids[2..5]);
    let got = b.claim_next(&ask("bert").limit(2))?;
    assert_eq!(got.claimed.iter().map(|one| *one.claim.key()).collect::<Vec<_>>(), ids[5..7]);
    roll_back(&mut a);
    // Given back, they are the head again.
    let got = b.claim_next(&ask("bert"))?;
    assert_eq!(*got.claimed[0].claim.key(), ids[2]);
    Ok(())
}

/// H26 for the sweep: rows that somebody is ending are passed over, the others of the batch are not.
#[test]
fn a_sweep_passes_over_rows_that_are_being_settled() -> TestResult {
    let db = OnPostgres::fresh(1);
    let store = db.store();
    let ids = store.enqueue(&notes(5))?.ids();
    let claims = store.claim_next(&ask("anna").limit(5))?.claimed;
    db.expire(&ids);
    let mut a = db.connect();
    begin(&mut a);
    store.on(&mut a).settle(&claims[0].claim, &claimstore::core::Verdict::complete())?;
    store.on(&mut a).guard(&claims[1].claim)?;
    let b = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    let recovered: Vec<i64> = b.recover(&at_once(), 10)?.rows.iter().map(|row| row.key).collect();
    assert_eq!(recovered, ids[2..]);
    commit(&mut a);
    assert_eq!((db.state(ids[0]), db.state(ids[1])), ("completed".to_owned(), "running".to_owned()));
    Ok(())
}
