//! Full disks, files that cannot be in WAL, databases in memory, and a WAL that must not grow.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimstore::core::{ClaimStore, RecoverStore, SettleCause, StoreError, StoreErrorKind, Verdict};
use claimstore::{Job, SettleWithError, SqliteOptions, SqliteStore, TxError};
use claimstore_tests::sqlite::TestFile;
use diesel::connection::SimpleConnection;
use diesel::r2d2::{ConnectionManager, Pool};
use diesel::{Connection, SqliteConnection};

use crate::support::{Database, Ids, LEASE, OnSqlite, TestResult, ask, at_once, kind, note, notes};

/// All messages of an error and its causes.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[track_caller]
fn is_full(error: &StoreError) {
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    let source = error.source().expect("a cause");
    assert!(causes(source).contains("database or disk is full"), "{error:?}");
    assert!(!causes(error).contains("no transaction is active"), "{error:?}");
}

/// The file may not grow beyond what it has now, or may again.
fn may_grow(db: &OnSqlite, grow: bool) -> TestResult {
    let mut conn = db.store().pool().get()?;
    let pages = match grow {
        true => "1000000".to_owned(),
        false => {
            OnSqlite::texts_on(&mut conn, "SELECT CAST(page_count AS TEXT) AS text FROM pragma_page_count")
                .remove(0)
        }
    };
    conn.batch_execute(&format!("PRAGMA max_page_count = {pages}"))?;
    Ok(())
}

/// H35: the disk is full in `enqueue`, in `complete`, in `settle_with` and in the caller's transaction. The
/// caller sees that and not the failed rollback after it, and once there is room all of it works.
#[test]
fn a_full_disk_is_told_as_such_and_nothing_is_lost() -> TestResult {
    let db = OnSqlite::fresh(1);
    let store = db.store();
    // Completing writes a page of its own here, as an application's trigger would.
    db.run(
        "CREATE TABLE ballast (b BLOB);
         CREATE TRIGGER grow AFTER UPDATE OF state ON claimstore_jobs WHEN NEW.state = 'completed'
         BEGIN INSERT INTO ballast VALUES (zeroblob(100000)); END",
    );
    let ids = store.enqueue(&notes(2))?.ids();
    let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let before = db.row(ids[0]);
    let big = note(&"x".repeat(200_000));

    may_grow(&db, false)?;
    is_full(&store.enqueue(&[note("small"), big.clone()]).expect_err("no room"));
    let (cause, claim) = store.complete(claim).expect_err("no room").into_parts();
    let SettleCause::Store(error) = cause else { panic!("{cause}") };
    is_full(&error);
    let claim = claim.expect("a store failure hands the claim back");
    let refused = store.settle_with(claim, Verdict::release(), |conn| {
        conn.batch_execute("INSERT INTO ballast VALUES (zeroblob(300000))")
    });
    let Err(SettleWithError::Work { error, claim }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("full"), "{error}");
    let mut conn = store.pool().get()?;
    let refused = conn.immediate_transaction::<_, TxError, _>(|conn| {
        store.on(conn).enqueue(std::slice::from_ref(&big)).map(drop)
    });
    assert_eq!(kind(&refused.expect_err("no room")), Some(StoreErrorKind::Full));
    drop(conn);
    assert_eq!(db.row(ids[0]), before);
    assert_eq!(db.count("claimstore_jobs"), 2);
    // What needs no room goes on.
    assert_eq!(store.claim_next(&ask("bert"))?.len(), 1);

    may_grow(&db, true)?;
    assert!(!store.complete(*claim)?.already);
    assert_eq!(store.enqueue(&[big])?.len(), 1);
    assert_eq!(db.state(ids[0]), "completed");
    Ok(())
}

#[track_caller]
fn refused_soon(path: &str, words: &[&str]) -> StoreError {
    let started = Instant::now();
    let error = SqliteStore::<Job>::open(path).expect_err("it cannot be served");
    let text = causes(&error);
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?} for {text}", started.elapsed());
    error
}

/// H36: where WAL cannot be had (no memory to share, a read-only file) opening is refused in words, and
/// soon; the mode is not assumed.
#[test]
fn a_file_that_cannot_be_in_wal_is_refused() -> TestResult {
    let file = TestFile::fresh();
    file.connect().batch_execute("CREATE TABLE mine (n INTEGER)")?;
    // Locks by files: what a share without shared memory is to SQLite.
    refused_soon(&format!("file:{}?vfs=unix-dotfile", file.url()), &["journal mode stayed delete"]);
    refused_soon(&format!("file:{}?mode=ro", file.url()), &["read"]);
    refused_soon("/no/such/folder/work.db", &["unable to open database file"]);
    let mode =
        OnSqlite::texts_on(&mut file.connect(), "SELECT journal_mode AS text FROM pragma_journal_mode");
    assert_eq!(mode, ["delete"]);
    Ok(())
}

