//! Claimed twice, or more than asked for.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

use claimstore::Job;
use claimstore::PgStore;
use claimstore::core::{ClaimStore, RecoverStore, Refusal};

use crate::support::{
    Database, Ids, OnPostgres, TestResult, ask, at_once, backend_pid, note, pg_pool, until,
};

/// Sessions whose planner has nothing but the nested loop, and nothing that would keep the inner side's rows.
fn badly_planned(db: &OnPostgres) -> String {
    let off = ["hashjoin", "mergejoin", "material", "hashagg", "sort", "memoize"];
    let off = off.map(|what| format!("enable_{what}"));
    off.iter().fold(db.schema.server_url().clone(), |url, name| url.with_setting(name, "off")).in_full()
}

/// H1: the planner is kept from every join but the nested loop, knows nothing of the table, and may run
/// the locking select again for each outer row. 200 claims from 8 connections.
#[test]
fn a_bad_plan_claims_no_more_than_the_limit() -> TestResult {
    let db = OnPostgres::fresh(1);
    db.run(
        "ALTER TABLE claimstore_jobs SET (autovacuum_enabled = false);
         INSERT INTO claimstore_jobs (kind, payload) SELECT 'note', '{}' FROM generate_series(1, 5000)",
    );
    let store = PgStore::<Job>::new(pg_pool(&badly_planned(&db), 8));
    let start = Barrier::new(8);
    let won: Vec<i64> = thread::scope(|scope| {
        let claim = |n: usize| {
            let (store, start) = (&store, &start);
            scope.spawn(move || {
                let ask = ask(&format!("worker-{n}"));
                start.wait();
                let mut won = Vec::new();
                for round in 0..25 {
                    let limit = if round % 2 == 0 { 1 } else { 10 };
                    let batch = store.claim_next(&ask.limit(limit)).expect("it claims");
                    assert_eq!(batch.len(), limit, "5000 rows are there for 1400");
                    won.extend(batch.into_iter().map(|one| *one.claim.key()));
                }
                won
            })
        };
        let threads: Vec<_> = (0..8).map(claim).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(won.iter().collect::<HashSet<_>>().len(), won.len(), "no row is won twice");
    assert_eq!(db.count("claimstore_jobs WHERE state = 'running'"), i64::try_from(won.len())?);
    Ok(())
}

/// H1: the same for settling and claiming at once, over several queues and over one.
#[test]
fn a_bad_plan_settles_and_claims_no_more_than_the_limit() -> TestResult {
    let db = OnPostgres::fresh(1);
    db.run(
        "ALTER TABLE claimstore_jobs SET (autovacuum_enabled = false);
         INSERT INTO claimstore_jobs (kind, payload, queue)
         SELECT 'note', '{}', CASE n % 2 WHEN 0 THEN 'even' ELSE 'odd' END FROM generate_series(1, 1000) AS n",
    );
    let store = PgStore::<Job>::new(pg_pool(&badly_planned(&db), 1));
    let mut done = Vec::new();
    for queues in [vec!["even"], vec!["even", "odd"]].into_iter().cycle().take(40) {
        let settled = done.len();
        let both = store.settle_and_claim(done, &ask("anna").queues(queues).limit(7));
        assert_eq!(both.settled.iter().filter(|answer| answer.is_ok()).count(), settled);
        done =
            both.claimed?.into_iter().map(|one| (one.claim, claimstore::core::Verdict::complete())).collect();
        assert_eq!(done.len(), 7);
        assert_eq!(db.count("claimstore_jobs WHERE state = 'running'"), 7);
    }
    Ok(())
}

/// H3: the claim lives in the row and not in its connection.
#[test]
fn a_claim_outlives_its_connection() -> TestResult {
    let db = OnPostgres::fresh(1);
    let ids = db.store().enqueue(&[note("a")])?.ids();
    let claim = db.store().claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    let row = db.row(ids[0]);
    assert!(row.starts_with("running ") && row.contains(" anna "), "{row}");
    assert!(row.contains(&claim.fence().to_string()), "{row}");

    let pid = backend_pid(&mut *db.store().pool().get()?);
    db.run(&format!("SELECT pg_terminate_backend({pid})"));
    until("the connection is gone", || db.count(&format!("pg_stat_activity WHERE pid = {pid}")) == 0);

    let other = db.another(1);
    let refused = other.claim(&ids[0], &ask("bert"))?;
    assert!(matches!(refused.refusal(), Some(Refusal::Held { expired: false, .. })), "{refused:?}");
    assert!(other.claim_next(&ask("bert"))?.is_empty());
    assert!(other.recover(&at_once(), 10)?.rows.is_empty());
    assert_eq!(db.row(ids[0]), row);
    assert!(!db.store().complete(claim)?.already);
    Ok(())
}
