//! What looking, deciding and retention read on PostgreSQL, beside a hundred thousand finished rows.
//!
//! Each statement is run on the plan for its values and on the plan for all values.

use std::time::Duration;

use claimstore::Job;
use claimstore::core::{
    Cursor, Filter, Moment, Operator, PageOrder, Pausable, Sighting, State, Step, Timestamp,
};
use claimstore::query::{self, Due, Hold, Number, Observed, Set, Sighted, Touched, Won};

use crate::loaded::Loaded;
use crate::mix::Mix;
use crate::work::ask;

const MIX: Mix = Mix {
    completed: 100_000,
    dead: 10_000,
    cancelled: 1_000,
    uncertain: 100,
    running: 1_000,
    future: 10_000,
    due: 5_000,
};
const CLAIM: &str = "claimstore_jobs_claim";
const DUE: &str = "claimstore_jobs_due";
const FINISHED: &str = "claimstore_jobs_finished";
const KEY: &str = "claimstore_jobs_pkey";
const LEASE: &str = "claimstore_jobs_lease";
const UNCERTAIN: &str = "claimstore_jobs_uncertain";
const WAITING: &str = "claimstore_jobs_waiting";
/// Rows of a page.
const PAGE: u64 = 50;

fn index_of(state: State) -> &'static str {
    match state {
        State::Pending => WAITING,
        State::Running => LEASE,
        State::Uncertain => UNCERTAIN,
        _ => FINISHED,
    }
}

/// A page of one state: its first one, one from the middle on, or the rows without a time.
fn page(filter: &Filter, timeless: bool, after: Option<&Cursor<i64>>) -> query::Look<Job> {
    let order = PageOrder::of(filter.states());
    query::look_for::<Job>(filter, order, timeless, PAGE as usize, after, Hold::No)
}

#[test]
fn a_page_of_a_state_reads_its_own_rows() {
    let mut table = Loaded::with(MIX);
    let middle = Cursor { at: Some(Timestamp::from_micros(0)), key: 0 };
    for state in State::ALL {
        let filter = Filter::of(state);
        let ordered = PageOrder::of(filter.states()) != PageOrder::Key;
        let from = match state {
            State::Pending => "now() + interval '1 year 1 hour'",
            _ => "now() - interval '1 minute'",
        };
        let half: &[&str] = if ordered { &[from, "0", "50"] } else { &["0", "50"] };
        for plan in table.plans::<Sighted<Job>, _>(page(&filter, false, None), &["50"]) {
            plan.reads(index_of(state), &[]);
            plan.in_order(index_of(state));
            plan.reads_at_most(PAGE);
        }
        for plan in table.plans::<Sighted<Job>, _>(page(&filter, false, Some(&middle)), half) {
            plan.reads(index_of(state), if ordered { &["ROW("] } else { &["id >"] });
            plan.in_order(index_of(state));
            plan.reads_at_most(PAGE);
        }
        // A running row always has a lease, and an uncertain one is found by its key.
        if !matches!(state, State::Running | State::Uncertain) {
            let first = table.plans::<Sighted<Job>, _>(page(&filter, true, None), &["50"]);
            let next = table.plans::<Sighted<Job>, _>(page(&filter, true, Some(&middle)), &["0", "50"]);
            for plan in first.iter().chain(&next) {
                plan.reads(index_of(state), &["IS NULL"]);
                plan.reads_at_most(0);
            }
        }
    }
}

/// A queue has no index of its finished rows: those of other queues are passed over.
#[test]
fn a_page_of_a_queue_passes_over_no_more_than_the_other_queues() {
    let mut table = Loaded::with(MIX);
    for state in State::ALL {
        let filter = Filter::of(state).queue("b");
        for plan in table.plans::<Sighted<Job>, _>(page(&filter, false, None), &["'b'", "50"]) {
            plan.reads_at_most(5 * PAGE);
            if state == State::Pending {
                plan.reads(DUE, &["queue = "]);
                // One more than a page, to know that all of one due time are there.
                plan.reads_at_most(PAGE + 1);
            }
        }
    }
}

#[test]
fn a_page_without_a_state_comes_in_the_order_of_keys() {
    let mut table = Loaded::with(MIX);
    let middle = Cursor { at: None, key: 0 };
    let first = table.plans::<Sighted<Job>, _>(page(&Filter::any(), false, None), &["50"]);
    let next = table.plans::<Sighted<Job>, _>(page(&Filter::any(), false, Some(&middle)), &["60000", "50"]);
    for plan in first.iter().chain(&next) {
        plan.reads_only(&[KEY]);
        plan.in_order(KEY);
        plan.reads_at_most(PAGE);
    }
}

#[test]
fn one_row_is_looked_at_by_its_key() {
    let mut table = Loaded::with(MIX);
    for hold in [Hold::No, Hold::Waiting] {
        for plan in table.plans::<Sighted<Job>, _>(query::look_at::<Job>(&7, hold), &["7"]) {
            plan.reads_only(&[KEY]);
            plan.reads_at_most(1);
        }
    }
    for plan in table.plans::<Observed<Job>, _>(query::observe::<Job>(&7), &["7"]) {
        plan.reads_only(&[KEY]);
        plan.reads_at_most(1);
    }
}

