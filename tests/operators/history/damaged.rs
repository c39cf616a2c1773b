//! Events that this version does not know, or that somebody has damaged.

use claimstore::core::{Happened, InspectStore, OperateStore, RetainStore, Retention, State};
use claimstore::{ClaimOn, Job};

use crate::bench::{olga, one, seen};
use crate::support::{Database, TestResult, on_both};

on_both! {
    an_event_that_cannot_be_read_hides_no_other
    an_event_that_cannot_be_read_is_no_reason_not_to_explain
    events_outlive_their_row_and_are_pruned_by_age
}

fn insert<B: Database>(db: &B, id: i64, kind: &str, worker: &str, detail: &str) {
    db.run(&format!(
        "INSERT INTO claimstore_events (at, table_name, row_key, kind, worker, fence, detail) \
         VALUES ({}, 'claimstore_jobs', '{id}', '{kind}', {worker}, 5, '{detail}')",
        B::now_plus(0)
    ));
}

/// It is told as it is stored; so is one that a later version has written.
fn an_event_that_cannot_be_read_hides_no_other<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let id = one(db);
    let cases = [
        ("teleported", r#"{"to":"mars"}"#),
        ("failed", r#"{"to":"pending""#),
        ("failed", r#"{"to":"elsewhere","error":null,"tally":{}}"#),
        ("operated", "{}"),
        ("recovered", ""),
        ("recovered", "[1, 2]"),
        ("late_writer", "null"),
        ("", "{}"),
    ];
    db.store().cancel(&id, seen(db, id), &olga())?;
    cases.iter().for_each(|(kind, detail)| insert(db, id, kind, "'anna'", detail));
    // A later version says more of a kind that is known: what is known of it is read.
    insert(db, id, "recovered", "NULL", r#"{"to":"pending","crashes":3,"mood":"grim"}"#);
    insert(db, id, "claimed", &format!("'{}'", "x".repeat(300)), "{}");
    db.store().retry(&id, seen(db, id), &olga())?;
    let told = db.store().history(&id, 100)?;
    assert_eq!(told.len(), cases.len() + 4);
    let verb = |n: usize| match &told[n].what {
        Happened::Operated { verb, .. } => verb.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((verb(0), verb(told.len() - 1)), ("retry".to_owned(), "cancel".to_owned()), "latest first");
    assert_eq!(
        (&told[1].what, &told[1].worker),
        (&Happened::Claimed {}, &None),
        "no name that a worker can have"
    );
    assert_eq!(told[2].what, Happened::Recovered { to: State::Pending, crashes: 3 });
    let others = told[3..told.len() - 1].iter().rev();
    for ((kind, detail), event) in cases.iter().zip(others) {
        let other = Happened::Other { kind: (*kind).to_owned(), detail: (*detail).to_owned() };
        assert_eq!((&event.what, event.what.kind()), (&other, *kind));
        assert_eq!(event.worker.as_ref().map(|worker| worker.as_str()), Some("anna"));
    }
    // A page of them is a page.
    assert_eq!(db.store().history(&id, 3)?, told[..3]);
    Ok(())
}

fn an_event_that_cannot_be_read_is_no_reason_not_to_explain<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let id = one(db);
    insert(db, id, "late_writer", "'anna'", "broken");
    let late = r#"{"table":"claimstore_jobs","key":"1","worker":"anna","held":5,"now":"Gone","verb":"complete","error":null}"#;
    insert(db, id, "late_writer", "'anna'", late);
    let told = db.store().explain(&id)?;
    assert_eq!(told.late.iter().map(|late| late.verb.as_str()).collect::<Vec<_>>(), ["complete"]);
    Ok(())
}

/// What became of a row can be read when it is gone, until retention takes the events.
fn events_outlive_their_row_and_are_pruned_by_age<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (gone, other) = (one(db), one(db));
    db.store().operate(&gone, seen(db, gone), &claimstore::core::Action::Delete, &olga())?;
    db.store().cancel(&other, seen(db, other), &olga())?;
    insert(db, gone, "teleported", "NULL", "broken");
    let day = std::time::Duration::from_secs(86_400);
    let old = B::now_plus(-2 * 86_400);
    db.run(&format!(
        "UPDATE claimstore_events SET at = {old} WHERE row_key = '{gone}' AND kind = 'operated'"
    ));
    assert_eq!(db.store().history(&gone, 10)?.len(), 2);
    let pruned = db.store().prune(&Retention::keep_all().events(day), 100)?;
    assert_eq!((pruned.events, pruned.rows, pruned.more), (1, 0, false));
    assert_eq!((db.store().history(&gone, 10)?.len(), db.store().history(&other, 10)?.len()), (1, 1));
    Ok(())
}
