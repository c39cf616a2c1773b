//! Claiming the next rows that are due.

use std::cmp::Reverse;

use claimstore_core::{ClaimStore, Fence, InputError, State, Tally, Timestamp};

use super::step::{LONG, ask, input, next_keys, row, take};
use crate::{Harness, Key, Seed};

/// Rows come by priority, then in key order where they are due alike, whatever order they lie in (H25).
pub fn rows_come_in_the_declared_order<H: Harness>(h: &H) {
    let mut random = fastrand::Rng::with_seed(25);
    let priorities: Vec<i32> = (0..200).map(|_| random.i32(-20..20)).collect();
    let keys = h.seed_many(priorities.iter().map(|p| Seed::pending().priority(*p)).collect());
    let mut expected: Vec<usize> = (0..keys.len()).collect();
    if h.columns().priority {
        expected.sort_by_key(|n| Reverse(priorities[*n]));
    }
    let expected: Vec<Key<H>> = expected.into_iter().map(|n| keys[n].clone()).collect();
    assert_eq!(next_keys(h, &ask("anna").limit(50)), expected[..50]);
    assert_eq!(next_keys(h, &ask("anna").limit(1)), expected[50..51]);
    assert_eq!(next_keys(h, &ask("anna").limit(500)), expected[51..]);
}

/// A limit is a limit, and exactly the rows that were answered are running (H1).
pub fn never_more_than_the_limit<H: Harness>(h: &H) {
    let keys = h.seed_many(vec![Seed::pending(); 30]);
    let mut running = 0;
    for limit in [1, 10, 3, 10, 10] {
        let got = next_keys(h, &ask("anna").limit(limit));
        assert_eq!(got.len(), limit.min(keys.len() - running));
        running += got.len();
        assert_eq!(h.count_in(State::Running), running);
    }
}

/// Nothing to do is an answer and not an error.
pub fn an_empty_table_gives_an_empty_batch<H: Harness>(h: &H) {
    let batch = h.store().claim_next(&ask("anna").limit(10)).expect("nothing to do is no error");
    assert!(batch.is_empty());
    assert_eq!(batch.next_due, None);
}

/// Each row of a batch has its own claim, stored whole.
pub fn each_claim_of_a_batch_is_stored<H: Harness>(h: &H) {
    let keys = h.seed_many(vec![Seed::pending(); 5]);
    let batch = h.store().claim_next(&ask("anna").limit(5)).expect("it claims");
    assert_eq!(batch.len(), keys.len());
    for claimed in batch {
        let stored = row(h, claimed.claim.key());
        assert_eq!(stored.state, State::Running);
        assert_eq!(stored.fence, claimed.claim.fence());
        assert_eq!(stored.lease, claimed.claim.until());
        assert_eq!(stored.worker.is_some(), h.store().guarantees().holders);
    }
}

/// Rows due later are passed over, and a short batch says when the next one will be due.
pub fn rows_due_later_are_passed_over<H: Harness>(h: &H) {
    let later = h.seed(Seed::pending().due_in(2 * LONG).priority(9));
    let sooner = h.seed(Seed::pending().due_in(LONG).priority(8));
    let now = h.seed(Seed::pending());
    if !h.store().guarantees().due_times {
        assert_eq!(next_keys(h, &ask("anna").limit(9)).len(), 3);
        return;
    }
    let batch = h.store().claim_next(&ask("anna").limit(9)).expect("it claims");
    assert_eq!(batch.next_due, row(h, &sooner).due);
    assert_eq!(batch.into_iter().map(|c| c.claim.key().clone()).collect::<Vec<_>>(), [now]);
    h.make_due(&sooner);
    let batch = h.store().claim_next(&ask("anna").limit(9)).expect("it claims");
    assert_eq!(batch.next_due, row(h, &later).due);
    assert_eq!(batch.into_iter().map(|c| c.claim.key().clone()).collect::<Vec<_>>(), [sooner]);
}

/// Rows with a spent budget at the head take no slot of a batch (H24).
pub fn rows_that_can_never_be_claimed_take_no_slot<H: Harness>(h: &H) {
    let spent = Seed::pending().failures(2).max_failures(2).priority(9);
    let stuck = h.seed_many(vec![spent; 3]);
    let good = h.seed_many(vec![Seed::pending(); 10]);
    let counted = h.store().guarantees().failure_budget && h.columns().budgets;
    let expected = if counted { &good[..3] } else { &stuck[..3] };
    assert_eq!(next_keys(h, &ask("anna").limit(3)), expected);
}

