//! Whose clock, and in which form.

use std::collections::BTreeSet;

use claimstore::core::{ClaimStore, RecoverStore, StoreErrorKind, Timestamp, Verdict, Wait};
use claimstore::{ClaimOn, Job, NewJob};
use diesel::connection::SimpleConnection;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{
    Database, Ids, LEASE, OnPostgres, OnSqlite, TestResult, ask, at_once, note, notes, on_both,
};

on_both! {
    every_writer_of_an_instant_means_the_same
}

/// H41: after every verb the server is asked which types each statement takes. No instant is sent to it, so
/// no worker's clock can decide; the one exception is the instant a caller names for a job himself. Nor does
/// a statement use a clock that stands still in the caller's transaction.
#[test]
fn no_clock_of_a_worker_reaches_the_server() -> TestResult {
    let db = OnPostgres::fresh(1);
    let store = db.store();
    let ids = store.enqueue(&notes(12))?.ids();
    let take =
        |id: i64, wait| store.claim(&id, &ask("anna").wait(wait)).map(|c| c.claimed().expect("free").claim);
    let mut claim = take(ids[0], Wait::Never)?;
    store.renew(&mut claim, LEASE)?;
    store.snooze(claim, LEASE)?;
    store.fail(take(ids[1], Wait::Forever)?, "no")?;
    let many = vec![
        (take(ids[2], Wait::AtMost(LEASE))?, Verdict::fail_after("no", LEASE)),
        (take(ids[3], Wait::Never)?, Verdict::release()),
    ];
    let both = store.settle_and_claim(many, &ask("anna").queues(["a", "default"]).limit(2));
    let many = both.claimed?.into_iter().map(|one| (one.claim, Verdict::complete())).collect();
    store.settle_all(many);
    let left = store.claim_next(&ask("anna").queues(["default", "b"]).limit(1000))?;
    let left: Vec<i64> = left.claimed.iter().map(|one| *one.claim.key()).collect();
    db.expire(&left);
    store.preview(&at_once(), 1000)?;
    assert_eq!(store.recover(&at_once(), 1000)?.rows.len(), left.len());
    let kept = take(left[0], Wait::Never)?;
    store.on(&mut *store.pool().get()?).guard(&kept)?;

    let mut conn = store.pool().get()?;
    let prepared = OnPostgres::texts_on(
        &mut conn,
        "SELECT parameter_types::text || ' ' || statement AS text FROM pg_prepared_statements
          WHERE statement ~ 'claimstore_jobs'",
    );
    assert!(prepared.len() >= 12, "{} statements", prepared.len());
    let mut deciding = 0;
    for statement in prepared {
        let taken = statement.split_once('}').map_or("", |(types, _)| types);
        let named_by_the_caller = statement.contains("INSERT INTO \"claimstore_jobs\"");
        assert!(named_by_the_caller || !taken.contains("time"), "{statement}");
        let lower = statement.to_lowercase();
        assert!(!lower.contains(" now()") && !lower.contains("current_timestamp"), "{statement}");
        assert!(!lower.contains("transaction_timestamp"), "{statement}");
        deciding += usize::from(lower.contains("statement_timestamp()"));
    }
    assert!(deciding >= 4, "{deciding} statements decide by the server's clock");
    Ok(())
}

/// H42: due times and leases written by the library, as a number or literal, and by an SQL expression, from
/// the year 1970 to 9999; what is due, when the next one is, and what has expired agrees with comparing the
/// instants.
fn every_writer_of_an_instant_means_the_same<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    const HOUR: i64 = 3_600_000_000;
    let last = 253_402_300_799_999_999;
    let now = Timestamp::of_this_host().as_micros();
    let instants =
        prop_oneof![HOUR..now - HOUR, now + HOUR..now + 48 * HOUR, now - 48 * HOUR..now - HOUR, now..last];
    let rows = prop::collection::vec((instants, 0..3_u8), 1..40);
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    runner.run(&rows, |rows| {
        db.run("DELETE FROM claimstore_jobs");
        let mut written = Vec::new();
        for (at, writer) in rows {
            let at = if (now..now + HOUR).contains(&at) { now + HOUR } else { at };
            let id = match writer {
                0 => {
                    let job = note("a").run_at(Timestamp::from_micros(at));
                    db.store().enqueue(&[job]).expect("it enqueues")[0].id()
                }
                1 => insert_raw(db, &B::instant(at)),
                _ => insert_raw(db, &format!("{} + {}", B::instant(at - HOUR), B::an_hour())),
            };
            written.push((id, at));
        }
        let of = |due: bool| written.iter().filter(move |(_, at)| (*at <= now) == due);
        let batch = db.store().claim_next(&ask("anna").limit(1000)).expect("it claims");
        let got: BTreeSet<i64> = batch.claimed.iter().map(|one| one.row.id).collect();
        prop_assert_eq!(got, of(true).map(|(id, _)| *id).collect());
        let next = of(false).map(|(_, at)| Timestamp::from_micros(*at)).min();
        prop_assert_eq!(batch.next_due, next);

        // The same instants as ends of leases.
        for one in &batch.claimed {
            let (id, at) = (one.row.id, one.row.due.as_micros());
            let later = if id % 2 == 0 { now + HOUR + at / 1_000_000 } else { at };
            db.run(&format!("UPDATE claimstore_jobs SET lease = {} WHERE id = {id}", B::instant(later)));
        }
        let expired = db.store().preview(&at_once(), 1000).expect("it looks").rows;
        let expired: BTreeSet<i64> = expired.iter().map(|(row, _)| row.key).collect();
        prop_assert_eq!(expired, of(true).map(|(id, _)| *id).filter(|id| id % 2 != 0).collect());
        Ok(())
    })?;
    Ok(())
}

