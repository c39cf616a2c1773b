//! The programs that the book includes run, and assert for themselves what they say.

use std::process::Command;

fn runs(program: &str) -> String {
    let output = Command::new(program).output().expect("the program starts");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    said
}

/// What a chapter prints of it, too.
fn says(program: &str, each: &[&str]) {
    let said = runs(program);
    for what in each {
        assert!(said.contains(what), "{what:?} is not in: {said}");
    }
}

#[test]
fn quickstart() {
    runs(env!("CARGO_BIN_EXE_quickstart"));
}

#[test]
fn transaction() {
    runs(env!("CARGO_BIN_EXE_transaction"));
}

#[test]
fn own_table() {
    runs(env!("CARGO_BIN_EXE_own_table"));
}

#[test]
fn recover() {
    runs(env!("CARGO_BIN_EXE_recover"));
}

#[test]
fn verify() {
    runs(env!("CARGO_BIN_EXE_verify"));
}

#[test]
fn desk() {
    says(
        env!("CARGO_BIN_EXE_desk"),
        &[
            "is dead under fence",
            "last error: the relay is down",
            "to free it: store.retry(key, fence, operator)",
            "the first batch would retry 2 jobs",
            "job 1 stays as it is: its unique key is in use by another row",
            "stop the work: claim on claimstore_jobs 2 under fence",
            "the row is cancelled under fence",
            "the next recovery takes it",
        ],
    );
}

#[test]
fn uncertain() {
    says(env!("CARGO_BIN_EXE_uncertain"), &["is uncertain under fence", "wanted to complete it under fence"]);
}

#[test]
fn queues() {
    says(
        env!("CARGO_BIN_EXE_queues"),
        &["by anna@example.org: the network is being rewired", "is lost: the row is gone"],
    );
}

#[test]
fn history() {
    says(
        env!("CARGO_BIN_EXE_history"),
        &["failed, 2 times by now, and is dead", "retry by anna@example.org"],
    );
}

#[test]
fn unique() {
    runs(env!("CARGO_BIN_EXE_unique"));
}

#[test]
fn observe() {
    says(env!("CARGO_BIN_EXE_observe"), &["claimstore.claim_next", "claimstore.outcome=\"settled\""]);
}
