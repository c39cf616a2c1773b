//! A sweep in a process that does not know what it sweeps.

use claimstore::core::{ClaimStore, RecoverStore, State};
use claimstore::{ClaimOn, Job, JobKind};

use crate::bench::{due, take};
use crate::support::{Database, Note, TestResult, at_once, on_both};

on_both! {
    a_sweep_by_a_process_that_does_not_know_the_kind_queues_it_again
}

/// H13: rows of another service, with a payload that this one could not read. What becomes of them is decided by
/// what the rows say of themselves, not by what is known here.
fn a_sweep_by_a_process_that_does_not_know_the_kind_queues_it_again<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let ids = due(db, 4);
    let [plain, spent, unsafe_one, known] = ids[..] else { panic!("four jobs") };
    ids.iter().for_each(|id| drop(take(db, *id, "the other service")));
    db.run(&format!(
        "UPDATE claimstore_jobs SET kind = 'of_another_service', payload = 'not even json' WHERE id <> {known}"
    ));
    db.run(&format!("UPDATE claimstore_jobs SET max_crashes = 2, crashes = 1 WHERE id = {spent}"));
    db.run(&format!("UPDATE claimstore_jobs SET idempotent = FALSE WHERE id = {unsafe_one}"));
    db.expire(&ids);
    let swept = db.store().recover(&at_once(), 10)?;
    assert_eq!((swept.rows.len(), swept.left, swept.failed.len()), (4, 0, 0));
    let states: Vec<String> = [plain, spent, unsafe_one, known].iter().map(|id| db.state(*id)).collect();
    assert_eq!(states, ["pending", "dead", "uncertain", "pending"]);
    // The service that knows it finds it as it was.
    let claimed = db.store().claim_next(&crate::support::ask("the other service"))?.into_iter().next();
    let row = claimed.expect("it is due").row;
    assert_eq!(
        (row.id, row.kind.as_str(), row.payload.as_str()),
        (plain, "of_another_service", "not even json")
    );
    assert!(row.payload::<Note>().is_err() && row.kind != Note::KIND);
    assert_eq!(swept.count(State::Pending), 2);
    Ok(())
}
