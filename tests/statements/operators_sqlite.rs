//! The plans of looking, deciding and retention on SQLite.

use std::time::Duration;

use claimstore::Job;
use claimstore::core::{Cursor, Filter, Moment, PageOrder, Sighting, State, Step, Timestamp};
use claimstore::query::{self, Hold, Look};
use rusqlite::types::Value;

use crate::file::LoadedFile;
use crate::mix::Mix;
use crate::work::ask;

const MIX: Mix = Mix {
    completed: 50_000,
    dead: 5_000,
    cancelled: 1_000,
    uncertain: 100,
    running: 1_000,
    future: 5_000,
    due: 5_000,
};
const PAGE: usize = 50;

fn index_of(state: State) -> &'static str {
    match state {
        State::Pending => "INDEX claimstore_jobs_waiting",
        State::Running => "INDEX claimstore_jobs_lease",
        State::Uncertain => "INDEX claimstore_jobs_uncertain",
        _ => "INDEX claimstore_jobs_finished (state=?",
    }
}

fn page(filter: &Filter, timeless: bool, after: Option<&Cursor<i64>>) -> Look<Job> {
    query::look_for::<Job>(filter, PageOrder::of(filter.states()), timeless, PAGE, after, Hold::No)
}

fn number(n: i64) -> Value {
    Value::Integer(n)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_page_of_a_state_walks_its_index() {
    let middle = Cursor { at: Some(Timestamp::from_micros(0)), key: 0 };
    for analyze in [true, false] {
        let file = LoadedFile::with(MIX, analyze);
        let limit = || number(PAGE as i64);
        for state in State::ALL {
            let filter = Filter::of(state);
            let first = file.run(&page(&filter, false, None), vec![limit()]);
            first.uses(index_of(state));
            assert_eq!(first.rows, PAGE);
            let from = match state {
                State::Pending => vec![number(file.now), number(0), limit()],
                State::Uncertain => vec![number(0), limit()],
                _ => vec![number(file.now - 60_000_000), number(0), limit()],
            };
            let next = file.run(&page(&filter, false, Some(&middle)), from);
            next.uses(index_of(state));
            assert_eq!(next.rows, PAGE);
            if !matches!(state, State::Running | State::Uncertain) {
                let timeless = file.run(&page(&filter, true, None), vec![limit()]);
                timeless.uses(index_of(state));
                assert!(timeless.rows == 0 && timeless.steps < 100, "{timeless:?}");
                let next = file.run(&page(&filter, true, Some(&middle)), vec![number(0), limit()]);
                next.uses(index_of(state));
            }
            let of_queue = file.run(&page(&filter.queue("b"), false, None), vec![text("b"), limit()]);
            match state {
                State::Pending => of_queue.uses("INDEX claimstore_jobs_due (queue=?"),
                other => of_queue.uses(index_of(other)),
            }
            assert!(of_queue.rows <= PAGE && of_queue.steps < 8 * first.steps, "{of_queue:?} {first:?}");
        }
        // In the order of keys, from the last one on.
        let all = file.run(&page(&Filter::any(), false, None), vec![limit()]);
        assert!(!all.plan.contains("TEMP B-TREE") && all.steps < 10_000, "{all:?}");
    }
}

#[test]
fn counting_stops_at_the_cap() {
    for analyze in [true, false] {
        let file = LoadedFile::with(MIX, analyze);
        for state in State::ALL {
            let counted = file.run(&query::count::<Job>(state, 501, None), vec![number(501)]);
            counted.uses(index_of(state));
            assert!(counted.steps < 501 * 20, "{counted:?}");
        }
        let lately = query::count::<Job>(State::Completed, 501, Some(Duration::from_secs(60)));
        let lately = file.run(&lately, vec![number(file.now - 60_000_000), number(501)]);
        lately.uses("INDEX claimstore_jobs_finished (state=? AND finished_at>?)");
        let oldest = file.run(&query::oldest_due::<Job>(), vec![]);
        oldest.uses("INDEX claimstore_jobs_waiting");
        assert!(oldest.steps < 100, "{oldest:?}");
    }
}

#[test]
fn retention_walks_the_oldest_and_deletes_by_key() {
    for analyze in [true, false] {
        let file = LoadedFile::with(MIX, analyze);
        for state in State::ALL.into_iter().filter(|state| state.is_final()) {
            let node = query::prune::<Job>(state, Duration::from_secs(1), 100);
            let pruned = file.run(&node, vec![number(file.now), number(100)]);
            pruned.uses("INDEX claimstore_jobs_finished (state=? AND finished_at<?)");
            pruned.uses("INTEGER PRIMARY KEY (rowid=?)");
            let none = file.run(&node, vec![number(0), number(100)]);
            assert!(none.steps < 100, "{none:?}");
        }
        let events = file.run(
            &query::prune_events::<Job>(Duration::from_secs(1), 100),
            vec![number(file.now), number(100)],
        );
        events.uses("INDEX claimstore_events_at (table_name=? AND at<?)");
        assert!(!events.plan.contains("SCAN"), "{}", events.plan);
    }
}

#[test]
fn decisions_are_written_by_key() {
    let row = Sighting {
        key: 7,
        state: State::Dead,
        fence: claimstore::core::Fence::new(7),
        worker: None,
        claimed_at: None,
        until: None,
        due: None,
        queue: None,
        kind: None,
        priority: None,
        tally: Default::default(),
        budget: Default::default(),
        idempotent: true,
        last_error: None,
        finished_at: None,
        paused: false,
        clock: Timestamp::from_micros(0),
    };
    let step = Step {
        to: Some(State::Pending),
        due: Some(Moment::In(Duration::ZERO)),
        tally: Default::default(),
        priority: None,
        error: None,
    };
    for analyze in [true, false] {
        let file = LoadedFile::with(Mix { completed: 5_000, ..MIX }, analyze);
        for hold in [Hold::No, Hold::Waiting] {
            let one = file.run(&query::look_at::<Job>(&7, hold), vec![number(7)]);
            one.uses("INTEGER PRIMARY KEY (rowid=?)");
        }
        let none = || text("[]");
        let operate = query::operate::<Job>([(&row, &step)]);
        file.run(&operate, vec![none(), number(file.now)]).uses("INTEGER PRIMARY KEY (rowid=?)");
        file.run(&query::remove::<Job>([&row]), vec![none()]).uses("INTEGER PRIMARY KEY (rowid=?)");
    }
}

/// A paused queue is not walked at all: its rows cost a claim nothing.
#[test]
fn what_is_paused_costs_a_claim_nothing() {
    for analyze in [true, false] {
        let file = LoadedFile::with(MIX, analyze);
        let claim = |queue: &str| {
            let node = query::claim_next::<Job>(&ask(1, &["a"]));
            let now = || number(file.now);
            let read = file.run(&node, vec![text("w"), now(), now(), now(), text(queue), text(queue)]);
            read.uses("INDEX claimstore_jobs_claim (queue=?)");
            read
        };
        let due = |queue: &str| {
            let node = query::next_due::<Job>(&ask(1, &["a"]));
            let read = file.run(&node, vec![text(queue), text(queue)]);
            read.uses("INDEX claimstore_jobs_due (queue=?");
            read
        };
        let before = claim("a");
        file.conn
            .execute_batch(
                "INSERT INTO claimstore_queues (table_name, scope, name, paused_at, paused_by, reason)
                 VALUES ('claimstore_jobs', 'queue', 'b', 0, 'anna', 'a test')",
            )
            .expect("paused");
        let (runs, paused) = (claim("a"), claim("b"));
        assert!(before.rows == 1 && runs.rows == 1 && paused.rows == 0);
        assert!(paused.steps < 200, "{paused:?}");
        let paused = due("b");
        assert!(paused.steps < 200, "{paused:?}");
        assert_eq!(due("a").rows, 1);
    }
}
