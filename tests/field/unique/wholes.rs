//! All or none: bad input, the caller's transaction, and what cannot be had.

use claimstore::core::{InputError, StoreErrorKind};
use claimstore::{ClaimOn, Job, OnDuplicate, TxError};
use claimstore_tests::harness::TestDialect;

use super::{asked, duplicate, keyed, new, put, replaced};
use crate::support::{Database, Ids, OnPostgres, TestResult, kind, note, on_both};

on_both! {
    a_bad_key_refuses_the_whole_batch
    a_key_stands_and_falls_with_the_callers_transaction
    a_replacement_stands_and_falls_with_the_callers_transaction
}

fn a_bad_key_refuses_the_whole_batch<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let field = "unique_key";
    let bad = [
        (String::new(), InputError::Empty { field }),
        ("x".repeat(501), InputError::TooLong { field, len: 501, max: 500 }),
        ("ä".repeat(251), InputError::TooLong { field, len: 502, max: 500 }),
        ("a\0b".to_owned(), InputError::Nul { field }),
    ];
    for (key, why) in bad {
        let error =
            db.store().enqueue(&[note("good"), keyed("good", "a"), keyed("bad", &key)]).expect_err("refused");
        assert_eq!((error.kind(), error.input()), (StoreErrorKind::Input, Some(&why)));
    }
    assert_eq!(db.count("claimstore_jobs"), 0);
    for key in ["x".repeat(500), "ä".repeat(250), "\u{1F600}'\"\\`$1?".to_owned()] {
        let id = put(db, keyed("good", &key)).id();
        assert_eq!(put(db, keyed("again", &key)), duplicate(id));
    }
    Ok(())
}

fn a_key_stands_and_falls_with_the_callers_transaction<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let mut conn = db.connect();
    for commits in [false, true] {
        let told = B::D::begin::<_, TxError>(&mut conn, |conn| {
            let first = store.on(conn).enqueue(&[keyed("first", "a")])?;
            // It sees what it has written itself, alone and in a batch.
            assert_eq!(store.on(conn).enqueue(&[keyed("again", "a")])?, [duplicate(first[0].id())]);
            let replace = keyed("third", "a").on_duplicate(OnDuplicate::Replace);
            let more = store.on(conn).enqueue(&[note("plain"), replace, keyed("other", "b")])?;
            assert_eq!(more[1], replaced(first[0].id()));
            if commits { Ok(more.ids()) } else { Err(TxError::Busy) }
        });
        match told {
            Ok(ids) => {
                assert!(commits && asked(db, ids[1]).contains("third"));
                assert_eq!(put(db, keyed("later", "a")), duplicate(ids[1]));
                assert_eq!(put(db, keyed("later", "b")), duplicate(ids[2]));
            }
            Err(error) => {
                assert!(!commits && matches!(error, TxError::Busy), "{error}");
                assert_eq!(db.count("claimstore_jobs"), 0);
            }
        }
    }
    assert_eq!(db.count("claimstore_jobs"), 3);
    Ok(())
}

fn a_replacement_stands_and_falls_with_the_callers_transaction<B: Database>(db: &B) -> TestResult
where
    B::D: TestDialect,
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let mut conn = db.connect();
    let id = put(db, keyed("first", "a")).id();
    for mode in [OnDuplicate::Replace, OnDuplicate::Debounce] {
        let before = asked(db, id);
        let undone = B::D::begin::<(), TxError>(&mut conn, |conn| {
            assert_eq!(store.on(conn).enqueue(&[keyed("second", "a").on_duplicate(mode)])?, [replaced(id)]);
            Err(TxError::Busy)
        });
        assert!(matches!(undone, Err(TxError::Busy)), "{undone:?}");
        assert_eq!(asked(db, id), before);
        let text = format!("{mode:?}");
        B::D::begin::<_, TxError>(&mut conn, |conn| {
            store.on(conn).enqueue(&[keyed(&text, "a").on_duplicate(mode)]).map(drop)
        })?;
        assert!(asked(db, id).contains(&text));
    }
    Ok(())
}

/// A trigger of the user's swallows the row: it is neither inserted nor to be found. It is told so, with the key,
/// nothing of the batch is written, and the caller's transaction goes on.
#[test]
fn a_key_that_cannot_be_had_is_told_by_name() -> TestResult {
    let db = OnPostgres::fresh(2);
    db.run(
        "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER swallow BEFORE INSERT ON claimstore_jobs FOR EACH ROW
         WHEN (NEW.unique_key = 'lost') EXECUTE FUNCTION swallow()",
    );
    let store = db.store();
    let batches = [
        vec![keyed("alone", "lost")],
        vec![note("plain"), keyed("a", "found"), keyed("b", "lost"), keyed("c", "z")],
    ];
    for jobs in &batches {
        let error = store.enqueue(jobs).expect_err("it cannot be had");
        assert_eq!(error.kind(), StoreErrorKind::Contended);
        let text = error.to_string();
        assert!(text.contains("\"lost\"") && text.contains("\"note\"") && text.contains("trigger"), "{text}");
        assert_eq!(db.count("claimstore_jobs"), 0);
    }
    let mut conn = db.connect();
    let told = <diesel::pg::Pg as TestDialect>::begin::<_, TxError>(&mut conn, |conn| {
        for jobs in &batches {
            let error = store.on(conn).enqueue(jobs).expect_err("it cannot be had");
            assert_eq!(kind(&error), Some(StoreErrorKind::Contended));
        }
        store.on(conn).enqueue(&[keyed("a", "found")])
    })?;
    assert_eq!(told, [new(told[0].id())]);
    assert_eq!(db.count("claimstore_jobs"), 1);
    Ok(())
}
