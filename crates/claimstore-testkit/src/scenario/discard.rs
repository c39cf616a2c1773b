//! Deleting finished rows at once, by choice of the queue.

use claimstore_core::{Claim, ClaimStore, Now, Pausable, QueueStore, Receipt, State, Verdict};

use super::acting::{olga, records};
use super::step::{ask, fenced, row, seed_and_take, take};
use crate::{Harness, Key, Seed};

const DONE: Receipt = Receipt { state: State::Completed, already: false };

/// Lets the queue `default` delete what is completed. Says whether the table has queues.
#[track_caller]
fn discarding<H: Harness>(h: &H) -> bool
where
    H::Store: QueueStore,
{
    if !h.columns().queue {
        h.store().keep_completed("default", false, &olga()).expect_err("there are no queues");
        return false;
    }
    keep(h, false);
    true
}

#[track_caller]
fn keep<H: Harness>(h: &H, keep: bool)
where
    H::Store: QueueStore,
{
    assert!(h.store().keep_completed("default", keep, &olga()).expect("the store sets it"));
}

/// A completed row is gone, and its completion answered like any other; other queues keep theirs.
pub fn a_completed_row_is_deleted<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !discarding(h) {
        return;
    }
    let (key, claim) = seed_and_take(h, "anna");
    assert!(claim.discards());
    assert_eq!(h.store().complete(claim).expect("it is ours"), DONE);
    assert_eq!(h.read(&key), None);
    let aside = h.seed(Seed::pending().queue("side"));
    let claim = take(h, &aside, "anna");
    assert!(!claim.discards());
    h.store().complete(claim).expect("it is ours");
    assert_eq!(row(h, &aside).state, State::Completed);
}

/// Only completed rows are deleted: those that failed, were given up or handed back are kept.
pub fn only_completed_rows_are_deleted<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !discarding(h) {
        return;
    }
    let mut verdicts = vec![Verdict::fail("no"), Verdict::release()];
    verdicts.extend(h.columns().has_word(State::Dead).then(|| Verdict::fail_for_good("never")));
    for verdict in verdicts {
        let (key, claim) = seed_and_take(h, "anna");
        let receipt = h.store().settle(claim, verdict).expect("it is ours");
        assert_eq!(row(h, &key).state, receipt.state);
        h.delete(&key);
    }
}

/// In a batch each row goes as its claim and verdict say.
pub fn a_mixed_batch_deletes_what_it_should<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let (kept, early) = seed_and_take(h, "anna");
    if !discarding(h) {
        return;
    }
    let claims: [(Key<H>, Claim<Key<H>>); 4] = [(); 4].map(|()| seed_and_take(h, "anna"));
    let aside = h.seed(Seed::pending().queue("side"));
    let other = take(h, &aside, "anna");
    let keys = claims.each_ref().map(|(key, _)| key.clone());
    let [a, b, c, lost] = claims.map(|(_, claim)| claim);
    h.delete(&keys[3]);
    let batch = vec![
        (other, Verdict::complete()),
        (c, Verdict::complete()),
        (lost, Verdict::complete()),
        (b, Verdict::fail("no")),
        (a, Verdict::complete()),
        (early, Verdict::complete()),
    ];
    let mut answers = h.store().settle_all(batch).into_iter();
    let mut next = || answers.next().expect("one answer for each");
    assert_eq!([next(), next()].map(|answer| answer.expect("it is ours")), [DONE, DONE]);
    assert_eq!(fenced(next()).now, Now::Gone);
    assert_eq!(next().expect("it is ours").state, State::Pending);
    assert_eq!([next(), next()].map(|answer| answer.expect("it is ours")), [DONE, DONE]);
    assert_eq!(
        keys.each_ref().map(|key| h.read(key).map(|row| row.state)),
        [None, Some(State::Pending), None, None]
    );
    assert_eq!([&kept, &aside].map(|key| row(h, key).state), [State::Completed; 2]);
}

