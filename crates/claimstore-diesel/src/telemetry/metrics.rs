//! The numbers: their names, and one function for each fact.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

const CLAIMED: &str = "claimstore_claimed_total";
const REFUSED: &str = "claimstore_refused_total";
const EMPTY: &str = "claimstore_empty_claims_total";
const LOST: &str = "claimstore_lost_candidates_total";
const FENCED: &str = "claimstore_fenced_total";
const RETRIES: &str = "claimstore_busy_retries_total";
const SETTLED: &str = "claimstore_settled_total";
const RECOVERED: &str = "claimstore_recovered_total";
const ERRORS: &str = "claimstore_errors_total";
const CLAIM_TIME: &str = "claimstore_claim_seconds";
const SETTLE_TIME: &str = "claimstore_settle_seconds";
const OLDEST_DUE: &str = "claimstore_oldest_due_seconds";

/// Tells the metrics recorder of this process what claimstore's numbers mean and in which unit they are.
///
/// Call it once, after the recorder has been installed; without one it does nothing. The numbers are
/// recorded either way.
pub fn describe_metrics() {
    describe_counter!(CLAIMED, Unit::Count, "rows claimed");
    describe_counter!(REFUSED, Unit::Count, "claims by key that were refused, by reason");
    describe_counter!(EMPTY, Unit::Count, "claims by readiness that found nothing");
    describe_counter!(LOST, Unit::Count, "claims that missed a row because somebody else had it");
    describe_counter!(FENCED, Unit::Count, "holders that were refused because their claim was lost, by verb");
    describe_counter!(RETRIES, Unit::Count, "further tries because the database was busy");
    describe_counter!(SETTLED, Unit::Count, "claims ended, by verdict and by the state it led to");
    describe_counter!(RECOVERED, Unit::Count, "abandoned claims ended, by what became of the row");
    describe_counter!(ERRORS, Unit::Count, "store failures, by call and by kind");
    describe_histogram!(CLAIM_TIME, Unit::Seconds, "time that a claim took, with its retries");
    describe_histogram!(SETTLE_TIME, Unit::Seconds, "time that a settlement took, with its retries");
    describe_gauge!(OLDEST_DUE, Unit::Seconds, "for how long the oldest due row has been waiting");
}

fn many(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

pub(super) fn claimed(table: &'static str, rows: usize) {
    counter!(CLAIMED, "table" => table).increment(many(rows));
}

pub(super) fn refused(table: &'static str, reason: &'static str) {
    counter!(REFUSED, "table" => table, "reason" => reason).increment(1);
}

pub(super) fn empty(table: &'static str) {
    counter!(EMPTY, "table" => table).increment(1);
}

pub(super) fn lost_candidate(table: &'static str) {
    counter!(LOST, "table" => table).increment(1);
}

pub(super) fn fenced(table: &'static str, verb: &'static str) {
    counter!(FENCED, "table" => table, "verb" => verb).increment(1);
}

pub(super) fn busy_retry(table: &'static str) {
    counter!(RETRIES, "table" => table).increment(1);
}

/// `already` says that an earlier call had written it, whose answer may have been lost.
pub(super) fn settled(table: &'static str, verdict: &'static str, state: &'static str, already: bool) {
    let already = if already { "true" } else { "false" };
    counter!(SETTLED, "table" => table, "verdict" => verdict, "state" => state, "already" => already)
        .increment(1);
}

pub(super) fn recovered(table: &'static str, action: &'static str) {
    counter!(RECOVERED, "table" => table, "action" => action).increment(1);
}

pub(super) fn failed(table: &'static str, call: &'static str, kind: &'static str) {
    counter!(ERRORS, "table" => table, "call" => call, "kind" => kind).increment(1);
}

pub(super) fn claim_took(table: &'static str, call: &'static str, time: Duration) {
    histogram!(CLAIM_TIME, "table" => table, "call" => call).record(time);
}

pub(super) fn settle_took(table: &'static str, call: &'static str, time: Duration) {
    histogram!(SETTLE_TIME, "table" => table, "call" => call).record(time);
}

/// For how long the oldest due row of this table has been waiting; zero where none is due.
pub(crate) fn oldest_due(table: &'static str, wait: Option<Duration>) {
    gauge!(OLDEST_DUE, "table" => table).set(wait.unwrap_or_default());
}
