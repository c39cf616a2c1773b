//! Asking what became of uncertain work.

use claimstore_core::{
    Action, Fence, OperateError, OperateStore, Probed, ProbedAll, Resolution, Sighting, State,
};

use super::acting::{olga, records};
use super::step::row;
use crate::{Harness, Key, Seed};

/// So many uncertain rows.
fn uncertain<H: Harness, const N: usize>(h: &H) -> [Key<H>; N] {
    [(); N].map(|()| h.seed(Seed::pending().state(State::Uncertain).fence(Fence::new(5))))
}

#[track_caller]
fn probe<H: Harness>(
    h: &H,
    limit: usize,
    after: Option<&Key<H>>,
    mut ask: impl FnMut(&Sighting<Key<H>>) -> Probed,
) -> ProbedAll<Key<H>>
where
    H::Store: OperateStore,
{
    h.store().probe(limit, after, &olga(), &mut |row, _| ask(row)).expect("the store probes")
}

/// What was done is completed, what was not is tried again, and what cannot be told stays as it is.
pub fn each_answer_is_acted_on<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().has_word(State::Uncertain) {
        return;
    }
    let [done, again, open] = uncertain(h);
    let _others = [State::Pending, State::Completed].map(|state| h.seed(Seed::pending().state(state)));
    let before = row(h, &open);
    let mut asked = Vec::new();
    let told = probe(h, 10, None, |row| {
        asked.push(row.key.clone());
        match &row.key {
            key if *key == done => Probed::Done,
            key if *key == again => Probed::NotDone,
            _ => Probed::Unknown,
        }
    });
    assert_eq!(asked, [done.clone(), again.clone(), open.clone()], "each once, by key");
    let resolved: Vec<_> = told.resolved.iter().map(|row| (row.key.clone(), row.to)).collect();
    let states = [State::Completed, State::Pending];
    assert_eq!(resolved, [(done.clone(), Some(states[0])), (again.clone(), Some(states[1]))]);
    assert_eq!((told.unknown, told.failed.len(), told.next), (vec![open.clone()], 0, None));
    assert_eq!([&done, &again].map(|key| row(h, key).state), states);
    assert_eq!(row(h, &open), before);
    assert!(records(h).iter().all(|(verb, actor, ..)| verb == "resolve" && actor == "olga"));
    assert_eq!(records(h).len(), 2);
}

/// A row that somebody has decided while it was asked about is left as it was decided.
pub fn a_row_decided_meanwhile_is_left_alone<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().has_word(State::Uncertain) {
        return;
    }
    let [key, gone, last] = uncertain(h);
    let told = probe(h, 10, None, |seen| {
        if seen.key == key {
            let other = Resolution::Again;
            h.store().resolve(&seen.key, seen.fence, other, &olga()).expect("it is as it was seen");
            h.store().operate(&seen.key, row(h, &key).fence, &Action::Delete, &olga()).expect("as seen");
            h.delete(&gone);
        }
        Probed::Done
    });
    let [(failed, OperateError::Missing)] = &told.failed[..] else { panic!("one is missing: {told:?}") };
    assert_eq!(*failed, key);
    assert_eq!(told.resolved.iter().map(|done| &done.key).collect::<Vec<_>>(), [&last]);
    assert_eq!([&key, &gone].map(|key| h.read(key)), [None, None]);

    let [key] = uncertain(h);
    let told = probe(h, 10, None, |seen| {
        h.store().resolve(&seen.key, seen.fence, Resolution::Again, &olga()).expect("it is as it was seen");
        Probed::Done
    });
    assert!(matches!(&told.failed[..], [(_, OperateError::Changed { .. })]), "{told:?}");
    assert_eq!(row(h, &key).state, State::Pending);
}

/// A round asks of no more rows than its limit, and the next goes on after the last, also past open ones.
pub fn a_round_is_bounded_and_the_next_goes_on<H: Harness>(h: &H)
where
    H::Store: OperateStore,
{
    if !h.columns().has_word(State::Uncertain) {
        return;
    }
    let keys: [Key<H>; 5] = uncertain(h);
    let (mut asked, mut after) = (Vec::new(), None);
    for rows in [2, 2, 1] {
        let told = probe(h, 2, after.as_ref(), |row| {
            asked.push(row.key.clone());
            Probed::Unknown
        });
        assert_eq!(told.unknown.len(), rows);
        after = told.next;
    }
    assert_eq!((asked, after), (keys.to_vec(), None));
}
