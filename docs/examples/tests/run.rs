//! The programs that the book includes run, and assert for themselves what they say.

use std::process::Command;

fn runs(program: &str) {
    let output = Command::new(program).output().expect("the program starts");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
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
