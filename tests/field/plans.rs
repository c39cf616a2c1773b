//! Statements prepared before the table changed under them.

use claimstore::core::{ClaimStore, RecoverStore, StoreErrorKind, Verdict};
use claimstore::{Job, PgStore};

use crate::support::{Database, Ids, LEASE, OnPostgres, TestResult, ask, at_once, notes};

const POOL: u32 = 3;

/// Every connection of the pool has every hot statement prepared.
fn warm(store: &PgStore<Job>) -> TestResult {
    let all: Vec<_> = (0..POOL).map(|_| store.pool().get().expect("it opens")).collect();
    for mut conn in all {
        for _ in 0..7 {
            let mut on = store.on(&mut *conn);
            let claimed = on.claim_next(&ask("anna"))?.claimed.remove(0).claim;
            let key = *claimed.key();
            on.renew_all(&[claimed.token()], LEASE)?;
            on.settle(&claimed, &Verdict::release())?;
            let claimed = on.claim(&key, &ask("anna"))?.claimed().expect("it is free").claim;
            drop(on.resume(&claimed.token())?);
            on.settle_all(&[(claimed, Verdict::release())])?;
            on.recover(&at_once(), 5)?;
        }
    }
    Ok(())
}

/// One round of every verb, without an error.
fn work(db: &OnPostgres) -> TestResult {
    let store = db.store();
    let ids = store.enqueue(&notes(3))?.ids();
    let mut claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
    store.renew(&mut claim, LEASE)?;
    store.complete(store.resume(&claim.token())?)?;
    let batch = store.claim_next(&ask("anna").limit(2))?;
    let done = batch.into_iter().map(|one| (one.claim, Verdict::release())).collect();
    assert!(store.settle_all(done).iter().all(Result::is_ok));
    let one = store.claim(&ids[1], &ask("anna"))?.claimed().expect("it is free").claim;
    db.expire(&ids[1..2]);
    assert_eq!(store.recover(&at_once(), 5)?.rows.len(), 1);
    assert!(store.complete(one).is_err());
    Ok(())
}

/// H80: a new column, a dropped one and a new index change no statement's result: no column is taken by `*`.
#[test]
fn a_new_column_disturbs_no_running_worker() -> TestResult {
    let db = OnPostgres::fresh(POOL);
    db.store().enqueue(&notes(5))?;
    warm(db.store())?;
    db.run("ALTER TABLE claimstore_jobs ADD COLUMN extra TEXT DEFAULT 'x'");
    for _ in 0..4 {
        work(&db)?;
    }
    db.run(
        "ALTER TABLE claimstore_jobs DROP COLUMN extra; CREATE INDEX more ON claimstore_jobs (created_at)",
    );
    for _ in 0..4 {
        work(&db)?;
    }
    Ok(())
}

/// H80: a column of another type makes PostgreSQL refuse every plan made before. The store throws such
/// connections away and goes on by itself, whatever the size of its pool.
#[test]
fn a_changed_type_is_recovered_from_on_every_connection() -> TestResult {
    let db = OnPostgres::fresh(POOL);
    let store = db.store();
    let ids = store.enqueue(&notes(5))?.ids();
    let verbs: [(&str, &dyn Fn() -> TestResult); 3] = [
        ("claim_next", &|| {
            let batch = store.claim_next(&ask("anna"))?;
            Ok(store.release(batch.into_iter().next().expect("one is free").claim).map(drop)?)
        }),
        ("claim", &|| {
            let won = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free");
            Ok(store.release(won.claim).map(drop)?)
        }),
        ("settle_and_claim", &|| {
            let both = store.settle_and_claim(Vec::new(), &ask("anna"));
            Ok(store.release(both.claimed?.into_iter().next().expect("one is free").claim).map(drop)?)
        }),
    ];
    for (n, (verb, run)) in verbs.into_iter().enumerate() {
        warm(store)?;
        let to = if n % 2 == 0 { "VARCHAR(300)" } else { "TEXT" };
        db.run(&format!("ALTER TABLE claimstore_jobs ALTER COLUMN kind TYPE {to}"));
        for _ in 0..2 * POOL {
            run().unwrap_or_else(|error| panic!("{verb}: {error}"));
        }
    }
    Ok(())
}

/// H80 in the caller's transaction: one refusal for each connection at most, typed as one to try again.
#[test]
fn a_changed_type_costs_the_caller_one_transaction_at_most() -> TestResult {
    let db = OnPostgres::fresh(1);
    let store = db.store();
    store.enqueue(&notes(2))?;
    db.store().pool().get().map(drop)?;
    let in_transaction = || {
        let mut conn = store.pool().get().expect("it is free");
        diesel::Connection::transaction(&mut *conn, |conn| {
            store.on(conn).claim_next(&ask("anna")).map(|batch| batch.len())
        })
    };
    assert_eq!(in_transaction()?, 1);
    db.run("ALTER TABLE claimstore_jobs ALTER COLUMN kind TYPE VARCHAR(300)");
    let refused = in_transaction().expect_err("its plan is of before");
    let kind = crate::support::kind(&refused).expect("a store failure");
    assert!(kind.is_transient() && kind != StoreErrorKind::Full, "{refused}");
    assert_eq!(in_transaction()?, 1);
    Ok(())
}
