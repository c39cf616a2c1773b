//! Unique keys under an operator's hands: what is taken is told, and no way back meets the index by itself.

use claimstore::core::{
    Action, Bulk, ClaimStore, Filter, OperateError, OperateStore, RecoverStore, Requeue, Resolution, State,
};
use claimstore::{ClaimOn, Enqueued, Job, TxError};
use claimstore_tests::harness::TestDialect;

use crate::bench::{LONG, olga, operated, refused, seen, stored, take};
use crate::support::{Database, Note, TestResult, at_once, note, on_both};

on_both! {
    beginning_again_where_the_key_is_taken_is_refused
    the_callers_transaction_goes_on_after_a_duplicate
    a_taken_key_holds_up_no_other_row
    no_way_back_meets_the_index
    a_key_that_is_free_again_may_be_taken_back
}

/// A job with this key; another one of it must not be live.
fn with_key<B: Database>(db: &B, key: &str) -> i64
where
    Job: ClaimOn<B::D>,
{
    match db.store().enqueue(&[note(key).unique(key)]).expect("it can be written")[0] {
        Enqueued::New { id } => id,
        other => panic!("{key} is taken: {other:?}"),
    }
}

/// A job with this key that has ended so, and a second one that has the key now.
fn ended_and_next<B: Database>(db: &B, key: &str, state: State) -> (i64, i64)
where
    Job: ClaimOn<B::D>,
{
    let first = with_key(db, key);
    let finished = B::now_plus(0);
    db.run(&format!(
        "UPDATE claimstore_jobs SET state = '{state}', finished_at = {finished}, fence = 7 WHERE id = {first}"
    ));
    (first, with_key(db, key))
}

/// From each state in which a row had given its key away, and whatever the next one is doing.
fn beginning_again_where_the_key_is_taken_is_refused<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    for state in [State::Dead, State::Cancelled, State::Completed] {
        let again = match state {
            State::Completed => vec![Action::Repeat],
            _ => vec![
                Action::Retry,
                Action::Requeue(Requeue::after(LONG)),
                Action::Requeue(Requeue::of_priority(1)),
            ],
        };
        let key = state.word();
        let (first, next) = ended_and_next(db, key, state);
        for then in ["pending", "running", "uncertain"] {
            match then {
                "running" => drop(take(db, next, "anna")),
                _ => db.run(&format!(
                    "UPDATE claimstore_jobs SET state = '{then}', lease = NULL WHERE id = {next}"
                )),
            }
            for action in &again {
                let told = refused(db, first, seen(db, first), action, &olga());
                assert!(matches!(told, OperateError::Duplicate { id } if id == next), "{then}: {told}");
            }
            if then == "running" {
                db.run(&format!(
                    "UPDATE claimstore_jobs SET state = 'pending', lease = NULL WHERE id = {next}"
                ));
            }
        }
        // What does not bring it back needs no key.
        let done = db.store().operate(&first, seen(db, first), &Action::Delete, &olga())?;
        assert_eq!((done.from, operated(db, first).len()), (state, 1));
    }
    // The key of another kind is another key.
    let (first, next) = ended_and_next(db, "kind", State::Dead);
    db.run(&format!("UPDATE claimstore_jobs SET kind = 'another' WHERE id = {next}"));
    db.store().retry(&first, seen(db, first), &olga())?;
    Ok(())
}

/// On PostgreSQL a violated index would have aborted it.
fn the_callers_transaction_goes_on_after_a_duplicate<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let (first, next) = ended_and_next(db, "key", State::Dead);
    let fence = seen(db, first);
    let (told, third) = B::D::begin::<_, TxError>(&mut db.connect(), |conn| {
        let told = store.on(conn).operate(&first, fence, &Action::Retry, &olga());
        let third = store.on(conn).enqueue(&[note("third")])?[0].id();
        Ok((told, third))
    })?;
    assert!(matches!(told, Err(OperateError::Duplicate { id }) if id == next), "{told:?}");
    assert_eq!((stored(db, first).as_deref(), stored(db, third).as_deref()), (Some("dead"), Some("pending")));
    Ok(())
}

