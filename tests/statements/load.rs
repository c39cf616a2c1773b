//! H84: beside a hundred thousand rows of each sort that cannot be claimed, a claim reads what it claims.
//!
//! Rows that are due later are the exception, by their order alone: where their priority is better than that of
//! what is due, a claim walks over their entries in the index, and reads none of the rows.

use std::time::Duration;

use claimstore::Job;
use claimstore::query::{self, Due, ExpiredRow, Won};
use rusqlite::types::Value;

use crate::file::LoadedFile;
use crate::loaded::Loaded;
use crate::mix::Mix;
use crate::work::ask;

const LOAD: Mix = Mix {
    completed: 100_000,
    dead: 100_000,
    cancelled: 0,
    uncertain: 0,
    running: 100_000,
    future: 100_000,
    due: 4_000,
};
/// In each queue.
const DUE: usize = 1_000;
const BATCH: usize = 100;

/// The rows that are due in a year come after what is due.
const LAST: &str = "UPDATE claimstore_jobs SET priority = 0 WHERE state = 'pending'";

#[test]
fn unclaimable_rows_cost_no_claim_on_postgresql() {
    let mut table = Loaded::with(LOAD);
    table.run(LAST);
    for settle_down in ["COMMIT", "VACUUM ANALYZE claimstore_jobs", "BEGIN"] {
        table.run(settle_down);
    }
    let batch = BATCH.to_string();
    let values = ["'a'", "'a'", &batch, "'w'", "interval '30 seconds'"];
    for plan in table.plans::<Won<Job>, _>(query::claim_next::<Job>(&ask(BATCH, &["a"])), &values) {
        // Once to find and lock it, once to write it.
        plan.reads_at_most(2 * BATCH as u64);
        // Each row that is written comes to two new index entries in pages of their own.
        assert!(plan.pages < 40 * BATCH as u64, "{} pages: {plan:?}", plan.pages);
    }
    for plan in table.plans::<Due, _>(query::next_due::<Job>(&ask(1, &["a"])), &["'a'", "'a'"]) {
        plan.reads_at_most(1);
        assert!(plan.pages < 20, "{} pages: {plan:?}", plan.pages);
    }
    let sweep = query::expiring::<Job>(Duration::from_secs(5), BATCH, None);
    for plan in table.plans::<ExpiredRow<Job>, _>(sweep, &["interval '-5 seconds'", &batch]) {
        plan.reads_at_most(BATCH as u64);
        assert!(plan.pages < 5 * BATCH as u64, "{} pages: {plan:?}", plan.pages);
    }
}

#[test]
fn unclaimable_rows_cost_no_claim_on_sqlite() {
    let steps = |mix: Mix| {
        let file = LoadedFile::with(mix, true);
        file.conn.execute_batch(LAST).expect("the last ones");
        let (now, number) = (file.now, Value::Integer);
        let text = |text: &str| Value::Text(text.to_owned());
        let (times, queue) = ([now; 3].map(number), ["a"; 2].map(text));
        let values = [vec![text("w")], times.into(), queue.into(), vec![number(BATCH as i64)]].concat();
        let claim = file.run(&query::claim_next::<Job>(&ask(BATCH, &["a"])), values);
        assert_eq!(claim.rows, BATCH);
        let due = file.run(&query::next_due::<Job>(&ask(1, &["a"])), vec![text("a"), text("a")]);
        let sweep = query::expiring::<Job>(Duration::from_secs(5), BATCH, None);
        let sweep = file.run(&sweep, vec![number(now - 5_000_000), number(BATCH as i64)]);
        assert_eq!(sweep.rows, BATCH);
        [claim.steps, due.steps, sweep.steps]
    };
    let few = steps(Mix { completed: 0, dead: 0, running: 2_000, future: 0, ..LOAD });
    let many = steps(LOAD);
    for (few, many) in few.iter().zip(&many) {
        assert!(*many <= few + few / 20, "{many} steps, {few} without them");
    }
}

/// What they cost where they come first: entries of one index, far less than a page for each of them.
#[test]
fn rows_due_later_of_better_priority_are_walked_over_in_the_index() {
    let mut table = Loaded::with(Mix { completed: 0, dead: 0, running: 0, ..LOAD });
    let each = u64::from(LOAD.future) / 4;
    let batch = BATCH.to_string();
    let values = ["'a'", "'a'", &batch, "'w'", "interval '30 seconds'"];
    for plan in table.plans::<Won<Job>, _>(query::claim_next::<Job>(&ask(BATCH, &["a"])), &values) {
        plan.reads_at_most(2 * DUE as u64);
        assert!(plan.pages < each / 5, "{} pages: {plan:?}", plan.pages);
    }
}
