//! While a job runs, and each way back.

use std::time::Duration;

use claimstore::core::{ClaimStore, RecoverStore, Verdict};
use claimstore::{ClaimOn, Job, OnDuplicate};

use super::{asked, duplicate, keyed, new, put};
use crate::support::{Database, TestResult, ask, at_once, on_both};

on_both! {
    a_key_is_kept_on_each_way_back
    an_uncertain_job_has_its_key
    a_key_is_free_once_its_job_has_ended
}

const MODES: [OnDuplicate; 3] = [OnDuplicate::Keep, OnDuplicate::Replace, OnDuplicate::Debounce];

/// While the row is running or uncertain: a duplicate in each mode, alone and in a batch, and untouched.
fn is_left_alone<B: Database>(db: &B, id: i64, key: &str)
where
    Job: ClaimOn<B::D>,
{
    let before = (asked(db, id), db.row(id));
    for mode in MODES {
        let job = keyed("second", key).priority(9).on_duplicate(mode);
        assert_eq!(put(db, job.clone()), duplicate(id), "{mode:?}");
        let both = db.store().enqueue(&[job.clone(), job]).expect("it enqueues");
        assert_eq!(both, [duplicate(id), duplicate(id)], "{mode:?}");
    }
    assert_eq!((asked(db, id), db.row(id)), before);
}

/// H7: the first one runs, a second one is enqueued, and the first goes back to waiting. The index is never in
/// the way, and the row is claimed once more.
fn a_key_is_kept_on_each_way_back<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let backs = [
        Some(Verdict::fail_after("no", Duration::ZERO)),
        Some(Verdict::release()),
        Some(Verdict::snooze(Duration::ZERO)),
        None,
    ];
    let id = put(db, keyed("first", "x")).id();
    for back in &backs {
        let claim = store.claim(&id, &ask("anna"))?.claimed().expect("it is free").claim;
        is_left_alone(db, id, "x");
        match back {
            Some(verdict) => drop(store.settle(claim, verdict.clone())?),
            None => {
                db.expire(&[id]);
                let swept = store.recover(&at_once(), 10)?;
                assert_eq!((swept.rows.len(), swept.failed.len()), (1, 0), "{swept:?}");
            }
        }
        assert_eq!(db.state(id), "pending", "{back:?}");
        assert_eq!(put(db, keyed("second", "x")), duplicate(id));
    }
    // All of it in one statement, among others.
    let others: Vec<_> = (0..3).map(|n| put(db, keyed("other", &format!("y{n}"))).id()).collect();
    let claims = store.claim_next(&ask("anna").limit(9))?;
    assert_eq!(claims.len(), 4);
    is_left_alone(db, id, "x");
    let told = store.settle_all(claims.into_iter().map(|one| (one.claim, Verdict::release())).collect());
    assert!(told.iter().all(Result::is_ok), "{told:?}");
    assert!(others.iter().all(|id| db.state(*id) == "pending"));
    assert_eq!(db.count("claimstore_jobs"), 4);
    Ok(())
}

/// H7: somebody may still be at it, so nobody begins it beside them.
fn an_uncertain_job_has_its_key<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let id = put(db, keyed("first", "x").idempotent(false)).id();
    assert!(store.claim(&id, &ask("anna"))?.claimed().is_some());
    db.expire(&[id]);
    store.recover(&at_once(), 10)?;
    assert_eq!(db.state(id), "uncertain");
    is_left_alone(db, id, "x");
    Ok(())
}

fn a_key_is_free_once_its_job_has_ended<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let mut before = Vec::new();
    for (mode, verdict) in [
        (OnDuplicate::Keep, Verdict::complete()),
        (OnDuplicate::Replace, Verdict::fail_for_good("never")),
        (OnDuplicate::Debounce, Verdict::complete()),
    ] {
        let told = put(db, keyed("next", "x").on_duplicate(mode));
        assert_eq!(told, new(told.id()));
        assert!(!before.contains(&told.id()));
        let claim = store.claim(&told.id(), &ask("anna"))?.claimed().expect("it is free").claim;
        store.settle(claim, verdict)?;
        before.push(told.id());
    }
    db.run(&format!("UPDATE claimstore_jobs SET state = 'cancelled' WHERE id = {}", before[0]));
    assert!(put(db, keyed("next", "x")).is_new());
    Ok(())
}
