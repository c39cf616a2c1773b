//! The server of the tests goes when the process that started it goes, however that happens.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use claimstore_tests::postgres::{PROVIDER_VARIABLE, URL_VARIABLE};

const WITH_POSTGRES: &str = env!("CARGO_BIN_EXE_with-postgres");

/// A server of its own, started locally where that can be, for a command that prints its address.
fn with_postgres(command: &str) -> Command {
    let mut with = Command::new(WITH_POSTGRES);
    with.args(["sh", "-c", command]).env_remove(URL_VARIABLE).env_remove(PROVIDER_VARIABLE);
    with.stdout(Stdio::piped());
    with
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let output = child.stdout.take().expect("a piped output");
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert!(!line.is_empty(), "no server of our own could be started; why is said above");
    line.trim().to_owned()
}

/// `host:port` of a server's URL.
fn place(url: &str) -> &str {
    let (_, place) = url.rsplit_once('@').unwrap_or_else(|| panic!("not the URL of our own server: {url}"));
    place.split('/').next().expect("a place before the slash")
}

fn answers(url: &str) -> bool {
    TcpStream::connect(place(url)).is_ok()
}

fn soon(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "not within 30 s: {what}");
        // sleep: polls for the end of a foreign process, up to the deadline.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_gets_the_address_and_its_exit_code_is_handed_on() {
    let mut child =
        with_postgres(&format!("echo \"${URL_VARIABLE}\"; exit 3")).spawn().expect("with-postgres runs");
    let url = first_line(&mut child);
    assert_eq!(child.wait().expect("an end").code(), Some(3));
    assert!(!answers(&url), "the server outlived with-postgres");
}

#[test]
fn a_server_is_gone_after_its_process_is_killed() {
    // The command ends when its input does: with this test, whatever happens to the process between.
    let mut child = with_postgres(&format!("echo \"${URL_VARIABLE}\"; exec cat"))
        .stdin(Stdio::piped())
        .spawn()
        .expect("with-postgres runs");
    let url = first_line(&mut child);
    assert!(answers(&url), "the server should still be there");
    child.kill().expect("a process of ours");
    child.wait().expect("an end");
    soon("the server is gone", || !answers(&url));
}

#[test]
fn a_pinned_provider_that_cannot_serve_fails_and_names_all_three() {
    let ended = with_postgres("true").env(PROVIDER_VARIABLE, "url").stderr(Stdio::piped()).output();
    let ended = ended.expect("with-postgres runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    for way in [URL_VARIABLE, "container engine", "initdb, postgres, pg_ctl"] {
        assert!(said.contains(way), "{way} is missing in: {said}");
    }
}

#[test]
fn a_provider_that_cannot_serve_gives_way_to_the_next() {
    let ended = with_postgres("true")
        .env(URL_VARIABLE, "host=is-not-a-url")
        .stderr(Stdio::piped())
        .output()
        .expect("with-postgres runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("not by url"), "{said}");
}
