//! What nobody has broken.

use claimstore::core::{ClaimRequest, ClaimStore, Verdict, WorkerId};
use claimstore::verify::{Check, Severity};
use claimstore::{ClaimOn, Job, NewJob, Store};
use claimstore_tests::harness::{PgDb, SqliteDb, TestDialect};
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Note {}

impl claimstore::JobKind for Note {
    const KIND: &'static str = "note";
}

/// The built-in table, empty and after work on it.
#[track_caller]
fn built_in<D: TestDialect>(store: &Store<Job, D>, enqueue: impl Fn(&[NewJob]))
where
    Job: ClaimOn<D>,
{
    let sound = |at: &str| {
        let report = store.verify().expect("the database is there");
        assert!(report.is_fit(), "{report}");
        assert!(report.worst() <= Some(Severity::Notice), "{at}:\n{report}");
        let of_the_table = |check| !matches!(check, Check::Timeouts | Check::Durability | Check::Isolation);
        assert!(report.findings.iter().all(|found| !of_the_table(found.check)), "{at}:\n{report}");
    };
    sound("empty");
    let jobs: Vec<NewJob> = (0..700).map(|_| NewJob::of(&Note {}).expect("it can be written")).collect();
    enqueue(&jobs);
    let ask = ClaimRequest::new(&WorkerId::new("anna").expect("a valid name")).limit(100);
    let mut claims = store.claim_next(&ask).expect("claims").into_iter().map(|claimed| claimed.claim);
    let verdicts =
        [Verdict::complete(), Verdict::fail("no"), Verdict::release(), Verdict::fail_for_good("never")];
    for verdict in verdicts {
        store.settle(claims.next().expect("a claim"), verdict).expect("it is ours");
    }
    sound("at work");
}

#[test]
fn the_built_in_table_is_fit_on_postgres() {
    let db = PgDb::<Job>::fresh();
    let store = Pg::store::<Job>(db.place(), 2);
    built_in(&store, |jobs| drop(store.enqueue(jobs).expect("it is migrated")));
}

#[test]
fn the_built_in_table_is_fit_on_sqlite() {
    let db = SqliteDb::<Job>::fresh();
    let store = Sqlite::store::<Job>(db.place(), 2);
    built_in(&store, |jobs| drop(store.enqueue(jobs).expect("it is migrated")));
}

#[test]
fn without_migrations_the_report_says_so_and_the_call_does_not_fail() {
    fn missing<D: TestDialect>()
    where
        Job: ClaimOn<D>,
    {
        let place = D::place();
        let report = D::store::<Job>(&place, 2).verify().expect("the database is there");
        let errors: Vec<_> =
            report.findings.iter().filter(|found| found.severity == Severity::Error).collect();
        let checks: Vec<_> = errors.iter().map(|found| found.check).collect();
        assert_eq!(checks, [Check::Table, Check::OwnTables], "{report}");
        assert_eq!(errors[1].mend.as_deref(), Some("store.migrate()?"), "{report}");
    }
    missing::<Pg>();
    missing::<Sqlite>();
}

/// It is data for programs, and lines for people.
#[test]
fn the_report_can_be_printed_and_sent() {
    let place = Sqlite::place();
    let report = Sqlite::store::<Job>(&place, 2).verify().expect("the file is there");
    let json = serde_json::to_value(&report).expect("plain data");
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["findings"][0]["check"], "table");
    let lines: Vec<String> = report.to_string().lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("error   table: there is no table `claimstore_jobs`"), "{lines:?}");
    assert_eq!(lines[1], "        -> apply the migration that creates it");
}