#[test]
fn counting_stops_at_the_cap() {
    let mut table = Loaded::with(MIX);
    for state in State::ALL {
        for plan in table.plans::<Number, _>(query::count::<Job>(state, 501, None), &["501"]) {
            plan.reads_only(&[index_of(state)]);
            plan.reads_at_most(501);
        }
    }
    let lately = query::count::<Job>(State::Completed, 501, Some(Duration::from_secs(60)));
    for plan in table.plans::<Number, _>(lately, &["interval '-1 minute'", "501"]) {
        plan.reads(FINISHED, &["finished_at >"]);
        plan.reads_at_most(61);
    }
    for plan in table.plans::<Due, _>(query::oldest_due::<Job>(), &[]) {
        plan.reads_only(&[WAITING]);
        plan.reads_at_most(1);
    }
}

#[test]
fn retention_reads_what_it_deletes() {
    let mut table = Loaded::with(MIX);
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        for (age, rows) in [("interval '-1 second'", 100), ("interval '-1 year'", 0)] {
            let node = query::prune::<Job>(state, Duration::from_secs(1), 100);
            for plan in table.counting(node, &[age, "100"]) {
                plan.reads(FINISHED, &["state = ", "finished_at <"]);
                plan.reads_only(&[FINISHED, KEY]);
                // Once to find and lock it, once to delete it.
                plan.reads_at_most(2 * rows);
            }
        }
    }
}

#[test]
fn retention_of_events_reads_what_it_deletes() {
    let mut table = Loaded::with(Mix { completed: 0, dead: 0, ..MIX });
    table.run(
        "INSERT INTO claimstore_events (at, table_name, row_key, kind, fence, detail)
         SELECT now() - n * interval '1 second', CASE n % 2 WHEN 0 THEN 'claimstore_jobs' ELSE 'invoices' END,
             n::text, 'failed', n, '{}' FROM generate_series(1, 20000) AS n; ANALYZE claimstore_events",
    );
    for age in ["interval '-1 second'", "interval '-1 year'"] {
        let node = query::prune_events::<Job>(Duration::from_secs(1), 100);
        for plan in table.counting(node, &[age, "100"]) {
            plan.reads("claimstore_events_at", &["table_name = ", "at <"]);
            plan.reads("claimstore_events_pkey", &["id = ANY"]);
            plan.has_no_whole_scan();
        }
    }
}

#[test]
fn decisions_are_written_by_key() {
    let mut table = Loaded::with(MIX);
    let dead = page(&Filter::of(State::Dead), false, None);
    let rows: Vec<Sighted<Job>> = diesel::RunQueryDsl::load(dead, &mut table.conn).expect("rows");
    let rows: Vec<Sighting<i64>> = rows.into_iter().map(|Sighted(row)| row).collect();
    let step = Step {
        to: Some(State::Pending),
        due: Some(Moment::In(Duration::ZERO)),
        tally: Default::default(),
        priority: None,
        error: None,
    };
    let decided = rows.iter().map(|row| (row, &step));
    let keys: Vec<String> = rows.iter().map(|row| row.key.to_string()).collect();
    let fences: Vec<String> = rows.iter().map(|row| row.fence.get().to_string()).collect();
    let [keys, fences] = [keys, fences].map(|numbers| format!("ARRAY[{}]::bigint[]", numbers.join(",")));
    let pending = format!("array_fill(0, ARRAY[{}])", rows.len());
    let operate = table.plans::<Touched<Job>, _>(query::operate::<Job>(decided), &[&keys, &fences, &pending]);
    let remove = table.plans::<Touched<Job>, _>(query::remove::<Job>(&rows), &[&keys, &fences]);
    for plan in operate.iter().chain(&remove) {
        plan.reads_only(&[KEY]);
        plan.reads_at_most(2 * rows.len() as u64);
    }
}

#[test]
fn what_is_set_for_a_queue_is_found_by_its_key_and_no_job_is_looked_at() {
    let mut table = Loaded::with(MIX);
    let by = Operator::new("anna", "a test").expect("a name and a reason");
    let what = Pausable::queue("a");
    for plan in table.counting(query::pause::<Job>(&what, &by), &["'a'", "'anna'", "'a test'"]) {
        plan.reads_at_most(0);
    }
    for plan in table.plans::<Set, _>(query::settings::<Job>(), &[]) {
        plan.reads_at_most(0);
    }
}

/// A paused queue is not walked at all, and a queue that runs is read as if nothing were paused.
#[test]
fn what_is_paused_costs_a_claim_nothing() {
    let mut table = Loaded::with(Mix { future: 0, ..MIX });
    table.run(
        "INSERT INTO claimstore_queues (table_name, scope, name, paused_at, paused_by, reason)
         SELECT 'claimstore_jobs', 'queue', name, now(), 'anna', 'a test' FROM unnest('{b,x,y}'::text[]) AS name;
         ANALYZE claimstore_queues",
    );
    for (queue, read) in [("'a'", 100), ("'b'", 0)] {
        let node = query::claim_next::<Job>(&ask(100, &["a"]));
        for plan in table.plans::<Won<Job>, _>(node, &[queue, queue, "100", "'w'", "interval '30 seconds'"]) {
            plan.reads_only(&[CLAIM, KEY]);
            plan.in_order(CLAIM);
            plan.reads_at_most(2 * read);
        }
        let node = query::claim_next::<Job>(&ask(1, &["a"]));
        for plan in table.plans::<Won<Job>, _>(node, &[queue, queue, "'w'", "interval '30 seconds'"]) {
            plan.reads_only(&[CLAIM, KEY]);
            plan.reads_at_most(2 * read.min(1));
        }
        for plan in table.plans::<Due, _>(query::next_due::<Job>(&ask(1, &["a"])), &[queue, queue]) {
            plan.reads_only(&[DUE]);
            plan.reads_at_most(read.min(1));
        }
    }
}
