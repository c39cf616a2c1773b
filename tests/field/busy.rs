//! An SQLite file that somebody else is writing to.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use claimstore::core::{ClaimStore, RecoverStore, StoreError, StoreErrorKind, Verdict, Wait};
use claimstore::{Job, SqliteOptions, SqliteStore, TxError};
use claimstore_tests::sqlite::TestFile;
use diesel::connection::{InstrumentationEvent, SimpleConnection};
use diesel::{Connection, SqliteConnection};

use crate::support::{Database, Ids, LEASE, OnSqlite, PATIENT, TestResult, ask, at_once, kind, note, notes};

const POOL: u32 = 16;

fn take_all(path: &str) -> Result<SqliteStore<Job>, StoreError> {
    let store = SqliteStore::<Job>::open_with(path, SqliteOptions::default().connections(POOL))?;
    let all: Result<Vec<_>, _> = (0..POOL).map(|_| store.pool().get()).collect();
    assert_eq!(all.expect("each connection opens").len(), POOL as usize);
    Ok(store)
}

/// H33: the file is in WAL already, and somebody is writing: opening needs no lock at all.
#[test]
fn a_pool_opens_while_somebody_writes() -> TestResult {
    let db = OnSqlite::fresh(1);
    let mut writer = db.connect();
    writer.batch_execute("BEGIN IMMEDIATE")?;
    let store = take_all(db.file.url())?;
    writer.batch_execute("COMMIT")?;
    assert_eq!(store.enqueue(&[note("a")])?.len(), 1);
    Ok(())
}

/// H33: the file is still to be switched to WAL, which needs the lock: opening waits for it and goes on.
#[test]
fn a_pool_that_must_switch_to_wal_waits_for_the_writer() -> TestResult {
    let file = TestFile::fresh();
    let mut writer = file.connect();
    writer.batch_execute("CREATE TABLE mine (n INTEGER); BEGIN IMMEDIATE; INSERT INTO mine VALUES (1)")?;
    let path = file.url().to_owned();
    let (says, opened) = channel();
    let opening = thread::spawn(move || {
        let store = take_all(&path);
        let _ = says.send(());
        store
    });
    // The waiting is what is tested: nothing opens as long as the lock is held.
    assert_eq!(opened.recv_timeout(Duration::from_millis(500)), Err(RecvTimeoutError::Timeout));
    writer.batch_execute("COMMIT")?;
    opened.recv_timeout(PATIENT)?;
    let store = opening.join().expect("no panic")?;
    store.migrate()?;
    assert_eq!(store.enqueue(&[note("a")])?.len(), 1);
    Ok(())
}

/// Somebody who commits again and again until told to stop. It tries every millisecond: with the long steps
/// of SQLite's own handler it would hardly ever meet a gap between our transactions.
fn noise(db: &OnSqlite, stop: &AtomicBool, commits: &AtomicU64) {
    let mut conn = db.connect();
    conn.batch_execute("PRAGMA busy_timeout = 0").expect("a pragma without effect on the file");
    while !stop.load(Ordering::Relaxed) {
        match conn.batch_execute("BEGIN IMMEDIATE; INSERT INTO noise VALUES (1); COMMIT") {
            Ok(()) => commits.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.to_string().contains("is locked") => 0,
            Err(error) => panic!("{error}"),
        };
        // sleep: a writer every few milliseconds is what the report is about.
        thread::sleep(Duration::from_millis(1));
    }
}

/// H34: every write path, beside a writer that never rests.
#[test]
fn every_write_gets_through_beside_a_busy_writer() -> TestResult {
    let db = OnSqlite::fresh(2);
    db.run("CREATE TABLE noise (n INTEGER)");
    let (stop, commits) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| -> TestResult {
        let writer = scope.spawn(|| noise(&db, &stop, &commits));
        let mut done = Ok(());
        let mut rounds = 0;
        while done.is_ok() && (rounds < 15 || commits.load(Ordering::Relaxed) < 100) && rounds < 200 {
            done = every_write(&db);
            rounds += 1;
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().expect("it met no error either");
        assert!(commits.load(Ordering::Relaxed) >= 100, "the other writer hardly wrote");
        done
    })
}

fn every_write(db: &OnSqlite) -> TestResult {
    // Without waiting a claim by key is told that the file is busy: that is what it asked for.
    let (store, anna) = (db.store(), ask("anna").wait(Wait::AtMost(PATIENT)));
    assert!(store.migrate()?.versions.is_empty());
    let ids = store.enqueue(&notes(10))?.ids();
    let take = |at: usize| store.claim(&ids[at], &anna).map(|c| c.claimed().expect("it is free").claim);
    let mut claim = take(0)?;
    store.renew(&mut claim, LEASE)?;
    assert!(!store.complete(claim)?.already);
    store.fail(take(1)?, "no")?;
    store.release(take(2)?)?;
    store.snooze(take(3)?, LEASE)?;
    let token = take(4)?.token();
    let ((), receipt) = store.settle_with(store.resume(&token)?, Verdict::complete(), |conn| {
        conn.batch_execute("INSERT INTO noise VALUES (2)")
    })?;
    assert!(!receipt.already);
    store.settle_all(vec![(take(5)?, Verdict::complete()), (take(6)?, Verdict::release())]);
    let late = take(7)?;
    db.expire(&ids[7..8]);
    assert_eq!(store.recover(&at_once(), 10)?.rows.len(), 1);
    // Recording the late writer is a write too.
    assert!(store.complete(late).is_err_and(|error| error.fenced().is_some()));
    let both = store.settle_and_claim(vec![(take(8)?, Verdict::complete())], &anna.limit(50));
    assert!(both.settled.iter().all(Result::is_ok));
    let rest = both.claimed?.into_iter().map(|one| (one.claim, Verdict::complete())).collect();
    assert!(store.settle_all(rest).iter().all(Result::is_ok));
    let mut conn = store.pool().get()?;
    conn.immediate_transaction::<_, TxError, _>(|conn| store.on(conn).enqueue(&notes(1)).map(drop))?;
    drop(conn);
    let rest = store.claim_next(&anna.limit(50))?.into_iter().map(|one| (one.claim, Verdict::complete()));
    assert!(store.settle_all(rest.collect()).iter().all(Result::is_ok));
    Ok(())
}