/// Settling and claiming deletes as settling does, and the rows it claims know what becomes of them.
pub fn settling_and_claiming_deletes_as_well<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !discarding(h) {
        return;
    }
    let (done, claim) = seed_and_take(h, "anna");
    let (failed, bad) = seed_and_take(h, "anna");
    let next = h.seed(Seed::pending());
    let settled = vec![(claim, Verdict::complete()), (bad, Verdict::fail("no"))];
    let both = h.store().settle_and_claim(settled, &ask("anna"));
    let told: Vec<_> = both.settled.into_iter().map(|answer| answer.expect("it is ours").state).collect();
    assert_eq!(told, [State::Completed, State::Pending]);
    assert_eq!((h.read(&done), row(h, &failed).state), (None, State::Pending));
    let claimed = both.claimed.expect("the store claims").into_iter().next().expect("one is due").claim;
    assert_eq!((claimed.key(), claimed.discards()), (&next, true));
    let both = h.store().settle_and_claim(vec![(claimed, Verdict::complete())], &ask("anna"));
    assert_eq!(both.settled.into_iter().next().map(|answer| answer.expect("it is ours")), Some(DONE));
    assert_eq!(h.read(&next), None);
}

/// What holds is what was set when the row was claimed, by key or by readiness.
pub fn what_was_set_at_the_claim_holds<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let (kept, early) = seed_and_take(h, "anna");
    if !discarding(h) {
        return;
    }
    let (by_key, one) = seed_and_take(h, "anna");
    let next = h.seed(Seed::pending());
    let batch = h.store().claim_next(&ask("anna")).expect("the store claims");
    let two = batch.into_iter().next().expect("one is due").claim;
    keep(h, true);
    for claim in [early, one, two] {
        assert_eq!(h.store().complete(claim).expect("it is ours"), DONE);
    }
    assert_eq!(row(h, &kept).state, State::Completed);
    assert_eq!([&by_key, &next].map(|key| h.read(key)), [None, None]);
    let (again, claim) = seed_and_take(h, "anna");
    h.store().complete(claim).expect("it is ours");
    assert_eq!(row(h, &again).state, State::Completed);
}

/// A claim that another process has taken up deletes as well.
pub fn a_resumed_claim_deletes_as_well<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !discarding(h) {
        return;
    }
    let (key, claim) = seed_and_take(h, "anna");
    let taken_up = ClaimStore::resume(h.other(), &claim.token()).expect("it is held");
    assert!(taken_up.discards());
    assert_eq!(h.other().complete(taken_up).expect("it is ours"), DONE);
    assert_eq!(h.read(&key), None);
}

/// The guards are the same: a holder that lost its claim deletes nothing.
pub fn a_lost_claim_deletes_nothing<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !discarding(h) {
        return;
    }
    let (key, claim) = seed_and_take(h, "anna");
    super::step::take_away(h, &key);
    let after = row(h, &key);
    fenced(h.store().complete(claim));
    assert_eq!(row(h, &key), after);
}

/// A completion that is repeated because its answer was lost finds no row, and says so.
pub fn a_repeated_completion_finds_no_row<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    if !discarding(h) {
        return;
    }
    let (_, claim) = seed_and_take(h, "anna");
    let twin = ClaimStore::resume(h.store(), &claim.token()).expect("it is held");
    h.store().complete(claim).expect("it is ours");
    assert_eq!(fenced(h.store().complete(twin)).now, Now::Gone);
}

/// It is told and recorded; setting what is set changes nothing, and a pause is apart from it.
pub fn what_is_kept_is_told<H: Harness>(h: &H)
where
    H::Store: QueueStore,
{
    let columns = h.columns();
    if columns.queue {
        assert!(!h.store().keep_completed("default", true, &olga()).expect("the store sets it"));
    }
    if !discarding(h) {
        return;
    }
    let told = || {
        let queues = h.other().queues().expect("the store looks");
        let set = queues.into_iter().find(|set| set.what == Pausable::queue("default")).expect("it is set");
        (set.keep_completed, set.pause.is_some())
    };
    assert_eq!(told(), (false, false));
    assert!(!h.store().keep_completed("default", false, &olga()).expect("the store sets it"));
    assert!(h.store().pause(&Pausable::queue("default"), &olga()).expect("the store pauses"));
    assert_eq!(told(), (false, true));
    keep(h, true);
    assert_eq!(told(), (true, true));
    if h.store().guarantees().late_writers {
        assert_eq!(records(h).len(), 3, "what changed something is recorded");
    }
}
