//! Many threads at once. Barriers start them together; nothing sleeps.

use std::collections::HashSet;
use std::sync::{Barrier, Mutex};
use std::thread;

use claimstore_core::{
    ClaimStore, LockScope, RecoverStore, Refusal, RowLocks, State, StoreErrorKind, Verdict, Wait,
};

use super::step::{LONG, ask, at_once, row, seed_and_take};
use crate::{Harness, Key, Seed};

const THREADS: usize = 16;

/// Every second thread goes by the other handle.
fn handle<H: Harness>(h: &H, thread: usize) -> &H::Store {
    if thread.is_multiple_of(2) { h.store() } else { h.other() }
}

/// Sixteen claim one row by key: one wins, the others are told that it is held, none gets an error (H2).
/// Where the lock is the whole file's, one that will not wait may be told that the file is busy.
pub fn one_row_is_won_by_one_thread<H: Harness>(h: &H) {
    let whole_file = h.store().guarantees().locks == RowLocks::WholeFile;
    for round in 0..h.rounds() {
        let wait = if round.is_multiple_of(2) { Wait::AtMost(LONG / 60) } else { Wait::Never };
        let busy_is_fair = whole_file && wait == Wait::Never;
        let (key, start) = (h.seed(Seed::pending()), Barrier::new(THREADS));
        let answers: Vec<Option<Refusal>> = thread::scope(|scope| {
            let claim = |n: usize| {
                let (key, start) = (&key, &start);
                scope.spawn(move || {
                    let (store, ask) = (handle(h, n), ask(&format!("worker-{n}")).wait(wait));
                    start.wait();
                    match store.claim(key, &ask) {
                        Ok(outcome) => outcome.refusal().cloned(),
                        Err(error) if busy_is_fair && error.kind() == StoreErrorKind::Contended => {
                            Some(Refusal::Locked { scope: LockScope::Row })
                        }
                        Err(error) => panic!("losing is not an error: {error}"),
                    }
                })
            };
            let threads: Vec<_> = (0..THREADS).map(claim).collect();
            threads.into_iter().map(|thread| thread.join().expect("it did not panic")).collect()
        });
        let won = answers.iter().filter(|answer| answer.is_none()).count();
        assert_eq!(won, 1, "round {round}: {answers:?}");
        let fair = |why: &Refusal| matches!(why, Refusal::Held { .. } | Refusal::Locked { .. });
        assert!(answers.iter().flatten().all(fair), "round {round}: {answers:?}");
        assert_eq!(row(h, &key).state, State::Running);
    }
}

/// Sixteen ask for the next row where there is one: one gets it, the others get nothing (H2).
pub fn the_next_row_is_won_by_one_thread<H: Harness>(h: &H) {
    for round in 0..h.rounds() {
        let (key, start) = (h.seed(Seed::pending()), Barrier::new(THREADS));
        let won = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for n in 0..THREADS {
                let (start, won) = (&start, &won);
                scope.spawn(move || {
                    let (store, ask) = (handle(h, n), ask(&format!("worker-{n}")));
                    start.wait();
                    let batch = store.claim_next(&ask).expect("losing is not an error");
                    won.lock().expect("not poisoned").extend(batch.into_iter().map(|c| c.claim));
                });
            }
        });
        let won = won.into_inner().expect("not poisoned");
        assert_eq!(won.iter().map(|claim| claim.key()).collect::<Vec<_>>(), [&key], "round {round}");
        assert_eq!(row(h, &key).fence, won[0].fence());
    }
}

/// Threads drain a table in batches: every row is won once, none is left, none is lost.
pub fn many_rows_are_each_won_once<H: Harness>(h: &H) {
    let keys: HashSet<Key<H>> = h.seed_many(vec![Seed::pending(); 240]).into_iter().collect();
    let (start, won) = (Barrier::new(THREADS), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for n in 0..THREADS {
            let (start, won) = (&start, &won);
            scope.spawn(move || {
                let (store, ask) = (handle(h, n), ask(&format!("worker-{n}")).limit(1 + n % 7));
                start.wait();
                loop {
                    let batch = store.claim_next(&ask).expect("contention is not an error");
                    assert!(batch.len() <= ask.limit_rows(), "more than the limit");
                    if batch.is_empty() {
                        return;
                    }
                    won.lock().expect("not poisoned").extend(batch.into_iter().map(|c| c.claim));
                }
            });
        }
    });
    let won = won.into_inner().expect("not poisoned");
    assert_eq!(won.len(), keys.len());
    assert_eq!(won.iter().map(|claim| claim.key().clone()).collect::<HashSet<_>>(), keys);
    assert_eq!(h.count_in(State::Running), keys.len());
    assert!(won.iter().all(|claim| row(h, claim.key()).fence == claim.fence()));
}

