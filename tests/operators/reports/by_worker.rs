//! Freeing what a dead worker held.

use claimstore::core::{
    Action, Bulk, Claim, ClaimStore, Filter, Happened, OperateError, OperateStore, Operator, RecoveryPolicy,
    State, WorkerId,
};
use claimstore::{ClaimOn, Job};

use crate::bench::{history, olga, one, take};
use crate::support::{Database, TestResult, at_once, on_both};

on_both! {
    a_dead_workers_claims_are_freed_and_nobody_elses
    a_workers_live_claims_are_freed_by_force_only
}

/// A policy of the desk's own: what it frees is due at once.
fn recover() -> Action {
    let policy: RecoveryPolicy = at_once().max_crashes(2);
    Action::Recover(policy)
}

fn of(name: &str) -> Bulk<i64> {
    Bulk::new(Filter::of(State::Running).worker(&WorkerId::new(name).expect("a valid name")))
}

fn held_by<B: Database>(db: &B, name: &str) -> (i64, Claim<i64>)
where
    Job: ClaimOn<B::D>,
{
    let id = one(db);
    (id, take(db, id, name))
}

/// H90: of a dead worker, an unknown one, and one whose name begins another's; the preview first, which writes
/// nothing. Each row goes where the usual rules take it, and says who freed it and why.
fn a_dead_workers_claims_are_freed_and_nobody_elses<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let (plain, _a) = held_by(db, "mailer");
    let (spent, _b) = held_by(db, "mailer");
    let (unsafe_one, _c) = held_by(db, "mailer");
    db.run(&format!("UPDATE claimstore_jobs SET crashes = 1, max_crashes = 2 WHERE id = {spent}"));
    db.run(&format!("UPDATE claimstore_jobs SET idempotent = FALSE WHERE id = {unsafe_one}"));
    let names = ["mailer-2", "mail", "MAILER", "mailer ", "%", "mailer_"];
    let others: Vec<(i64, Claim<i64>)> = names.iter().map(|name| held_by(db, name)).collect();
    // A row that it has finished still names it, and is none of its claims.
    let (finished, claim) = held_by(db, "mailer");
    store.complete(claim)?;
    let mine = [plain, spent, unsafe_one];
    let all: Vec<i64> = mine.iter().copied().chain(others.iter().map(|(id, _)| *id)).collect();
    db.expire(&all);
    let before: Vec<String> = others.iter().map(|(id, _)| db.row(*id)).collect();

    let told = store.preview_all(&of("mailer"), &recover(), &olga())?;
    let would: Vec<_> =
        told.rows.iter().map(|(row, to)| (row.key, to.as_ref().ok().copied().flatten())).collect();
    let goes = [State::Pending, State::Dead, State::Uncertain];
    assert_eq!(would, mine.iter().copied().zip(goes.map(Some)).collect::<Vec<_>>());
    assert_eq!(
        (db.count("claimstore_events"), db.state(plain)),
        (0, "running".to_owned()),
        "a preview writes nothing"
    );

    for nobody in ["nobody", "mai", "mailer-"] {
        let done = store.operate_all(&of(nobody), &recover(), &olga().force())?;
        assert!(done.done.is_empty() && done.refused.is_empty() && done.next.is_none(), "{nobody}: {done:?}");
    }
    let done = store.operate_all(&of("mailer"), &recover(), &olga())?;
    let freed: Vec<_> = done.done.iter().map(|done| (done.key, done.to)).collect();
    assert_eq!((freed, done.refused.len()), (would, 0));
    for (id, to) in mine.into_iter().zip(goes) {
        assert_eq!(db.state(id), to.word());
        let event = history(db, id).pop().expect("it is recorded");
        assert_eq!(event.worker.as_ref().map(|worker| worker.as_str()), Some("mailer"));
        let expected = Happened::Operated {
            verb: "recover".to_owned(),
            actor: "olga".to_owned(),
            reason: "ticket 4711".to_owned(),
            from: Some(State::Running),
            to: Some(to),
            forced: false,
        };
        assert_eq!(event.what, expected);
    }
    let crashes =
        db.texts(&format!("SELECT CAST(crashes AS TEXT) AS text FROM claimstore_jobs WHERE id = {plain}"));
    assert_eq!(crashes, ["1"], "by the usual rules");
    assert_eq!(others.iter().map(|(id, _)| db.row(*id)).collect::<Vec<_>>(), before);
    assert_eq!(db.state(finished), "completed");
    Ok(())
}

/// H90: one that is alive keeps what it holds unless somebody insists; then it is refused, and the event says so.
fn a_workers_live_claims_are_freed_by_force_only<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ((live, claim), (old, _gone)) = (held_by(db, "mailer"), held_by(db, "mailer"));
    db.expire(&[old]);
    let told = store.preview_all(&of("mailer"), &recover(), &olga())?;
    let held = |why: &OperateError<i64>| match why {
        OperateError::Held { worker, until, fence } => {
            (worker.clone(), *until, *fence) == (Some(claim.worker().clone()), claim.until(), claim.fence())
        }
        _ => false,
    };
    assert!(matches!(&told.rows[..], [(_, Err(why)), (_, Ok(_))] if held(why)), "{told:?}");
    let done = store.operate_all(&of("mailer"), &recover(), &olga())?;
    assert!(matches!(&done.refused[..], [(key, why)] if *key == live && held(why)), "{done:?}");
    assert_eq!(
        done.done.iter().map(|done| (done.key, done.ended.is_some())).collect::<Vec<_>>(),
        [(old, false)]
    );
    assert_eq!((db.state(live), history(db, live).len()), ("running".to_owned(), 0));

    let paul = Operator::new("paul", "the machine was switched off")?.force();
    let forced = store.preview_all(&of("mailer"), &recover(), &paul)?;
    assert!(forced.rows.iter().all(|(_, to)| to.is_ok()));
    let done = store.operate_all(&of("mailer"), &recover(), &paul)?;
    assert_eq!(
        done.done.iter().map(|done| done.ended.clone()).collect::<Vec<_>>(),
        [Some(claim.worker().clone())]
    );
    let forced = |event: &claimstore::core::Event| matches!(&event.what, Happened::Operated { actor, forced: true, .. } if actor == "paul");
    assert!(history(db, live).iter().any(forced));
    assert!(store.complete(claim).is_err_and(|error| error.fenced().is_some()));
    assert_eq!(db.state(live), "pending");
    Ok(())
}
