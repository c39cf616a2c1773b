//! Two at the same moment.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use claimstore::core::{ClaimStore, StoreErrorKind};
use claimstore::{ClaimOn, Enqueued, Job, NewJob, OnDuplicate, PgStore, TxError};
use diesel::Connection;
use diesel::connection::InstrumentationEvent;
use diesel::r2d2::{ConnectionManager, PooledConnection};

use super::{asked, duplicate, keyed, new, put, replaced};
use crate::support::{
    Database, Gate, Ids, OnPostgres, OnSqlite, TestResult, ask, backend_pid, begin, commit, impatient, kind,
    pg_pool, roll_back, until, waits_for,
};

const MODES: [OnDuplicate; 3] = [OnDuplicate::Keep, OnDuplicate::Replace, OnDuplicate::Debounce];

/// H6: sixteen connections and one key behind a barrier, again and again. One row; all learn its id.
fn sixteen_and_one_key<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    for round in 0..12 {
        let start = Barrier::new(16);
        let told: Vec<Enqueued> = thread::scope(|scope| {
            let enqueue = |n: usize| {
                let (start, db) = (&start, &db);
                scope.spawn(move || {
                    let key = format!("key {round}");
                    let job = keyed(&n.to_string(), &key).on_duplicate(MODES[round % 3]);
                    start.wait();
                    put(*db, job)
                })
            };
            let threads: Vec<_> = (0..16).map(enqueue).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(told.iter().filter(|told| told.is_new()).count(), 1, "{told:?}");
        assert_eq!(told.ids().iter().collect::<BTreeSet<_>>().len(), 1, "{told:?}");
        let expected = if round % 3 == 0 { duplicate(told[0].id()) } else { replaced(told[0].id()) };
        assert_eq!(told.iter().filter(|told| **told == expected).count(), 15, "{told:?}");
        assert_eq!(db.count("claimstore_jobs"), i64::try_from(round)? + 1);
    }
    Ok(())
}

#[test]
fn one_key_is_enqueued_once_by_sixteen_on_postgresql() -> TestResult {
    sixteen_and_one_key(&OnPostgres::fresh(16))
}

#[test]
fn one_key_is_enqueued_once_by_sixteen_on_sqlite() -> TestResult {
    sixteen_and_one_key(&OnSqlite::fresh(16))
}

/// The same keys upwards and downwards, some of them new, some there already, in the callers' transactions, where
/// nothing is tried again: nobody is refused, and each key is there once.
#[test]
fn batches_in_opposite_orders_do_not_deadlock() -> TestResult {
    const THREADS: usize = 8;
    let db = OnPostgres::fresh(1);
    let start = Barrier::new(THREADS);
    let told: Vec<Result<Vec<Enqueued>, TxError>> = thread::scope(|scope| {
        let enqueue = |n: usize| {
            let (start, db, store) = (&start, &db, db.store());
            scope.spawn(move || {
                let mut conn = db.connect();
                let round = |round: usize| {
                    // Half of the keys are of the round before, and so waiting.
                    let job = |key: usize| {
                        keyed(&n.to_string(), &format!("key {key}")).on_duplicate(MODES[(n + key) % 3])
                    };
                    let mut jobs: Vec<NewJob> = (round * 10..round * 10 + 20).map(job).collect();
                    if n.is_multiple_of(2) {
                        jobs.reverse();
                    }
                    start.wait();
                    conn.transaction(|conn| store.on(conn).enqueue(&jobs))
                };
                (0..25).map(round).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..THREADS).map(enqueue).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    for told in told {
        let told = told.expect("nobody is in anybody's way for good");
        assert_eq!(told.ids().iter().collect::<BTreeSet<_>>().len(), 20);
    }
    assert_eq!(db.count("claimstore_jobs"), 260);
    Ok(())
}

/// A has enqueued the key and not committed. B waits for A, then decides by what became of it: alone and in a
/// batch whose other keys are free.
#[test]
fn who_comes_second_waits_and_is_told_what_became_of_the_first() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    for (n, mode) in MODES.into_iter().enumerate() {
        for (commits, batch) in [(true, false), (true, true), (false, false), (false, true)] {
            let (key, before, after) =
                (format!("m {n} {commits} {batch}"), format!("a {n} {commits}"), format!("z {n} {commits}"));
            begin(&mut a);
            let first = store.on(&mut a).enqueue(&[keyed("first", &key)])?[0].id();
            let job = keyed("second", &key).on_duplicate(mode);
            let jobs = if batch { vec![keyed("z", &after), job, keyed("a", &before)] } else { vec![job] };
            let told = thread::scope(|scope| {
                let second = scope.spawn(|| store.enqueue(&jobs));
                until("the second one waits", || waits_for(&db, &pid));
                if commits {
                    commit(&mut a)
                } else {
                    roll_back(&mut a)
                }
                second.join().expect("no panic")
            })?;
            let told_of_key = told[usize::from(batch)];
            let id = told_of_key.id();
            match (commits, mode) {
                (false, _) => assert!(told_of_key == new(id) && id != first),
                (true, OnDuplicate::Keep) => assert_eq!(told_of_key, duplicate(first)),
                (true, _) => assert_eq!(told_of_key, replaced(first)),
            }
            let text = if commits && mode == OnDuplicate::Keep { "first" } else { "second" };
            assert!(asked(&db, id).contains(text), "{}", asked(&db, id));
            assert_eq!(told.iter().filter(|told| told.is_new()).count(), told.len() - usize::from(commits));
        }
    }
    Ok(())
}

/// A has replaced the job and not committed. Nobody claims it meanwhile, and B's replacement comes after A's.
#[test]
fn a_job_that_is_being_replaced_is_not_claimed() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let id = put(&db, keyed("first", "a")).id();
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    begin(&mut a);
    let replace = |text: &str| keyed(text, "a").on_duplicate(OnDuplicate::Replace);
    assert_eq!(store.on(&mut a).enqueue(&[replace("second")])?, [replaced(id)]);
    // A wait would end in an error.
    let other = PgStore::<Job>::new(pg_pool(&impatient(&db.schema), 1));
    assert!(other.claim_next(&ask("anna"))?.is_empty());
    assert_eq!(other.enqueue(&[keyed("kept", "a")])?, [duplicate(id)], "nothing is to be done to it");
    let third = thread::scope(|scope| {
        let third = scope.spawn(|| put(&db, replace("third")));
        until("the third one waits", || waits_for(&db, &pid));
        commit(&mut a);
        third.join().expect("no panic")
    });
    assert_eq!(third, replaced(id));
    assert!(asked(&db, id).contains("third"));
    Ok(())
}

/// Stands still before it makes a waiting row into the new job.
fn before_the_change(conn: &mut PooledConnection<ConnectionManager<diesel::PgConnection>>) -> Gate {
    Gate::on(&mut **conn, |event| match event {
        InstrumentationEvent::StartQuery { query, .. } => query.to_string().contains("put_off"),
        _ => false,
    })
}

/// It waited when it was looked at. What has become of it until it is locked decides: claimed, and it is left
/// alone; ended, and there is a new one.
#[test]
fn a_job_taken_between_the_look_and_the_lock_is_left_alone() -> TestResult {
    let db = OnPostgres::fresh(2);
    for (ends, batch) in [(false, false), (false, true), (true, false), (true, true)] {
        let keys = ["a", "m", "z"].map(|key| format!("{key} {ends} {batch}"));
        let ids: Vec<i64> = keys.iter().map(|key| put(&db, keyed("first", key)).id()).collect();
        let other: PgStore<Job> = db.another(1);
        let gate = before_the_change(&mut other.pool().get()?);
        let jobs: Vec<NewJob> =
            keys.iter().map(|key| keyed("second", key).on_duplicate(OnDuplicate::Replace)).collect();
        let jobs = if batch { jobs } else { vec![jobs[1].clone()] };
        let told = thread::scope(|scope| {
            let told = scope.spawn(|| other.enqueue(&jobs));
            gate.reached();
            let claim =
                db.store().claim(&ids[1], &ask("anna")).expect("it claims").claimed().expect("it is free");
            if ends {
                db.store().complete(claim.claim).expect("it is ours");
            }
            gate.open();
            told.join().expect("no panic")
        })?;
        let of_key = told[usize::from(batch)];
        if ends {
            assert!(of_key.is_new() && of_key.id() != ids[1], "{told:?}");
        } else {
            assert_eq!(of_key, duplicate(ids[1]));
        }
        assert!(asked(&db, ids[1]).contains("first"));
        if batch {
            assert_eq!((told[0], told[2]), (replaced(ids[0]), replaced(ids[2])));
        }
    }
    Ok(())
}

/// A snapshot that is older than the row cannot answer with it, and says so; one that can see it does.
#[test]
fn a_key_taken_since_the_snapshot_asks_for_a_new_transaction() -> TestResult {
    let db = OnPostgres::fresh(1);
    let store = db.store();
    let mut conn = db.connect();
    for jobs in [vec![keyed("b", "late")], vec![keyed("c", "c"), keyed("b", "late"), keyed("a", "a")]] {
        let seen = put(&db, keyed("first", "early")).id();
        let mut late = 0;
        let refused = conn.build_transaction().repeatable_read().run::<_, TxError, _>(|conn| {
            assert_eq!(store.on(conn).enqueue(&[keyed("b", "early")])?, [duplicate(seen)]);
            late = put(&db, keyed("first", "late")).id();
            store.on(conn).enqueue(&jobs)
        });
        assert_eq!(
            kind(&refused.expect_err("it is not to be seen")),
            Some(StoreErrorKind::RestartTransaction)
        );
        let told = conn
            .build_transaction()
            .repeatable_read()
            .run::<_, TxError, _>(|conn| store.on(conn).enqueue(&jobs))?;
        assert!(told.contains(&duplicate(late)), "{told:?}");
        db.run("DELETE FROM claimstore_jobs");
    }
    Ok(())
}

/// A caller's transaction with two calls, in the other order. The server ends one of the two: if that is the
/// store's, it is tried again, and the caller of the store hears nothing of it.
#[test]
fn a_deadlock_with_a_callers_transaction_is_got_over() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    begin(&mut a);
    store.on(&mut a).enqueue(&[keyed("caller", "b")])?;
    let (told, second) = thread::scope(|scope| {
        let told = scope.spawn(|| store.enqueue(&[keyed("store", "a"), keyed("store", "b")]));
        until("the store waits", || waits_for(&db, &pid));
        let second = store.on(&mut a).enqueue(&[keyed("caller", "a")]);
        if second.is_ok() {
            commit(&mut a)
        } else {
            roll_back(&mut a)
        }
        (told.join().expect("no panic"), second)
    });
    let told = told?;
    match second {
        Ok(second) => assert_eq!(told[0], duplicate(second[0].id())),
        Err(error) => {
            assert_eq!(kind(&error), Some(StoreErrorKind::RestartTransaction));
            assert!(told.iter().all(Enqueued::is_new), "{told:?}");
        }
    }
    assert_eq!(db.count("claimstore_jobs"), 2);
    Ok(())
}
