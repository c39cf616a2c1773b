//! Connections that died in the pool, or lead to a server that takes no writes any more.

use std::time::Duration;

use claimstore::core::{ClaimStore, RecoverStore, SettleCause, StoreErrorKind, Verdict};
use claimstore::{Job, PgStore};
use diesel::connection::SimpleConnection;

use crate::support::{
    Database, Ids, LEASE, OnPostgres, TestResult, ask, at_once, backend_pid, note, notes, until,
};

const POOL: u32 = 4;

/// Opens all connections of the pool and runs `sql` on each; their server processes.
fn on_each(store: &PgStore<Job>, size: u32, sql: &str) -> Vec<String> {
    let mut all: Vec<_> = (0..size).map(|_| store.pool().get().expect("it opens")).collect();
    let pids = all.iter_mut().map(|conn| {
        conn.batch_execute(sql).expect("it is alive");
        backend_pid(conn)
    });
    pids.collect()
}

/// Ends every connection of the store's pool on the server's side.
fn kill_all(db: &OnPostgres) {
    let pids = on_each(db.store(), POOL, "SELECT 1").join(", ");
    let gone = format!("pg_stat_activity WHERE pid IN ({pids})");
    db.run(&format!("SELECT pg_terminate_backend(pid) FROM {gone}"));
    until("the connections are gone", || db.count(&gone) == 0);
}

/// Each verb after every pooled connection has died: it succeeds at once, and does what it says once.
#[test]
fn each_verb_survives_that_every_pooled_connection_has_died() -> TestResult {
    let db = OnPostgres::fresh(POOL);
    let store = db.store();

    kill_all(&db);
    let ids = store.enqueue(&notes(6))?.ids();
    assert_eq!(db.count("claimstore_jobs"), 6, "not enqueued twice");

    kill_all(&db);
    let mut claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    kill_all(&db);
    store.renew(&mut claim, LEASE)?;
    kill_all(&db);
    assert!(!store.complete(claim)?.already);

    kill_all(&db);
    let mut batch = store.claim_next(&ask("anna").limit(4))?.claimed;
    assert_eq!(batch.len(), 4);
    assert_eq!(db.count("claimstore_jobs WHERE state = 'running'"), 4);
    kill_all(&db);
    let done = vec![(batch.remove(0).claim, Verdict::complete())];
    assert!(store.settle_all(done).iter().all(Result::is_ok));
    kill_all(&db);
    let both = store.settle_and_claim(vec![(batch.remove(0).claim, Verdict::complete())], &ask("anna"));
    assert!(both.settled[0].is_ok());
    let last = both.claimed?.claimed.remove(0).claim;
    kill_all(&db);
    let ((), receipt) =
        store.settle_with(last, Verdict::complete(), |conn| conn.batch_execute("SELECT 1"))?;
    assert!(!receipt.already);

    let token = batch[0].claim.token();
    kill_all(&db);
    drop(store.resume(&token)?);
    let left: Vec<i64> = batch.iter().map(|one| *one.claim.key()).collect();
    db.expire(&left);
    kill_all(&db);
    assert_eq!(store.preview(&at_once(), 10)?.rows.len(), 2);
    kill_all(&db);
    assert_eq!(store.recover(&at_once(), 10)?.rows.len(), 2);
    assert_eq!(db.count("claimstore_jobs"), 6);
    Ok(())
}

/// H65: all pooled sessions are read-only, as after a failover, and new ones are not. Each such connection is
/// thrown away where it is met; nothing is lost and nobody restarts anything.
#[test]
fn sessions_that_became_read_only_are_thrown_away() -> TestResult {
    const READ_ONLY: &str = "SET default_transaction_read_only = on";
    let db = OnPostgres::fresh(1);
    let store = db.store();
    let ids = store.enqueue(&notes(4))?.ids();

    // With one connection the fresh try is a new one.
    let old = on_each(store, 1, READ_ONLY);
    let claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    assert_ne!(on_each(store, 1, "SELECT 1"), old);
    on_each(store, 1, READ_ONLY);
    assert!(!store.complete(claim)?.already);
    // Enqueueing is not sent twice by itself; its error says what it is, and the next one works.
    on_each(store, 1, READ_ONLY);
    assert_eq!(store.enqueue(&[note("a")]).expect_err("read-only").kind(), StoreErrorKind::ReadOnly);
    assert_eq!(store.enqueue(&[note("a")])?.len(), 1);
    on_each(store, 1, READ_ONLY);
    let mut conn = store.pool().get()?;
    let refused = store.on(&mut *conn).claim_next(&ask("anna")).expect_err("read-only");
    assert_eq!(crate::support::kind(&refused), Some(StoreErrorKind::ReadOnly));
    drop(conn);
    assert_eq!(store.claim_next(&ask("anna"))?.len(), 1);

    // With several, at most one refusal for each of them, and a claim is handed back each time.
    let store = db.another(POOL);
    let mut claim = store.claim(&ids[2], &ask("anna"))?.claimed().expect("it is free").claim;
    on_each(&store, POOL, READ_ONLY);
    let mut refused = 0;
    loop {
        match store.complete(claim).map_err(claimstore::core::SettleError::into_parts) {
            Ok(receipt) => {
                assert!(!receipt.already);
                break;
            }
            Err((SettleCause::Store(error), Some(back))) => {
                assert_eq!(error.kind(), StoreErrorKind::ReadOnly);
                claim = back;
            }
            Err((cause, _)) => panic!("{cause}"),
        }
        refused += 1;
        assert!(refused <= POOL, "read-only connections are reused");
    }
    assert_eq!(db.state(ids[2]), "completed");
    Ok(())
}

/// A server that cannot be reached is told soon, and not after the pool's half minute.
#[test]
fn a_wrong_address_is_told_soon() {
    let started = std::time::Instant::now();
    let error = PgStore::<Job>::connect("postgres://nobody@127.0.0.1:1/none").expect_err("nobody listens");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