/// H38: each connection to `:memory:` would see a database of its own; a shared cache fails without waiting.
#[test]
fn a_database_in_memory_has_one_connection_or_is_refused() -> TestResult {
    let pool = |url: &str, size| {
        let options = SqliteOptions::default();
        let pool = Pool::builder().max_size(size).min_idle(Some(0)).connection_customizer(Box::new(options));
        pool.build(ConnectionManager::<SqliteConnection>::new(url)).expect("it opens")
    };
    for url in [":memory:", "file::memory:"] {
        let error = SqliteStore::<Job>::new(pool(url, 4)).expect_err("four databases");
        assert_eq!(error.kind(), StoreErrorKind::Input);
        assert!(error.to_string().contains("memory") && error.to_string().contains("max_size(1)"), "{error}");
    }
    for url in
        ["file:work?mode=memory&cache=shared", "file::memory:?cache=shared", "file:work.db?cache=shared"]
    {
        let error = refused_soon(url, &["shares its cache"]);
        assert_eq!(error.kind(), StoreErrorKind::Input);
    }
    let own = SqliteStore::<Job>::open_with(":memory:", SqliteOptions::default().connections(4))?;
    for store in [own, SqliteStore::new(pool(":memory:", 1))?] {
        store.migrate()?;
        let ids = store.enqueue(&notes(2))?.ids();
        let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
        store.complete(claim)?;
        assert_eq!(store.claim_next(&ask("anna").limit(9))?.len(), 1);
    }
    Ok(())
}

fn wal_bytes(db: &OnSqlite) -> u64 {
    std::fs::metadata(format!("{}-wal", db.file.url())).map_or(0, |file| file.len())
}

/// H40: after each operation, refused and empty ones too, no connection of the pool holds a read transaction:
/// another connection can empty the WAL at once.
#[test]
fn no_operation_leaves_a_read_transaction_behind() -> TestResult {
    let db = OnSqlite::fresh(4);
    let store = db.store();
    let mut other = db.connect();
    let mut empties = |after: &str| {
        other.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
        assert_eq!(wal_bytes(&db), 0, "after {after}");
        other.batch_execute("INSERT INTO noise VALUES (1)").expect("a write for the next one");
        assert!(wal_bytes(&db) > 0);
    };
    db.run("CREATE TABLE noise (n INTEGER)");
    let ids = store.enqueue(&notes(3))?.ids();
    empties("enqueue");
    let mut claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    empties("claim");
    assert!(store.claim(&ids[0], &ask("bert"))?.refusal().is_some());
    empties("a refused claim");
    assert!(store.claim_next(&ask("bert").queue("empty"))?.is_empty());
    empties("an empty claim");
    assert_eq!(store.claim_next(&ask("bert").limit(2))?.len(), 2);
    empties("claim_next");
    store.renew(&mut claim, LEASE)?;
    empties("renew");
    assert!(store.preview(&at_once(), 10)?.rows.is_empty());
    empties("preview");
    let claim = store.resume(&claim.token())?;
    empties("resume");
    let token = claim.token();
    store.complete(claim)?;
    empties("complete");
    assert!(store.resume(&token).is_err());
    empties("a refused resume");
    db.expire(&ids[1..]);
    empties("the test");
    store.recover(&at_once(), 1)?;
    empties("recover");
    let mut conn = store.pool().get()?;
    assert!(
        conn.transaction::<(), TxError, _>(|conn| {
            drop(store.on(conn).claim_next(&ask("anna"))?);
            Err(TxError::Busy)
        })
        .is_err()
    );
    empties("a transaction of the caller that was rolled back");
    Ok(())
}

/// H40: pollers that find nothing, beside a writer of forty megabytes.
#[test]
fn the_wal_stays_small_beside_idle_pollers() -> TestResult {
    let db = OnSqlite::fresh(4);
    let stop = AtomicBool::new(false);
    let largest = thread::scope(|scope| -> Result<u64, Box<dyn Error>> {
        for n in 0..3 {
            let (db, stop) = (&db, &stop);
            scope.spawn(move || {
                let ask = ask(&format!("idle-{n}"));
                while !stop.load(Ordering::Relaxed) {
                    db.store().preview(&at_once(), 10).expect("a read");
                    if n == 0 {
                        assert!(db.store().claim_next(&ask).expect("busy is no error").is_empty());
                    }
                    // sleep: idle pollers look now and then.
                    thread::sleep(Duration::from_millis(1));
                }
            });
        }
        let mut conn = db.connect();
        conn.batch_execute("PRAGMA synchronous = OFF; CREATE TABLE noise (b BLOB)")?;
        let mut largest = 0;
        for _ in 0..1000 {
            conn.batch_execute("BEGIN IMMEDIATE; INSERT INTO noise VALUES (zeroblob(40000)); COMMIT")?;
            largest = largest.max(wal_bytes(&db));
        }
        stop.store(true, Ordering::Relaxed);
        Ok(largest)
    });
    stop.store(true, Ordering::Relaxed);
    let largest = largest?;
    println!("the WAL had at most {largest} bytes");
    // SQLite starts over after four megabytes wherever no reader is in the way.
    assert!(largest < 20_000_000, "{largest}");
    Ok(())
}