fn insert_raw<B: Database>(db: &B, due: &str) -> i64 {
    db.run(&format!(
        "INSERT INTO claimstore_jobs (kind, payload, due, created_at)
         VALUES ('note', '{{}}', {due}, {})",
        B::now_plus(0)
    ));
    db.texts("SELECT CAST(max(id) AS TEXT) AS text FROM claimstore_jobs")[0].parse().expect("a number")
}

/// H42, H43: SQLite takes any type into any column; the schema lets only whole microseconds in.
#[test]
fn a_text_is_refused_where_an_instant_belongs() -> TestResult {
    let db = OnSqlite::fresh(1);
    let ids = db.store().enqueue(&[note("a")])?.ids();
    let claim = db.store().claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let before = db.row(ids[0]);
    let mut conn = db.connect();
    for column in ["due", "claimed_at", "lease", "created_at", "finished_at"] {
        for value in [
            "'2026-03-29T02:30:00Z'",
            "'2026-03-29 02:30:00'",
            "'2026-03-29T02:30:00-05:00'",
            "datetime('now')",
            "julianday('now')",
            "'soon'",
            "x'00'",
            "1e300",
        ] {
            let set = format!("UPDATE claimstore_jobs SET {column} = {value}");
            let error = conn.batch_execute(&set).expect_err(&set).to_string();
            assert!(error.contains("CHECK constraint failed"), "{set}: {error}");
        }
    }
    assert!(
        conn.batch_execute(
            "INSERT INTO claimstore_events (at, table_name, row_key, kind, fence, detail)
        VALUES (datetime('now'), 't', 'k', 'late_writer', 1, '{}')"
        )
        .is_err()
    );
    assert_eq!(db.row(ids[0]), before);
    db.store().complete(claim)?;
    Ok(())
}

/// H42: an instant beyond the calendar is refused by name, and the calendar's ends are not.
#[test]
fn an_instant_beyond_the_calendar_is_refused() -> TestResult {
    let (pg, sqlite) = (OnPostgres::fresh(1), OnSqlite::fresh(1));
    let at = |micros| -> Vec<NewJob> { vec![note("a").run_at(Timestamp::from_micros(micros))] };
    for micros in
        [i64::MIN, -62_135_596_800_000_001, 253_402_300_800_000_000, 8_210_266_876_799_999_999, i64::MAX]
    {
        for refused in [pg.store().enqueue(&at(micros)), sqlite.store().enqueue(&at(micros))] {
            let error = refused.expect_err("no such instant");
            assert_eq!(error.kind(), StoreErrorKind::Input);
            assert!(error.to_string().contains("run_at"), "{error}");
        }
    }
    for micros in [-62_135_596_800_000_000, 0, 253_402_300_799_999_999] {
        assert_eq!(
            (pg.store().enqueue(&at(micros))?.len(), sqlite.store().enqueue(&at(micros))?.len()),
            (1, 1)
        );
    }
    let due = |batch: claimstore::core::Batch<i64, Job>| -> Vec<i64> {
        batch.claimed.iter().map(|one| one.row.due.as_micros()).collect()
    };
    let first = [-62_135_596_800_000_000, 0];
    assert_eq!(due(pg.store().claim_next(&ask("anna").limit(9))?), first);
    assert_eq!(due(sqlite.store().claim_next(&ask("anna").limit(9))?), first);
    Ok(())
}
