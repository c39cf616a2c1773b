//! Time zones of hosts and sessions.

use std::process::Command;
use std::time::Duration;

use claimstore::core::{ClaimStore, RecoverStore, Timestamp};
use claimstore::{Job, PgStore};
use diesel::connection::SimpleConnection;

use crate::support::{Database, Ids, OnPostgres, TestResult, ask, at_once, note};

/// H43: this binary's tests on SQLite again, west of UTC, at a quarter of an hour's offset, and where the
/// clock jumps.
#[test]
fn no_zone_of_the_host_changes_what_sqlite_does() -> TestResult {
    for zone in ["America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"] {
        let output = Command::new(std::env::current_exe()?)
            .args(["::sqlite::", "a_text_is_refused_where_an_instant_belongs"])
            .env("TZ", zone)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{zone}: {said}");
        assert!(said.contains("every_writer_of_an_instant_means_the_same ... ok"), "{zone}: {said}");
    }
    Ok(())
}

/// H45: the worker's session has another zone than the one that enqueues; due times, leases and recovery go
/// by instants all the same.
#[test]
fn no_zone_of_a_session_shifts_a_deadline() -> TestResult {
    let db = OnPostgres::fresh(1);
    let (utc, there) = (db.store(), &db.another(1));
    // Diesel gives each new session UTC, whatever its role says; a pool's own set-up may say otherwise.
    there.pool().get()?.batch_execute("SET timezone = 'Asia/Jerusalem'")?;
    let zone = |store: &PgStore<Job>| -> Result<String, Box<dyn std::error::Error>> {
        let mut conn = store.pool().get()?;
        Ok(OnPostgres::texts_on(&mut conn, "SELECT current_setting('timezone') AS text").remove(0))
    };
    assert_eq!((zone(utc)?, zone(there)?), ("UTC".to_owned(), "Asia/Jerusalem".to_owned()));

    let in_an_hour = Timestamp::of_this_host().after(Duration::from_secs(3600));
    for (from, to) in [(utc, there), (there, utc)] {
        let ids = from
            .enqueue(&[
                note("now"),
                note("later").run_at(in_an_hour),
                note("later").delay(Duration::from_secs(7200)),
            ])?
            .ids();
        let batch = to.claim_next(&ask("anna").limit(10))?;
        assert_eq!(batch.claimed.iter().map(|one| one.row.id).collect::<Vec<_>>(), ids[..1]);
        assert_eq!(batch.next_due, Some(in_an_hour));
        // The lease is live for whoever looks, and over for both once it is over.
        assert!(from.recover(&at_once(), 10)?.rows.is_empty() && to.recover(&at_once(), 10)?.rows.is_empty());
        let late = format!(
            "UPDATE claimstore_jobs SET lease = clock_timestamp() - interval '1 second' WHERE id = {}",
            ids[0]
        );
        to.pool().get()?.batch_execute(&late)?;
        assert_eq!(
            (from.preview(&at_once(), 10)?.rows.len(), to.preview(&at_once(), 10)?.rows.len()),
            (1, 1)
        );
        assert_eq!(from.recover(&at_once(), 10)?.rows.len(), 1);
        to.pool().get()?.batch_execute("DELETE FROM claimstore_jobs")?;
    }
    Ok(())
}

/// H45: there is no column that means another instant in another zone.
#[test]
fn every_stored_instant_has_a_zone() {
    let db = OnPostgres::fresh(1);
    let columns = db.texts(
        "SELECT table_name || '.' || column_name || ' ' || data_type AS text FROM information_schema.columns
          WHERE table_schema = current_schema() AND table_name LIKE 'claimstore%'
            AND (data_type LIKE '%time%' OR data_type LIKE '%date%') ORDER BY 1",
    );
    assert_eq!(
        columns,
        [
            "events.at",
            "jobs.claimed_at",
            "jobs.created_at",
            "jobs.due",
            "jobs.finished_at",
            "jobs.lease",
            "queues.paused_at"
        ]
        .map(|column| format!("claimstore_{column} timestamp with time zone"))
    );
}