/// H34: no transaction of the library's own begins as a reader, whatever it is for. In one that did, the
/// first write could fail at once, and no waiting would cure it.
#[test]
fn every_transaction_of_the_library_begins_as_a_writer() -> TestResult {
    let db = OnSqlite::fresh(1);
    db.run("CREATE TABLE noise (n INTEGER)");
    let begun = Arc::new(Mutex::new(Vec::new()));
    let into = begun.clone();
    db.store().pool().get()?.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            if text.contains("BEGIN") {
                into.lock().expect("not poisoned").push(text);
            }
        }
    });
    every_write(&db)?;
    let begun = begun.lock().expect("not poisoned");
    assert!(begun.len() > 15, "{begun:?}");
    assert!(begun.iter().all(|text| text.contains("BEGIN IMMEDIATE")), "{begun:?}");
    Ok(())
}

type InTx<'a> = &'a dyn Fn(&mut SqliteConnection) -> Result<(), TxError>;

/// H34: in a caller's deferred transaction that has read, while somebody else has written since, each verb
/// says that the transaction must be run again, and run again as a writer it works.
#[test]
fn a_deferred_transaction_of_the_caller_is_told_to_start_again() -> TestResult {
    let db = OnSqlite::fresh(4);
    let store = db.store();
    let ids = store.enqueue(&notes(4))?.ids();
    let held = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let token = held.token();
    drop(store.claim(&ids[3], &ask("anna"))?.claimed().expect("it is free"));
    db.expire(&ids[3..]);
    let verbs: [(&str, InTx<'_>); 7] = [
        ("enqueue", &|conn| store.on(conn).enqueue(&notes(1)).map(drop)),
        ("claim", &|conn| store.on(conn).claim(&ids[1], &ask("bert")).map(drop)),
        ("claim_next", &|conn| store.on(conn).claim_next(&ask("bert")).map(drop)),
        ("guard", &|conn| store.on(conn).guard(&held)),
        ("renew", &|conn| store.on(conn).renew_all(std::slice::from_ref(&token), LEASE).map(drop)),
        ("recover", &|conn| store.on(conn).recover(&at_once(), 10).map(drop)),
        ("settle", &|conn| store.on(conn).settle(&held, &Verdict::complete()).map(drop)),
    ];
    let mut conn = store.pool().get()?;
    for (verb, work) in verbs {
        let started = Instant::now();
        let refused = conn.transaction::<_, TxError, _>(|conn| {
            OnSqlite::texts_on(conn, "SELECT state AS text FROM claimstore_jobs");
            db.run("UPDATE claimstore_jobs SET priority = priority + 1");
            work(conn)
        });
        let error = refused.expect_err(verb);
        assert_eq!(kind(&error), Some(StoreErrorKind::RestartTransaction), "{verb}: {error}");
        assert!(error.to_string().contains("immediate_transaction"), "{verb}: {error}");
        assert!(started.elapsed() < Duration::from_secs(4), "{verb} waited for what no waiting cures");
        conn.immediate_transaction::<_, TxError, _>(|conn| {
            OnSqlite::texts_on(conn, "SELECT state AS text FROM claimstore_jobs");
            work(conn)
        })
        .unwrap_or_else(|error| panic!("{verb}: {error}"));
    }
    Ok(())
}

/// H39: eight connections, 2000 pairs of claim and completion; the waits for the file stay short.
#[test]
fn waiting_for_the_file_stays_short() -> TestResult {
    const THREADS: usize = 8;
    const PAIRS: usize = 250;
    let db = OnSqlite::fresh(1);
    for _ in 0..4 {
        db.store().enqueue(&notes(THREADS * PAIRS / 4))?;
    }
    let start = Barrier::new(THREADS);
    let begun = Instant::now();
    let mut waits: Vec<Duration> = thread::scope(|scope| {
        let pairs = |n: usize| {
            let (db, start) = (&db, &start);
            scope.spawn(move || {
                let (store, ask) = (db.another(1), ask(&format!("worker-{n}")));
                start.wait();
                let pair = |_| {
                    let one = Instant::now();
                    let mut batch = store.claim_next(&ask).expect("busy is no error");
                    let claim = batch.claimed.pop().expect("there is enough for all").claim;
                    let claimed = one.elapsed();
                    let two = Instant::now();
                    assert!(!store.complete(claim).expect("busy is no error").already);
                    [claimed, two.elapsed()]
                };
                (0..PAIRS).flat_map(pair).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..THREADS).map(pairs).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let total = begun.elapsed();
    waits.sort();
    let (median, p99) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!(
        "{} calls in {total:?}: median {median:?}, p99 {p99:?}, most {:?}",
        waits.len(),
        waits[waits.len() - 1]
    );
    assert_eq!(db.count("claimstore_jobs WHERE state = 'completed'"), i64::try_from(THREADS * PAIRS)?);
    assert!(total < PATIENT, "{total:?}");
    assert!(p99 < Duration::from_secs(2), "{p99:?}");
    Ok(())
}
