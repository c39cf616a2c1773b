//! An operator has acted in a transaction that is still open; everybody else meets the row (PostgreSQL).

use std::thread;

use claimstore::core::{
    Action, ClaimStore, Happened, Now, RecoverStore, Refusal, Renewal, Resolution, State, Verdict, Wait,
};
use claimstore::{Job, PgStore};
use diesel::PgConnection;

use crate::bench::verbs_from;
use crate::bench::{abandoned, due, held, history, left_by, olga, one, operated, seen, stand, stored};
use crate::support::{
    Database, LEASE, OnPostgres, PATIENT, TestResult, ask, at_once, backend_pid, begin, commit, impatient,
    pg_pool, roll_back, until, waits_for,
};

/// How the operator's transaction ends.
const ENDS: [bool; 2] = [true, false];

fn end(conn: &mut PgConnection, commits: bool) {
    if commits { commit(conn) } else { roll_back(conn) }
}

/// The operator acts and stays in the transaction.
fn act(db: &OnPostgres, conn: &mut PgConnection, id: i64, action: &Action) {
    let seen = seen(db, id);
    begin(conn);
    let done = db.store().on(conn).operate(&id, seen, action, &olga().force());
    assert_eq!(done.expect("nobody is in the way").to, left_by(action), "{action:?}");
}

/// One event for an action that took place, and none for one that did not.
fn is_recorded(db: &OnPostgres, id: i64, action: &Action, commits: bool) {
    let expected: &[&str] = if commits { &[action.verb()] } else { &[] };
    assert_eq!(operated(db, id), expected, "{action:?}, {commits}");
}

/// A claim that waited decides by what the operator has left.
#[test]
fn a_claim_that_waited_for_an_operator_decides_by_what_was_left() -> TestResult {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    for (action, commits) in
        verbs_from(State::Pending).into_iter().flat_map(|verb| ENDS.map(|c| (verb.clone(), c)))
    {
        let id = one(&db);
        act(&db, &mut a, id, &action);
        let outcome = thread::scope(|scope| {
            let b =
                scope.spawn(|| ClaimStore::claim(db.store(), &id, &ask("anna").wait(Wait::AtMost(PATIENT))));
            until("the claim waits for the operator", || waits_for(&db, &pid));
            end(&mut a, commits);
            b.join().expect("no panic")
        })?;
        let refusal = outcome.refusal().cloned();
        match (&action, commits) {
            (Action::Retry, _) | (_, false) => assert_eq!(refusal, None, "{action:?}, {commits}"),
            (Action::Requeue(_), true) => assert!(matches!(refusal, Some(Refusal::NotDue(_))), "{refusal:?}"),
            (Action::Delete, true) => assert_eq!(refusal, Some(Refusal::Missing)),
            (_, true) => {
                assert_eq!(refusal, left_by(&action).map(Refusal::NotPending), "{action:?}");
            }
        }
        is_recorded(&db, id, &action, commits);
    }
    Ok(())
}

/// Claiming by readiness neither waits nor takes it; what the operator leaves pending is taken afterwards.
#[test]
fn claiming_the_next_passes_over_a_row_that_an_operator_has() -> TestResult {
    for action in verbs_from(State::Pending) {
        for commits in ENDS {
            let db = OnPostgres::fresh(1);
            // A wait would end in an error and not in a pass.
            let b = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
            let (ids, mut a) = (due(&db, 2), db.connect());
            act(&db, &mut a, ids[0], &action);
            let next = b.claim_next(&ask("anna").limit(5))?;
            assert_eq!(next.claimed.iter().map(|one| one.row.id).collect::<Vec<_>>(), ids[1..], "{action:?}");
            end(&mut a, commits);
            let next = b.claim_next(&ask("anna").limit(5))?;
            let is_free = !commits || action == Action::Retry;
            let expected = if is_free { &ids[..1] } else { &[] };
            assert_eq!(next.claimed.iter().map(|one| one.row.id).collect::<Vec<_>>(), expected, "{action:?}");
        }
    }
    Ok(())
}

/// A verdict that waited is refused with what the row is now, and kept; or stands where the operator withdrew.
#[test]
fn a_settlement_that_waited_for_an_operator_is_refused() {
    let db = OnPostgres::fresh(2);
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    for action in verbs_from(State::Running) {
        for (n, verdict) in
            [Verdict::complete(), Verdict::fail("no"), Verdict::release()].into_iter().enumerate()
        {
            let (commits, (id, claim)) = (n != 1, held(&db));
            for_both_ends(&db, &mut a, &pid, &action, (id, claim), &verdict, commits);
        }
        let (id, claim) = held(&db);
        for_both_ends(&db, &mut a, &pid, &action, (id, claim), &Verdict::complete(), false);
    }
}