/// A row that can never be claimed is nothing to wait for.
pub fn an_exhausted_row_is_nothing_to_wait_for<H: Harness>(h: &H) {
    if h.store().guarantees().failure_budget && h.columns().budgets {
        h.seed(Seed::pending().failures(2).max_failures(2));
        h.seed(Seed::pending().failures(2).max_failures(2).due_in(LONG));
    }
    let worn = h.seed(Seed::pending());
    h.set_fence(&worn, Fence::new(i64::MAX));
    let batch = h.store().claim_next(&ask("anna").limit(3)).expect("it claims");
    assert!(batch.is_empty());
    assert_eq!(batch.next_due, None::<Timestamp>);
}

/// One row whose fence cannot rise does not stop the others, and is not changed (H48).
pub fn a_worn_out_fence_does_not_stop_the_others<H: Harness>(h: &H) {
    let worn = h.seed(Seed::pending().priority(9));
    h.set_fence(&worn, Fence::new(i64::MAX));
    let good = h.seed_many(vec![Seed::pending(); 20]);
    assert_eq!(next_keys(h, &ask("anna").limit(10)), good[..10]);
    let stored = row(h, &worn);
    assert_eq!((stored.state, stored.fence), (State::Pending, Fence::new(i64::MAX)));
}

/// Counters at the end of their range do not stop a batch; they stay where they are (H48).
pub fn full_counters_do_not_stop_the_others<H: Harness>(h: &H) {
    let full = h.seed(Seed::pending().priority(9));
    h.set_tally(&full, Tally { interruptions: i32::MAX, ..Tally::default() });
    let spent = h.seed(Seed::pending().priority(8).max_failures(5));
    h.set_tally(&spent, Tally { failures: i32::MAX, crashes: i32::MAX, interruptions: i32::MAX });
    let good = h.seed_many(vec![Seed::pending(); 20]);
    let got = next_keys(h, &ask("anna").limit(10));
    assert_eq!(got.len(), 10);
    assert_eq!(got[0], full, "the row with interruptions may still be claimed");
    assert!(got.contains(&good[0]));
    take_back_a_full_row(h);
}

/// Releasing a row whose interruptions are at the end of their range leaves them there.
fn take_back_a_full_row<H: Harness>(h: &H) {
    let key = h.seed(Seed::pending());
    h.set_tally(&key, Tally { interruptions: i32::MAX, ..Tally::default() });
    let claim = take(h, &key, "anna");
    h.store().release(claim).expect("a full counter is no failure");
    let counted = h.columns().interruptions;
    assert_eq!(row(h, &key).interruptions, counted.then_some(i32::MAX));
}

/// Only rows of the named queues are claimed, merged in the table's order, and the next due time is
/// theirs. On a table without queues naming one is refused.
pub fn only_the_named_queues_are_claimed<H: Harness>(h: &H) {
    let wanted = ask("anna").limit(9).queues(["red", "blue", "red"]);
    if !h.columns().queue {
        let key = h.seed(Seed::pending());
        let error = h.store().claim_next(&wanted).err().expect("there are no queues");
        assert!(matches!(input(&error), InputError::NoQueueColumn { .. }));
        assert_eq!(row(h, &key).state, State::Pending);
        return;
    }
    let blue = h.seed(Seed::pending().queue("blue").priority(1));
    let plain = h.seed(Seed::pending().priority(9));
    let red = h.seed(Seed::pending().queue("red").priority(2));
    let last = h.seed(Seed::pending().queue("blue"));
    let waiting = h.seed(Seed::pending().queue("red").due_in(2 * LONG));
    h.seed(Seed::pending().due_in(LONG));
    let batch = h.store().claim_next(&wanted).expect("it claims");
    if h.columns().due {
        assert_eq!(batch.next_due, row(h, &waiting).due);
    }
    let got: Vec<_> = batch.into_iter().map(|claimed| claimed.claim.key().clone()).collect();
    let expected = if h.columns().priority { [red, blue, last] } else { [blue, red, last] };
    assert_eq!(got[..3], expected);
    assert_eq!(row(h, &plain).state, State::Pending);
    assert_eq!(next_keys(h, &ask("anna").limit(1)), [plain], "unnamed means the default queue");
}

/// A limit over several queues is one limit.
pub fn several_queues_share_one_limit<H: Harness>(h: &H) {
    if !h.columns().queue {
        return only_the_named_queues_are_claimed(h);
    }
    for queue in ["red", "blue", "green"] {
        h.seed_many(vec![Seed::pending().queue(queue); 10]);
    }
    let got = next_keys(h, &ask("anna").queues(["red", "blue", "green"]).limit(12));
    assert_eq!(got.len(), 12);
    assert_eq!(h.count_in(State::Running), 12);
}
