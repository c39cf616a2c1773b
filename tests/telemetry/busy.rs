//! Trying again because the database was busy.

use claimstore::core::ClaimStore;
use diesel::Connection;
use diesel::connection::{InstrumentationEvent, SimpleConnection};
use tracing::Level;

use crate::capture::{Heard, heard};
use crate::numbers::{assert_counted, counted};
use crate::support::{Database, OnPostgres, OnSqlite, TestResult};
use crate::{anna, due};

#[track_caller]
fn assert_told_of(heard: &Heard, attempts: &[&str]) {
    assert!(heard.events.iter().all(|told| told.level == Level::DEBUG), "{heard:?}");
    let told: Vec<_> = heard.events.iter().map(|told| told.fields["attempt"].as_str()).collect();
    assert_eq!(told, attempts);
    assert!(heard.events.iter().all(|told| told.fields["table"] == "claimstore_jobs"));
    assert!(heard.events.iter().all(|told| told.within == Some("claimstore.claim_next")));
}

/// Somebody is writing to the file, until our transaction has been refused twice.
#[test]
fn each_further_try_for_a_busy_file_is_counted() -> TestResult {
    let db = OnSqlite::fresh(1);
    due(&db, 1);
    let mut writer = db.connect();
    writer.batch_execute("BEGIN IMMEDIATE")?;
    let mut tries = 0;
    db.store().pool().get()?.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event
            && query.to_string().contains("BEGIN IMMEDIATE")
        {
            tries += 1;
            if tries == 3 {
                writer.batch_execute("COMMIT").expect("it has the lock");
            }
        }
    });
    let ((batch, numbers), heard) = heard(|| counted(|| db.store().claim_next(&anna())));
    assert_eq!(batch?.len(), 1);
    let time = ("claim_seconds{call=claim_next}", 1);
    assert_counted(&numbers, [("busy_retries_total", 2), ("claimed_total", 1), time]);
    assert_told_of(&heard, &["1", "2"]);
    Ok(())
}

/// A trigger fails as a serialization failure does, the first three times.
#[test]
fn each_further_try_after_a_serialization_failure_is_counted() -> TestResult {
    let db = OnPostgres::fresh(1);
    due(&db, 1);
    db.run(
        "CREATE SEQUENCE tries;
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('tries') <= 3 THEN RAISE 'again' USING ERRCODE = 'serialization_failure'; END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER refuse BEFORE UPDATE ON claimstore_jobs FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let ((batch, numbers), heard) = heard(|| counted(|| db.store().claim_next(&anna())));
    assert_eq!(batch?.len(), 1);
    let time = ("claim_seconds{call=claim_next}", 1);
    assert_counted(&numbers, [("busy_retries_total", 3), ("claimed_total", 1), time]);
    assert_told_of(&heard, &["1", "2", "3"]);
    Ok(())
}