fn for_both_ends(
    db: &OnPostgres,
    a: &mut PgConnection,
    pid: &str,
    action: &Action,
    (id, claim): (i64, claimstore::core::Claim<i64>),
    verdict: &Verdict,
    commits: bool,
) {
    act(db, a, id, action);
    let (answer, left) = thread::scope(|scope| {
        let b = scope.spawn(|| db.store().settle(claim, verdict.clone()));
        until("the holder waits for the operator", || waits_for(db, pid));
        end(a, commits);
        let left = (stored(db, id), db.row(id));
        (b.join().expect("no panic"), left)
    });
    is_recorded(db, id, action, commits);
    if !commits {
        assert!(answer.is_ok_and(|receipt| !receipt.already), "{action:?}: the operator withdrew");
        return;
    }
    let error = answer.expect_err("the operator came first");
    let fenced = error.fenced().unwrap_or_else(|| panic!("{action:?}: {error}"));
    match &fenced.now {
        Now::Gone => assert_eq!((action, left.0), (&Action::Delete, None)),
        Now::Row { state, fence, .. } => {
            assert_eq!((Some(*state), left.0), (left_by(action), Some(state.to_string())), "{action:?}");
            assert_eq!(*fence, seen(db, id));
        }
    }
    assert_eq!(db.row(id), left.1, "a late verdict changes nothing");
    let kept = history(db, id).into_iter().filter_map(|event| match event.what {
        Happened::LateWriter(late) => Some(late.verb),
        _ => None,
    });
    assert_eq!(kept.collect::<Vec<_>>(), [verdict.verb()], "{action:?}");
}

/// A renewal never waits: the row is busy, and afterwards lost, or as it was.
#[test]
fn a_renewal_beside_an_operator_is_busy_and_then_lost() -> TestResult {
    let db = OnPostgres::fresh(2);
    let (store, mut a) = (db.store(), db.connect());
    for action in verbs_from(State::Running) {
        for commits in ENDS {
            let (id, claim) = held(&db);
            act(&db, &mut a, id, &action);
            assert_eq!(store.renew_all(&[claim.token()], LEASE)?, [Renewal::Busy], "{action:?}");
            end(&mut a, commits);
            let answer = store.renew_all(&[claim.token()], LEASE)?.remove(0);
            match answer {
                Renewal::Renewed(_) => assert!(!commits, "{action:?}"),
                Renewal::Fenced(_) => assert!(commits, "{action:?}"),
                other => panic!("{action:?}: {other:?}"),
            }
            is_recorded(&db, id, &action, commits);
        }
    }
    Ok(())
}

/// A sweep passes over the row and takes the others; afterwards it takes what the operator has left running.
#[test]
fn a_sweep_passes_over_a_row_that_an_operator_has() -> TestResult {
    let db = OnPostgres::fresh(1);
    let b = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    let mut a = db.connect();
    for action in verbs_from(State::Running) {
        for commits in ENDS {
            let ((id, _), (other, _)) = (abandoned(&db), abandoned(&db));
            act(&db, &mut a, id, &action);
            let swept = b.recover(&at_once(), 10)?;
            assert_eq!(swept.rows.iter().map(|row| row.key).collect::<Vec<_>>(), [other], "{action:?}");
            assert_eq!((swept.left, swept.failed.len()), (0, 0));
            end(&mut a, commits);
            let swept: Vec<i64> = b.recover(&at_once(), 10)?.rows.iter().map(|row| row.key).collect();
            let expected = if commits { vec![] } else { vec![id] };
            assert_eq!(swept, expected, "{action:?}, {commits}");
            is_recorded(&db, id, &action, commits);
        }
    }
    Ok(())
}

/// A row that is being resolved is uncertain to everybody else until that has happened, and keeps nobody waiting.
#[test]
fn a_row_that_is_being_resolved_keeps_nobody_waiting() -> TestResult {
    let db = OnPostgres::fresh(1);
    let b = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    let mut a = db.connect();
    for resolution in [Resolution::Done, Resolution::Again, Resolution::Dead] {
        for commits in ENDS {
            let (action, id) = (Action::Resolve(resolution), stand(&db, State::Uncertain));
            act(&db, &mut a, id, &action);
            let patient = ask("anna").wait(Wait::AtMost(PATIENT));
            let outcome = ClaimStore::claim(&b, &id, &patient)?;
            assert_eq!(outcome.refusal(), Some(&Refusal::NotPending(State::Uncertain)));
            assert!(b.claim_next(&ask("anna"))?.is_empty());
            assert!(b.recover(&at_once(), 10)?.rows.is_empty());
            end(&mut a, commits);
            let left = if commits { left_by(&action) } else { Some(State::Uncertain) };
            assert_eq!(stored(&db, id), left.map(|state| state.to_string()), "{action:?}");
            let next = b.claim_next(&ask("anna"))?;
            assert_eq!(next.len(), usize::from(left == Some(State::Pending)), "{action:?}, {commits}");
            is_recorded(&db, id, &action, commits);
        }
    }
    Ok(())
}
