//! Running a sequence on both sides, and comparing what came of it.

use std::time::Duration;

use claimstore_core::{State, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::Op;
use super::both::Both;
use crate::{Harness, Snapshot};

/// Applies each operation to the harness's store and to the memory model, compares what they answer,
/// and at the end compares every row, read through the harness.
///
/// Of fences it compares whose they are, of times whether they have passed. The store's retry policy
/// must be the default one.
///
/// # Errors
/// [`TestCaseError::Fail`] at the first difference, naming the operation.
pub fn run_against_model<H: Harness>(h: &H, ops: &[Op]) -> Result<(), TestCaseError> {
    let mut both = Both::new(h);
    for (n, op) in ops.iter().enumerate() {
        both.model.advance(Duration::from_millis(1));
        let (real, model) = both.apply(op);
        prop_assert_eq!(real, model, "operation {}: {:?}", n, op);
    }
    compare_rows(&both)
}

fn compare_rows<H: Harness>(both: &Both<'_, H>) -> Result<(), TestCaseError> {
    for (n, key) in (0..).zip(&both.keys) {
        let (real, model) = (both.h.read(key), both.model.read(&n));
        let (now, then) = (both.h.now(), both.model.now());
        let whose = |real: &Snapshot, model: &Snapshot| -> Vec<(bool, bool)> {
            let mine = both.held.iter().filter(|pair| *pair.model.key() == n);
            mine.map(|p| (p.real.fence() == real.fence, p.model.fence() == model.fence)).collect()
        };
        if let (Some(real), Some(model)) = (&real, &model) {
            for (one, two) in whose(real, model) {
                prop_assert_eq!(one, two, "row {}: whose fence it is", n);
            }
        }
        prop_assert_eq!(real.map(|row| seen(row, now)), model.map(|row| seen(row, then)), "row {}", n);
    }
    Ok(())
}

/// A row without what differs between two stores: the fence, and the times but for being past.
fn seen(row: Snapshot, now: Timestamp) -> String {
    let worker = row.worker.filter(|_| row.state == State::Running);
    let past = |at: Option<Timestamp>| at.map(|at| at <= now);
    format!(
        "{}, worker {worker:?}, lease past {:?}, due {:?}, cost {:?} {:?} {:?}, error {:?}, finished {}",
        row.state,
        past(row.lease),
        past(row.due),
        row.failures,
        row.crashes,
        row.interruptions,
        row.last_error,
        row.finished.is_some(),
    )
}
