//! Acting on many rows, a bounded batch at a time.

use std::slice::from_ref;
use std::time::Duration;

use claimstore_core::{
    Action, Bulk, ClaimStore, Filter, InputError, MAX_BATCH, OperateError, OperateStore, Operated,
    RecoveryPolicy, State,
};

use super::acting::{can, olga, records};
use super::step::{LONG, fenced, input, row, seed_and_take, take, worker};
use crate::{Harness, Key, Seed};

/// The keys of what was done, in order.
fn keys<K>(done: Vec<Operated<K>>) -> Vec<K> {
    done.into_iter().map(|done| done.key).collect()
}

/// Acts on all rows of this filter without force, and says which were changed.
#[track_caller]
fn all<H: Harness>(h: &H, filter: Filter, action: &Action) -> Vec<Key<H>>
where
    H::Store: OperateStore,
{
    let done = h.store().operate_all(&Bulk::new(filter), action, &olga()).expect("the store acts");
    assert!(done.refused.is_empty() && done.next.is_none(), "{done:?}");
    keys(done.done)
}

/// A batch takes the first rows of its filter by key, and says after which one to go on.
pub fn a_batch_is_bounded_and_the_next_goes_on<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let rows = [(); 7].map(|()| h.seed(Seed::pending().state(State::Completed)));
    let _other = h.seed(Seed::pending());
    let mut bulk = Bulk::new(Filter::of(State::Completed)).limit(3);
    let mut walked = Vec::new();
    for batch in [3, 3, 1] {
        let done = h.store().operate_all(&bulk, &Action::Repeat, &olga()).expect("the store acts");
        assert!(done.refused.is_empty(), "{:?}", done.refused);
        assert_eq!(done.done.len(), batch);
        walked.extend(keys(done.done));
        match done.next {
            Some(next) => {
                assert_eq!(Some(&next), walked.last(), "it goes on after the last one");
                bulk = bulk.after(next);
            }
            None => assert_eq!(walked.len(), 7),
        }
    }
    assert_eq!(walked, rows);
    assert!(rows.iter().all(|key| row(h, key).state == State::Pending));
}

/// Rows that keep to the filter are still met once: the batches walk on by key.
pub fn rows_that_stay_in_the_filter_are_met_once<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let rows = [(); 5].map(|()| h.seed(Seed::pending()));
    let (mut bulk, mut walked) = (Bulk::new(Filter::of(State::Pending)).limit(2), Vec::new());
    loop {
        let done = h.store().operate_all(&bulk, &Action::Retry, &olga()).expect("the store acts");
        walked.extend(keys(done.done));
        assert!(walked.len() <= rows.len(), "no end is in sight");
        match done.next {
            Some(next) => bulk = bulk.after(next),
            None => break,
        }
    }
    assert_eq!(walked, rows);
}

/// A preview says of each row where it would go or why not, and writes nothing.
pub fn a_preview_writes_nothing<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let waits = h.seed(Seed::pending());
    let (held, claim) = seed_and_take(h, "anna");
    let (_over, _third) = (h.seed(Seed::pending().state(State::Completed)), h.seed(Seed::pending()));
    let before = ([row(h, &waits), row(h, &held)], h.events());
    let bulk = Bulk::new(Filter::of(State::Pending).state(State::Running)).limit(2);
    let told = h.store().preview_all(&bulk, &Action::Delete, &olga()).expect("the store looks");
    let [(first, goes), (second, stays)] = &told.rows[..] else { panic!("two rows: {told:?}") };
    assert_eq!((&first.key, &second.key), (&waits, &held));
    assert!(matches!(goes, Ok(None)), "{goes:?}");
    assert!(matches!(stays, Err(OperateError::Held { .. })), "{stays:?}");
    assert_eq!(told.next, Some(held.clone()));
    let forced = h.store().preview_all(&bulk, &Action::Retry, &olga().force()).expect("the store looks");
    assert!(forced.rows.iter().all(|(_, goes)| matches!(goes, Ok(Some(State::Pending)))), "{forced:?}");
    assert_eq!(([row(h, &waits), row(h, &held)], h.events()), before);
    h.store().complete(claim).expect("it is ours");
}

/// Without a filter nothing is done, unless every row is meant and it is said.
pub fn everything_has_to_be_said<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending());
    let before = row(h, &key);
    let empty = Bulk::new(Filter::any());
    let told = h.store().operate_all(&empty, &Action::Delete, &olga()).map(drop).expect_err("no filter");
    assert_eq!(input(&told), InputError::NoFilter);
    let told = h.store().preview_all(&empty, &Action::Delete, &olga()).map(drop).expect_err("no filter");
    assert_eq!(input(&told), InputError::NoFilter);
    assert_eq!(row(h, &key), before);
    assert_eq!(all(h, Filter::all(), &Action::Delete), [key]);
}

