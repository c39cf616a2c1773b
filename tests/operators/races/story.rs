//! Everybody at once on the same rows, and a checker that reads the story of each row afterwards: every transition is
//! recorded in its own transaction, so the events of a row have to follow from each other, and to be as many as the
//! answers that said "done".

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use claimstore::core::{
    ClaimStore, Event, Fence, Happened, History, InspectStore, OperateError, OperateStore, RecoverStore,
    SettleCause, State, Verdict,
};
use claimstore::{ClaimOn, Job, Store};

use crate::bench::{due, history, olga, shown, verbs};
use crate::support::{Database, TestResult, ask, at_once, on_both};

on_both! {
    many_hands_write_one_story
}

const ROWS: usize = 30;
const TURNS: usize = 100;

/// What one hand was told that it has done.
#[derive(Default, Debug, PartialEq)]
struct Done(BTreeMap<&'static str, usize>);

impl Done {
    fn add(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    fn of(&self, what: &str) -> usize {
        self.0.get(what).copied().unwrap_or_default()
    }

    fn and(mut self, other: Done) -> Done {
        other.0.into_iter().for_each(|(what, count)| self.add(what, count));
        self
    }
}

/// Claims with a short lease or a long one, and settles one way or the other; being late is no error.
fn work<B: Database>(store: &Store<Job, B::D>, name: &str) -> Done
where
    Job: ClaimOn<B::D>,
{
    let mut done = Done::default();
    for turn in 0..TURNS {
        let lease = Duration::from_millis(if turn % 2 == 0 { 1 } else { 60_000 });
        let batch = store.claim_next(&ask(name).lease(lease).limit(2)).expect("losing is not an error");
        done.add("claimed", batch.len());
        for claimed in batch {
            let (what, verdict) = match fastrand::u8(0..4) {
                0 => ("settled", Verdict::complete()),
                1 => ("failed", Verdict::fail_after("no", Duration::ZERO)),
                2 => ("settled", Verdict::release()),
                // Vanished.
                _ => continue,
            };
            match store.settle(claimed.claim, verdict) {
                Ok(receipt) => {
                    assert!(!receipt.already, "nobody settles twice");
                    done.add(what, 1);
                }
                Err(error) => match error.cause() {
                    SettleCause::Fenced(_) => done.add("late_writer", 1),
                    other => panic!("{other}"),
                },
            }
        }
    }
    done
}

fn sweep<B: Database>(store: &Store<Job, B::D>) -> Done
where
    Job: ClaimOn<B::D>,
{
    let mut done = Done::default();
    for _ in 0..TURNS {
        let swept = store.recover(&at_once().max_crashes(1_000), 5).expect("losing is not an error");
        assert!(swept.failed.is_empty(), "{:?}", swept.failed);
        done.add("recovered", swept.rows.len());
    }
    done
}

/// Looks at a row, and acts on it as it was seen.
fn operate<B: Database>(store: &Store<Job, B::D>, ids: &[i64]) -> Done
where
    Job: ClaimOn<B::D>,
{
    let (mut done, verbs) = (Done::default(), verbs());
    for _ in 0..TURNS {
        let id = ids[fastrand::usize(..ids.len())];
        let Some(row) = store.show(&id).expect("the store looks") else { continue };
        // A verb that means something there, and deletion only rarely: else nothing is left to fight over.
        let fit = |verb: &&claimstore::core::Action| {
            verb.from().contains(&row.state) && (verb.verb() != "delete" || fastrand::u8(..) < 8)
        };
        let fit: Vec<_> = verbs.iter().filter(fit).collect();
        if fit.is_empty() {
            continue;
        }
        let by = if fastrand::bool() { olga().force() } else { olga() };
        match store.operate(&id, row.fence, fit[fastrand::usize(..fit.len())], &by) {
            Ok(_) => done.add("operated", 1),
            Err(
                OperateError::Missing
                | OperateError::Changed { .. }
                | OperateError::Held { .. }
                | OperateError::NotFrom { .. },
            ) => {}
            Err(other) => panic!("{other}"),
        }
    }
    done
}

/// Reads the events of one row as its life. Where it ends; `None` where it was deleted.
fn replay(events: &[Event]) -> (Option<State>, Fence) {
    let (mut state, mut fence) = (None, Fence::NEVER);
    for (n, event) in events.iter().enumerate() {
        let story = || format!("event {n} of {events:#?}");
        let rises = event.fence > fence;
        let from = match &event.what {
            Happened::LateWriter(late) => {
                assert!(late.held <= fence, "a late writer shows an old fence: {}", story());
                continue;
            }
            Happened::Enqueued {} => None,
            Happened::Claimed {} => Some(State::Pending),
            Happened::Settled { .. } | Happened::Failed { .. } | Happened::Recovered { .. } => {
                Some(State::Running)
            }
            Happened::Operated { from, .. } => *from,
            other => panic!("{other:?}: {}", story()),
        };
        assert_eq!(state, from, "each begins where the one before it ended: {}", story());
        let (to, must_rise) = match &event.what {
            Happened::Enqueued {} => (Some(State::Pending), false),
            Happened::Claimed {} => (Some(State::Running), true),
            Happened::Settled { to, .. } | Happened::Failed { to, .. } => (Some(*to), false),
            Happened::Recovered { to, .. } => (Some(*to), true),
            Happened::Operated { to, .. } => (*to, to.is_some()),
            _ => unreachable!("seen above"),
        };
        assert_eq!(
            rises,
            must_rise,
            "the fence rises where a claim begins or is ended for another: {}",
            story()
        );
        (state, fence) = (to, event.fence);
    }
    (state, fence)
}

fn many_hands_write_one_story<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.another(8).recording(History::All);
    let ids: Vec<i64> = {
        let jobs: Vec<_> =
            crate::support::notes(ROWS).into_iter().map(|job| job.max_failures(10_000)).collect();
        let jobs: Vec<_> = jobs.into_iter().map(|job| job.max_crashes(10_000)).collect();
        store.enqueue(&jobs)?.into_iter().map(|job| job.id()).collect()
    };
    let start = Barrier::new(6);
    let (store, ids, start) = (&store, &ids, &start);
    let done = thread::scope(|scope| {
        let workers = ["anna", "berta", "carla"].map(|name| {
            scope.spawn(move || {
                start.wait();
                work::<B>(store, name)
            })
        });
        let operators = [0, 1].map(|_| {
            scope.spawn(move || {
                start.wait();
                operate::<B>(store, ids)
            })
        });
        start.wait();
        let swept = sweep::<B>(store);
        workers.into_iter().chain(operators).fold(swept, |all, hand| all.and(hand.join().expect("no panic")))
    });
    let mut told = Done::default();
    for id in ids {
        let events = history(db, *id);
        let (state, fence) = replay(&events);
        let stored = db.store().show(id)?;
        assert_eq!(stored.as_ref().map(|row| row.state), state, "row {id}");
        assert!(stored.is_none_or(|row| row.fence == fence), "row {id}");
        for event in events {
            told.add(known(event.what.kind()), 1);
        }
    }
    assert_eq!(told.of("enqueued"), ROWS);
    told.0.remove("enqueued");
    assert_eq!(told, done, "one event for each action that took place, and none for one that did not");
    for what in ["claimed", "operated", "settled"] {
        assert!(done.of(what) > ROWS, "there was something to fight over: {done:?}");
    }
    // And it goes on from there.
    let id = due(db, 1)[0];
    assert_eq!(shown(db, id).state, State::Pending);
    Ok(())
}

fn known(kind: &str) -> &'static str {
    let kinds = ["enqueued", "claimed", "settled", "failed", "recovered", "operated", "late_writer"];
    kinds.into_iter().find(|known| *known == kind).unwrap_or_else(|| panic!("a new kind: {kind}"))
}