/// In a batch: told of in `refused`, and the others are done, each with its event.
fn a_taken_key_holds_up_no_other_row<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let rows: Vec<(i64, Option<i64>)> = (0..6)
        .map(|n| {
            let key = format!("key {n}");
            if n % 2 == 0 {
                let (first, next) = ended_and_next(db, &key, State::Dead);
                (first, Some(next))
            } else {
                let first = with_key(db, &key);
                db.run(&format!("UPDATE claimstore_jobs SET state = 'dead' WHERE id = {first}"));
                (first, None)
            }
        })
        .collect();
    let done = db.store().operate_all(&Bulk::new(Filter::of(State::Dead)), &Action::Retry, &olga())?;
    let refused: Vec<_> = done
        .refused
        .iter()
        .map(|(key, why)| match why {
            OperateError::Duplicate { id } => (*key, Some(*id)),
            other => panic!("{other}"),
        })
        .collect();
    let taken = |taken: bool| rows.iter().copied().filter(move |(_, next)| next.is_some() == taken);
    assert_eq!(refused, taken(true).collect::<Vec<_>>());
    assert_eq!(
        done.done.iter().map(|done| done.key).collect::<Vec<_>>(),
        taken(false).map(|(id, _)| id).collect::<Vec<_>>()
    );
    for (id, next) in rows {
        let state = if next.is_some() { "dead" } else { "pending" };
        assert_eq!(stored(db, id).as_deref(), Some(state));
        assert_eq!(operated(db, id).len(), usize::from(next.is_none()));
    }
    // Two dead rows of one key: one of them comes back.
    let (first, next) = ended_and_next(db, "both", State::Dead);
    db.run(&format!("UPDATE claimstore_jobs SET state = 'dead' WHERE id = {next}"));
    let both = Bulk::new(Filter::of(State::Dead)).after(first - 1);
    let done = db.store().operate_all(&both, &Action::Retry, &olga())?;
    assert_eq!(done.done.iter().map(|done| done.key).collect::<Vec<_>>(), [first]);
    assert!(
        matches!(done.refused[..], [(key, OperateError::Duplicate { id })] if (key, id) == (next, first))
    );
    Ok(())
}

/// H7: the key is kept while a row is pending, running or uncertain, so that failing, releasing, recovering and
/// deciding never meet another row on it.
fn no_way_back_meets_the_index<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let second = |id: i64| -> TestResult {
        assert_eq!(store.enqueue(&[note("x").unique("x")])?, [Enqueued::Duplicate { id }]);
        Ok(())
    };
    let job = note("x").unique("x").idempotent(false);
    let id = store.enqueue(&[job])?[0].id();
    second(id)?;
    let claim = take(db, id, "anna");
    second(id)?;
    store.release(claim)?;
    second(id)?;
    store.settle(
        take(db, id, "anna"),
        claimstore::core::Verdict::fail_after("no", std::time::Duration::ZERO),
    )?;
    second(id)?;
    drop(take(db, id, "anna"));
    db.expire(&[id]);
    let swept = store.recover(&at_once(), 1)?;
    assert_eq!((swept.count(State::Uncertain), swept.failed.len()), (1, 0));
    second(id)?;
    store.resolve(&id, seen(db, id), Resolution::Again, &olga())?;
    second(id)?;
    db.run(&format!("UPDATE claimstore_jobs SET idempotent = TRUE WHERE id = {id}"));
    let claim = take(db, id, "anna");
    db.expire(&[id]);
    let done = store.operate(&id, claim.fence(), &Action::Recover(at_once()), &olga())?;
    assert_eq!(done.to, Some(State::Pending));
    second(id)?;
    assert_eq!(take(db, id, "anna").key(), &id);
    Ok(())
}

/// Once the other one has ended or is gone.
fn a_key_that_is_free_again_may_be_taken_back<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    for free in [Action::Cancel, Action::Delete] {
        let (first, next) = ended_and_next(db, free.verb(), State::Dead);
        store.operate(&next, seen(db, next), &free, &olga())?;
        store.retry(&first, seen(db, first), &olga())?;
        let claimed = store.claim_next(&crate::support::ask("anna"))?.into_iter().next().expect("it is due");
        assert_eq!((claimed.row.id, claimed.row.payload::<Note>()?.text.as_str()), (first, free.verb()));
        store.complete(claimed.claim)?;
    }
    Ok(())
}
