//! An event stands in the transaction of what it tells: where it cannot be written, nothing has happened.

use std::time::Duration;

use claimstore::core::{
    Action, Bulk, ClaimStore, Filter, History, OperateError, OperateStore, Pausable, QueueStore,
    RecoverStore, SettleCause, Verdict,
};
use claimstore::{ClaimOn, Dialect, Job};

use crate::bench::{abandoned, due, fit_for, held, olga, one, seen, verbs};
use crate::support::{Database, LEASE, TestResult, ask, at_once, notes, on_both};

on_both! {
    an_operators_action_that_cannot_be_recorded_has_not_been
    a_failure_that_cannot_be_recorded_has_not_been
    a_recovery_that_cannot_be_recorded_has_not_been
    no_transition_is_half_done_where_all_are_recorded
}

/// Nothing can be recorded from now on.
fn full<B: Database>(db: &B) {
    db.run(match <B::D as Dialect>::NAME {
        "SQLite" => {
            "CREATE TRIGGER full_up BEFORE INSERT ON claimstore_events BEGIN SELECT RAISE(ABORT, 'full up'); END"
        }
        _ => {
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'full up'; END $$; \
             CREATE TRIGGER full_up BEFORE INSERT ON claimstore_events FOR EACH ROW EXECUTE FUNCTION refuse()"
        }
    });
}

/// And again it can.
fn emptied<B: Database>(db: &B) {
    db.run(match <B::D as Dialect>::NAME {
        "SQLite" => "DROP TRIGGER full_up",
        _ => "DROP TRIGGER full_up ON claimstore_events; DROP FUNCTION refuse()",
    });
}

fn rows<B: Database>(db: &B) -> Vec<String> {
    let ids = db.texts("SELECT CAST(id AS TEXT) AS text FROM claimstore_jobs ORDER BY id");
    ids.iter().map(|id| db.row(id.parse().expect("a number"))).collect()
}

/// Every verb, alone and in bulk; and a pause.
fn an_operators_action_that_cannot_be_recorded_has_not_been<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let rows_of: Vec<_> = verbs().into_iter().map(|action| (fit_for(db, &action), action)).collect();
    full(db);
    let before = (rows(db), db.count("claimstore_events"), db.count("claimstore_queues"));
    for (id, action) in &rows_of {
        match db.store().operate(id, seen(db, *id), action, &olga()) {
            Err(OperateError::Store(error)) => assert!(error.to_string().contains("full up"), "{error}"),
            other => panic!("{action:?}: {other:?}"),
        }
    }
    let all = Bulk::new(Filter::all());
    let done = db.store().operate_all(&all, &Action::Delete, &olga())?;
    assert!(done.done.is_empty() && !done.refused.is_empty(), "{done:?}");
    assert!(db.store().pause(&Pausable::queue("default"), &olga()).is_err());
    assert_eq!((rows(db), db.count("claimstore_events"), db.count("claimstore_queues")), before);
    emptied(db);
    for (id, action) in &rows_of {
        db.store().operate(id, seen(db, *id), action, &olga())?;
    }
    assert_eq!(db.count("claimstore_events"), i64::try_from(rows_of.len())?);
    Ok(())
}

/// The claim is handed back and in force: the failure can be told again.
fn a_failure_that_cannot_be_recorded_has_not_been<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, (id, claim)) = (db.store(), held(db));
    let second = store.claim(&one(db), &ask("anna"))?.claimed().expect("it is free").claim;
    full(db);
    let before = rows(db);
    let (cause, claim) = store.fail(claim, "no").expect_err("it cannot be recorded").into_parts();
    assert!(matches!(cause, SettleCause::Store(_)), "{cause}");
    let mut claim = claim.expect("the store failed, so it is handed back");
    let answers = store.settle_all(vec![(second, Verdict::fail("no"))]);
    let second =
        answers.into_iter().next().expect("one answer").expect_err("it cannot be recorded").into_claim();
    assert_eq!(rows(db), before);
    // What goes well is not recorded, and goes on.
    store.renew(&mut claim, LEASE)?;
    store.complete(second.expect("it is handed back"))?;
    emptied(db);
    store.fail(claim, "no")?;
    assert_eq!((db.state(id), db.count("claimstore_events")), ("pending".to_owned(), 1));
    Ok(())
}

/// The rows stay running for the next sweep.
fn a_recovery_that_cannot_be_recorded_has_not_been<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let _claims = [abandoned(db), abandoned(db)];
    full(db);
    let before = rows(db);
    let swept = db.store().recover(&at_once(), 10)?;
    assert_eq!((swept.rows.len(), swept.failed.len()), (0, 2));
    assert_eq!(rows(db), before);
    emptied(db);
    assert_eq!(db.store().recover(&at_once(), 10)?.rows.len(), 2);
    assert_eq!(db.count("claimstore_events WHERE kind = 'recovered'"), 2);
    Ok(())
}

/// Enqueueing, claiming and settling, each way, of a store that records everything.
fn no_transition_is_half_done_where_all_are_recorded<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.another(2).recording(History::All);
    let ids = due(db, 6);
    let mut held: Vec<_> =
        store.claim_next(&ask("anna").limit(4))?.into_iter().map(|one| one.claim).collect();
    full(db);
    let before = rows(db);
    assert!(store.enqueue(&notes(2)).is_err());
    assert!(store.claim(&ids[4], &ask("anna")).is_err());
    assert!(store.claim_next(&ask("anna").limit(2)).is_err());
    let verdicts = [Verdict::complete(), Verdict::release(), Verdict::snooze(Duration::from_secs(1))];
    for verdict in verdicts {
        let claim = held.remove(0);
        held.push(
            store
                .settle(claim, verdict)
                .expect_err("it cannot be recorded")
                .into_claim()
                .expect("handed back"),
        );
    }
    let all = held.drain(..).map(|claim| (claim, Verdict::complete())).collect();
    let back = store.settle_all(all).into_iter();
    held = back.map(|answer| answer.expect_err("not recorded").into_claim().expect("handed back")).collect();
    assert_eq!(rows(db), before);
    let all = held.drain(..).map(|claim| (claim, Verdict::complete())).collect();
    let both = store.settle_and_claim(all, &ask("anna").limit(2));
    assert!(both.claimed.is_err());
    held = both
        .settled
        .into_iter()
        .map(|answer| answer.expect_err("not recorded").into_claim().expect("handed back"))
        .collect();
    assert_eq!(rows(db), before);
    emptied(db);
    // They are in force, every one of them.
    let all = held.into_iter().map(|claim| (claim, Verdict::complete())).collect();
    let both = store.settle_and_claim(all, &ask("anna").limit(2));
    assert!(both.settled.iter().all(|answer| answer.as_ref().is_ok_and(|receipt| !receipt.already)));
    assert_eq!(both.claimed?.len(), 2);
    Ok(())
}