/// Threads claim, settle in batches and claim on until all is done: each row is completed once.
pub fn all_work_is_done_once<H: Harness>(h: &H) {
    let total = 240;
    h.seed_many(vec![Seed::pending(); total]);
    let (start, completed) = (Barrier::new(THREADS), Mutex::new(0));
    thread::scope(|scope| {
        for n in 0..THREADS {
            let (start, completed) = (&start, &completed);
            scope.spawn(move || {
                let (store, ask) = (handle(h, n), ask(&format!("worker-{n}")).limit(5));
                start.wait();
                let mut done = Vec::new();
                loop {
                    let count = done.len();
                    let both = store.settle_and_claim(done, &ask);
                    for answer in both.settled {
                        assert!(!answer.expect("it is ours").already, "nobody else settles it");
                    }
                    *completed.lock().expect("not poisoned") += count;
                    let batch = both.claimed.expect("contention is not an error");
                    done = batch.into_iter().map(|c| (c.claim, Verdict::complete())).collect();
                    if done.is_empty() {
                        return;
                    }
                }
            });
        }
    });
    assert_eq!(completed.into_inner().expect("not poisoned"), total);
    assert_eq!(h.count_in(State::Completed), total);
}

/// Completing and recovering one expired claim at the same time: exactly one wins (H19).
pub fn completing_races_recovering<H: Harness>(h: &H) {
    let leases = h.store().guarantees().leases;
    for round in 0..h.rounds() {
        let (key, claim) = seed_and_take(h, "anna");
        let (fence, start) = (claim.fence(), Barrier::new(2));
        h.expire(&key, LONG);
        let (completed, recovered) = thread::scope(|scope| {
            let start = &start;
            let completing = scope.spawn(move || {
                start.wait();
                h.store().complete(claim)
            });
            let recovering = scope.spawn(move || {
                start.wait();
                h.other().recover(&at_once(3), 10)
            });
            (completing.join().expect("no panic"), recovering.join().expect("no panic"))
        });
        let taken = match recovered {
            Ok(done) => done.rows.len(),
            Err(error) => {
                assert!(!leases, "round {round}: {error}");
                0
            }
        };
        let stored = row(h, &key);
        match completed {
            Ok(receipt) => {
                assert_eq!((receipt.already, taken), (false, 0), "round {round}");
                assert_eq!((stored.state, stored.fence), (State::Completed, fence));
            }
            Err(error) => {
                assert!(error.fenced().is_some(), "round {round}: {error}");
                assert_eq!((taken, stored.state), (1, State::Pending), "round {round}");
                assert!(stored.fence > fence);
            }
        }
    }
}

/// Two sweepers meet over the same expired rows: each row is recovered once.
pub fn two_sweepers_recover_each_row_once<H: Harness>(h: &H) {
    if !h.store().guarantees().leases {
        return completing_races_recovering(h);
    }
    let claims: Vec<_> = (0..40).map(|_| seed_and_take(h, "anna")).collect();
    claims.iter().for_each(|(key, _)| h.expire(key, LONG));
    let start = Barrier::new(2);
    let sweep = |store: &H::Store| {
        start.wait();
        let mut found = Vec::new();
        loop {
            let done = store.recover(&at_once(3), 7).expect("contention is not an error");
            assert!(done.failed.is_empty(), "{:?}", done.failed);
            if done.rows.is_empty() {
                return found;
            }
            found.extend(done.rows.into_iter().map(|row| row.key));
        }
    };
    let found: Vec<_> = thread::scope(|scope| {
        let (one, two) = (scope.spawn(|| sweep(h.store())), scope.spawn(|| sweep(h.other())));
        [one, two].into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(found.len(), claims.len());
    assert_eq!(found.into_iter().collect::<HashSet<_>>().len(), claims.len());
    assert_eq!(h.count_in(State::Pending), claims.len());
}