/// Exactly the rows of this worker are freed: not those of a name that begins the same, and a live one only by
/// force; a preview says so first (H90).
pub fn a_dead_workers_rows_are_freed_and_no_others<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    if !columns.worker || !columns.lease {
        return;
    }
    let (dead, _gone) = seed_and_take(h, "anna");
    let (alive, live) = seed_and_take(h, "anna");
    let others = ["anna-2", "ann", "Anna"].map(|name| seed_and_take(h, name).0);
    h.expire(&dead, LONG);
    others.iter().for_each(|key| h.expire(key, LONG));
    let before = others.each_ref().map(|key| row(h, key));
    let rows = Bulk::new(Filter::of(State::Running).worker(&worker("anna")));
    let recover = Action::Recover(RecoveryPolicy::default());
    let told = h.store().preview_all(&rows, &recover, &olga()).expect("the store looks");
    let would: Vec<_> = told.rows.iter().map(|(row, goes)| (&row.key, goes.is_ok())).collect();
    assert_eq!(would, [(&dead, true), (&alive, false)]);
    let done = h.store().operate_all(&rows, &recover, &olga()).expect("the store acts");
    assert!(matches!(&done.refused[..], [(key, OperateError::Held { .. })] if *key == alive), "{done:?}");
    assert_eq!(keys(done.done), from_ref(&dead));
    assert_eq!(row(h, &dead).crashes, columns.crashes.then_some(1), "by the usual rules");
    assert_eq!(row(h, &alive).state, State::Running);
    let done = h.store().operate_all(&rows, &recover, &olga().force()).expect("the store acts");
    assert_eq!(done.done[0].ended, Some(worker("anna")));
    assert_eq!(keys(done.done), [alive]);
    fenced(h.store().complete(live));
    assert_eq!(others.each_ref().map(|key| row(h, key)), before);
    let nobody = Bulk::new(Filter::any().worker(&worker("nobody")));
    let done = h.store().operate_all(&nobody, &recover, &olga().force()).expect("the store acts");
    assert!(done.done.is_empty() && done.refused.is_empty() && done.next.is_none(), "{done:?}");
}

/// One row that cannot be changed does not hold up the others, and counts towards the batch.
pub fn a_refused_row_holds_up_no_other<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let first = h.seed(Seed::pending());
    let (held, claim) = seed_and_take(h, "anna");
    let last = h.seed(Seed::pending());
    let rows = Bulk::new(Filter::of(State::Pending).state(State::Running));
    let done = h.store().operate_all(&rows, &Action::Delete, &olga()).expect("the store acts");
    assert!(matches!(&done.refused[..], [(key, OperateError::Held { .. })] if *key == held), "{done:?}");
    assert_eq!(keys(done.done), [first, last]);
    h.store().complete(claim).expect("it is ours");
}

/// Only rows of the queue, the kind and the age that were named.
pub fn each_condition_narrows_what_is_done<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let columns = h.columns();
    let plain = h.seed(Seed::pending().due_ago(LONG));
    let aside = h.seed(Seed::pending().queue("side").kind("odd"));
    let odd = h.seed(Seed::pending().kind("odd"));
    if columns.queue {
        assert_eq!(all(h, Filter::any().queue("side"), &Action::Retry), from_ref(&aside));
    }
    if columns.kind {
        assert_eq!(all(h, Filter::any().kind("odd"), &Action::Retry), [aside.clone(), odd.clone()]);
        if columns.queue {
            let both = Filter::of(State::Pending).queue("default").kind("odd");
            assert_eq!(all(h, both, &Action::Retry), from_ref(&odd));
        }
    }
    if columns.due {
        h.age(&plain, 2 * LONG);
        let old = Filter::of(State::Pending).older_than(LONG + Duration::from_secs(60));
        assert_eq!(all(h, old, &Action::Delete), [plain]);
    }
}

/// Each row of a batch is recorded by itself, with actor and reason.
pub fn each_row_of_a_batch_is_recorded<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let _keys = [(); 3].map(|()| h.seed(Seed::pending()));
    all(h, Filter::of(State::Pending), &Action::Delete);
    let (verb, olga, ticket) = ("delete".to_owned(), "olga".to_owned(), "ticket 4711".to_owned());
    let one = (verb, olga, ticket, Some(State::Pending), None, false);
    assert_eq!(records(h), [one.clone(), one.clone(), one]);
}

/// A batch of nothing or too much, and conditions on columns that are not there, are refused.
pub fn a_bad_batch_is_refused<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    let key = h.seed(Seed::pending());
    let before = (row(h, &key), h.events());
    let columns = h.columns();
    let fine = Bulk::new(Filter::all());
    let mut bad = vec![
        fine.clone().limit(0),
        fine.clone().limit(MAX_BATCH + 1),
        Bulk::new(Filter::all().queue("")),
        Bulk::new(Filter::any().older_than(Duration::MAX)),
    ];
    bad.extend((!columns.queue).then(|| Bulk::new(Filter::any().queue("q"))));
    bad.extend((!columns.kind).then(|| Bulk::new(Filter::any().kind("k"))));
    bad.extend((!columns.worker).then(|| Bulk::new(Filter::any().worker(&worker("w")))));
    bad.extend((!columns.due).then(|| Bulk::new(Filter::of(State::Pending).older_than(LONG))));
    for rows in bad {
        input(&h.store().operate_all(&rows, &Action::Delete, &olga()).map(drop).expect_err("a bad batch"));
        input(&h.store().preview_all(&rows, &Action::Delete, &olga()).map(drop).expect_err("a bad batch"));
    }
    let bad = Action::Requeue(claimstore_core::Requeue::default());
    input(&h.store().operate_all(&fine, &bad, &olga()).map(drop).expect_err("a bad action"));
    assert_eq!((row(h, &key), h.events()), before);
}

/// The holders of rows that a batch ended by force are refused, each.
pub fn force_in_a_batch_fences_every_holder<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !can(h, &Action::DeadLetter) {
        return;
    }
    let held = [(); 3].map(|()| seed_and_take(h, "anna"));
    let rows = Bulk::new(Filter::of(State::Running));
    let done = h.store().operate_all(&rows, &Action::DeadLetter, &olga().force()).expect("the store acts");
    assert_eq!(done.done.len(), 3);
    for (key, claim) in held {
        fenced(h.store().complete(claim));
        assert_eq!(row(h, &key).state, State::Dead);
    }
    let key = h.seed(Seed::pending());
    h.store().complete(take(h, &key, "berta")).expect("others go on");
}
