//! How many rows stand where.

use std::time::Duration;

use claimstore_core::{ClaimStore, Count, Counts, InspectStore, State};

use super::step::{LONG, input, seed_and_take};
use crate::{Harness, Seed};

#[track_caller]
fn counts<H: Harness>(h: &H, cap: u32) -> Counts
where
    H::Store: InspectStore,
{
    h.store().counts(cap).expect("the store counts")
}

/// The states that the table has a word for, in the order of a row's life.
fn words<H: Harness>(h: &H) -> Vec<State> {
    let columns = h.columns();
    State::ALL.into_iter().filter(|state| columns.has_word(*state)).collect()
}

/// So many rows in this state.
fn stand<H: Harness>(h: &H, state: State, rows: usize) {
    for _ in 0..rows {
        match state {
            State::Running => drop(seed_and_take(h, "anna")),
            other => drop(h.seed(Seed::pending().state(other))),
        }
    }
}

/// Up to the cap every state is counted exactly.
pub fn counts_are_exact_below_the_cap<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    for (n, state) in words(h).into_iter().enumerate() {
        stand(h, state, n + 2);
    }
    let told = counts(h, 20);
    for (n, state) in words(h).into_iter().enumerate() {
        assert_eq!(told.of(state), Count::Exactly(n as u64 + 2), "{state}");
        assert_eq!(h.count_in(state), n + 2, "{state}");
    }
}

/// Above the cap live states say "more than"; ended ones may be estimated, and say so.
pub fn counts_above_the_cap_say_so<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    for state in words(h) {
        stand(h, state, 4);
    }
    let told = counts(h, 3);
    for state in words(h) {
        let said = told.of(state);
        let fits = said == Count::MoreThan(3) || (state.is_final() && matches!(said, Count::About(_)));
        assert!(fits, "{state}: {said}");
    }
    assert!(
        counts(h, 4).states.iter().all(|(_, said)| *said == Count::Exactly(4)),
        "the cap is not above it"
    );
}

/// Each state that the table knows is told, in the order of a row's life, also where no row stands in it.
pub fn every_state_of_the_table_is_told<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let told = counts(h, 1);
    assert_eq!(told.states, words(h).into_iter().map(|state| (state, Count::Exactly(0))).collect::<Vec<_>>());
    assert_eq!((told.oldest_due, told.oldest_wait()), (None, None));
    assert_eq!(told.completed_last_minute, Count::Exactly(0));
}

/// The row that has been due for longest is the one that waits; rows that are not due and held ones do not.
pub fn the_oldest_due_row_is_told<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let (_held, _claim) = seed_and_take(h, "anna");
    h.seed(Seed::pending().due_in(LONG));
    assert_eq!(counts(h, 10).oldest_due, None, "nothing waits that could be claimed");
    h.seed(Seed::pending().due_ago(LONG));
    let oldest = h.seed(Seed::pending().due_ago(2 * LONG));
    h.seed(Seed::pending().due_ago(LONG / 2));
    let told = counts(h, 10);
    assert_eq!(told.oldest_due, h.read(&oldest).and_then(|row| row.due));
    assert_eq!(told.oldest_wait().is_some_and(|wait| wait >= 2 * LONG), h.columns().due);
}

/// The rate counts what was completed in the last minute, and no other ending.
pub fn what_was_completed_lately_is_told<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    if !h.columns().finished {
        return;
    }
    for _ in 0..3 {
        let (_, claim) = seed_and_take(h, "anna");
        h.store().complete(claim).expect("it is ours");
    }
    let (old, claim) = seed_and_take(h, "anna");
    h.store().complete(claim).expect("it is ours");
    h.age(&old, Duration::from_secs(61));
    if h.columns().has_word(State::Dead) {
        let dead = h.seed(Seed::pending().state(State::Dead));
        h.age(&dead, Duration::from_secs(1));
    }
    assert_eq!(counts(h, 10).completed_last_minute, Count::Exactly(3));
    assert_eq!(counts(h, 2).completed_last_minute, Count::MoreThan(2));
}

/// A cap of nothing, or above a million, is refused.
pub fn a_bad_cap_is_refused<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    for cap in [0, Counts::MAX_CAP + 1, u32::MAX] {
        input(&h.store().counts(cap).map(drop).expect_err("a bad cap"));
    }
    counts(h, Counts::MAX_CAP);
}
