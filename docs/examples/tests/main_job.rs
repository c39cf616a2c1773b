//! The main job on small directories: what it ends with, and that it leaves nothing behind.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use claimstore_tests::postgres;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// A run whose temporary files have a directory of their own, so that it shows what is left there.
struct Run {
    child: Child,
    temporary: TempDir,
}

struct Ended {
    code: Option<i32>,
    said: String,
}

impl Run {
    fn start(directory: &Path, more: &[&str]) -> Self {
        let temporary = TempDir::new().expect("a directory");
        let child = Command::new(env!("CARGO_BIN_EXE_checksums"))
            .arg(directory)
            .args(more)
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the main job starts");
        Self { child, temporary }
    }

    /// Reads on until it says so on standard error.
    fn hear(&mut self, what: &str) {
        let mut said = String::new();
        let mut stderr = BufReader::new(self.child.stderr.as_mut().expect("a pipe"));
        while !said.contains(what) {
            assert_ne!(stderr.read_line(&mut said).expect("text"), 0, "it never says {what}: {said}");
        }
    }

    /// Waits for the end of the run and of all its workers: they write to the same standard error, which
    /// ends with the last of them.
    fn end(mut self) -> Ended {
        let mut said = String::new();
        let mut late = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut late).expect("text");
        self.child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("text");
        let code = self.child.wait().expect("an end").code();
        let left: Vec<_> = fs::read_dir(self.temporary.path()).expect("a directory").collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        Ended { code, said: said + &late }
    }
}

impl Ended {
    /// A line of the table.
    fn count(&self, name: &str) -> usize {
        let line = self.said.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.unwrap_or_else(|| panic!("no number of {name}: {}", self.said))
    }

    fn is_complete(&self, files: usize) {
        assert_eq!(self.code, Some(0), "{}", self.said);
        assert_eq!(self.count("files"), files);
        assert_eq!(self.count("digests checked"), files);
        assert_eq!(self.count("failed for good"), 0);
        assert!(self.count("recovered") >= 2, "{}", self.said);
        assert!(self.count("late writers refused") >= 1, "{}", self.said);
        assert_eq!(self.count("claims"), files + self.count("recovered"));
    }
}

fn directory(files: &[&[u8]]) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for (at, name) in files.iter().enumerate() {
        let path = directory.path().join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("in a directory")).expect("a directory");
        fs::write(path, vec![b'x'; at * 100_000]).expect("a file");
    }
    directory
}

/// One of them is empty, one has a name that is not UTF-8, and two are not meant.
const FILES: [&[u8]; 8] =
    [b"empty", b"a", b"not\xffutf8", b"a b/c", b"deep/target/d", b"e'", b"target/no", b".git/no"];
const MEANT: usize = 6;

#[test]
fn every_file_is_completed_once_on_sqlite() {
    let directory = directory(&FILES);
    Run::start(directory.path(), &[]).end().is_complete(MEANT);
}

#[test]
fn every_file_is_completed_once_on_postgres() {
    let (directory, database) = (directory(&FILES), postgres::fresh_database());
    Run::start(directory.path(), &["--postgres", &database.url()]).end().is_complete(MEANT);
    let left = sql::<BigInt>("(SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'claimstore%')");
    let left: i64 = diesel::select(left).get_result(&mut database.connect()).expect("a count");
    assert_eq!(left, 0, "schemas stay behind");
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let directory = directory(&FILES);
    let runs = [Run::start(directory.path(), &[]), Run::start(directory.path(), &[])];
    runs.map(Run::end).iter().for_each(|ended| ended.is_complete(MEANT));
}

#[test]
fn one_file_is_enough() {
    let directory = directory(&[b"only"]);
    Run::start(directory.path(), &[]).end().is_complete(1);
}

#[test]
fn an_empty_directory_shows_nothing() {
    let ended = Run::start(directory(&[]).path(), &[]).end();
    assert_eq!((ended.code, ended.count("files")), (Some(1), 0), "{}", ended.said);
}

#[test]
fn a_file_that_vanishes_fails_for_good_and_is_named() {
    let directory = directory(&[b"only"]);
    let mut run = Run::start(directory.path(), &[]);
    // Nobody reads it again before the killed worker's claim is recovered.
    run.hear("was killed");
    fs::remove_file(directory.path().join("only")).expect("a file");
    let ended = run.end();
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert_eq!(ended.count("failed for good"), 1);
    assert!(ended.said.contains("only: cannot be read"), "{}", ended.said);
}

#[test]
fn an_interrupted_run_takes_its_workers_along() {
    let directory = directory(&FILES);
    let mut run = Run::start(directory.path(), &[]);
    run.hear("is stopped");
    let pid = i32::try_from(run.child.id()).expect("a process");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("a signal");
    // The end of standard error shows that also the stopped worker is gone.
    assert_eq!(run.end().code, Some(130));
}
