//! Counters, keys and texts at their ends.

use std::collections::BTreeSet;

use claimstore::core::{
    ClaimStore, Fence, InputError, RecoverStore, Refusal, State, StoreErrorKind, WorkerId,
};
use claimstore::{ClaimOn, Job, JobKind, NewJob, PayloadError};
use serde::{Deserialize, Serialize};

use crate::support::{
    Database, Ids, LEASE, Note, OnPostgres, TestResult, ask, at_once, note, notes, on_both,
};

on_both! {
    full_counters_hold_up_nobody_else
    a_fence_that_cannot_rise_holds_up_no_recovery
    every_text_comes_back_as_it_went_in
    a_nul_in_a_name_is_refused_by_field
    a_payload_that_cannot_be_read_keeps_its_bytes
}

/// H48: each counter and the fence at its type's end, at the head of the queue, among twenty good rows.
fn full_counters_hold_up_nobody_else<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    const FULL: i32 = i32::MAX;
    let store = db.store();
    let ids = store.enqueue(&notes(24))?.ids();
    let set = |id: i64, what: &str| {
        db.run(&format!("UPDATE claimstore_jobs SET priority = 9, {what} WHERE id = {id}"))
    };
    set(ids[0], &format!("fence = {}", i64::MAX));
    set(ids[1], &format!("interruptions = {FULL}"));
    set(ids[2], &format!("failures = {}, max_failures = {FULL}", FULL - 1));
    set(ids[3], &format!("crashes = {}, max_crashes = {FULL}", FULL - 1));
    let mut got = Vec::new();
    for want in [10, 10, 3] {
        let batch = store.claim_next(&ask("anna").limit(10))?;
        assert_eq!(batch.len(), want);
        got.extend(batch.into_iter().map(|one| one.claim));
    }
    let keys: BTreeSet<i64> = got.iter().map(|claim| *claim.key()).collect();
    assert_eq!(keys, ids[1..].iter().copied().collect());
    assert_eq!(store.claim(&ids[0], &ask("anna"))?.refusal(), Some(&Refusal::Exhausted));

    // A counter that is full stays full; a budget that is spent ends in dead.
    let mut got = got.into_iter();
    let mut next = || got.next().expect("they come in order");
    store.release(next())?;
    assert_eq!(store.fail(next(), "no")?.state, State::Dead);
    let crashed = next();
    db.expire(&[*crashed.key()]);
    assert_eq!(store.recover(&at_once(), 10)?.count(State::Dead), 1);
    for id in &ids[1..4] {
        let row = db.row(*id);
        assert!(row.split(' ').any(|column| column == FULL.to_string()), "{row}");
    }
    for claim in got {
        store.complete(claim)?;
    }
    assert_eq!(db.count("claimstore_jobs WHERE state = 'completed'"), 20);
    Ok(())
}

/// H48: a row whose fence is at the end, running and abandoned: it is not wrapped, and the rows beside it
/// are recovered.
fn a_fence_that_cannot_rise_holds_up_no_recovery<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(4))?.ids();
    assert_eq!(store.claim_next(&ask("anna").limit(4))?.len(), 4);
    db.run(&format!("UPDATE claimstore_jobs SET fence = {} WHERE id = {}", i64::MAX, ids[1]));
    db.expire(&ids);
    let worn = db.row(ids[1]);
    let done = store.recover(&at_once(), 10)?;
    let keys: BTreeSet<i64> = done.rows.iter().map(|row| row.key).collect();
    assert_eq!(keys, [ids[0], ids[2], ids[3]].into());
    assert_eq!(db.row(ids[1]), worn, "{done:?}");
    assert_eq!(done.failed.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [ids[1]], "it is reported");
    Ok(())
}

/// H49: beyond four bytes everything works as before, and at the very end enqueueing says why.
#[test]
fn keys_go_on_beyond_four_bytes() -> TestResult {
    let db = OnPostgres::fresh(2);
    let store = db.store();
    let set = |value: i64| {
        db.texts(&format!(
            "SELECT CAST(setval(pg_get_serial_sequence('claimstore_jobs', 'id'), {value}) AS TEXT) AS text"
        ));
    };
    for last in [i64::from(i32::MAX) - 1, 1 << 32, (1 << 53) - 1, i64::MAX - 3] {
        set(last);
        let ids = store.enqueue(&notes(2))?.ids();
        assert_eq!(ids, [last + 1, last + 2]);
        let mut claim = store.claim(&ids[0], &ask("anna"))?.claimed().expect("it is free").claim;
        store.renew(&mut claim, LEASE)?;
        let json = serde_json::to_string(&claim.token())?;
        let claim = store.resume(&serde_json::from_str(&json)?)?;
        assert_eq!(*claim.key(), last + 1);
        store.complete(claim)?;
        let other = store.claim(&ids[1], &ask("anna"))?.claimed().expect("it is free");
        assert_eq!(other.row.id, last + 2);
        db.expire(&ids[1..]);
        assert_eq!(store.recover(&at_once(), 10)?.rows[0].key, last + 2);
        assert!(
            store.complete(other.claim).is_err_and(|error| error.to_string().contains(&ids[1].to_string()))
        );
    }
    let before = db.count("claimstore_jobs");
    assert_eq!(store.enqueue(&notes(1))?.ids(), [i64::MAX]);
    for jobs in [1, 2] {
        let error = store.enqueue(&notes(jobs)).expect_err("no number is left");
        assert!(error.to_string().contains("reached maximum value of sequence"), "{error}");
    }
    assert_eq!(db.count("claimstore_jobs"), before + 1);
    // What is there can still be claimed.
    assert!(store.claim(&i64::MAX, &ask("anna"))?.refusal().is_none());
    Ok(())
}

/// H51: any text serde can write is stored byte for byte, on both databases.
fn every_text_comes_back_as_it_went_in<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let texts = [
        "a\0b",
        "\0",
        "\u{1F600}\u{10FFFF}",
        "\\ud800",
        "\\u0000",
        "\u{FFFD}\u{FEFF}",
        "'; DROP TABLE x; --",
        "$1 ? :a",
        "{\"a\": [null]}",
        "\u{7f}\u{1}\t\r\n",
        "",
    ];
    let ids = db.store().enqueue(&texts.map(note))?.ids();
    let batch = db.store().claim_next(&ask("anna \u{1F600}").limit(texts.len()))?;
    assert_eq!(batch.len(), ids.len());
    for (one, text) in batch.into_iter().zip(texts) {
        assert_eq!(one.row.payload::<Note>()?.text, text);
        assert_eq!(one.row.payload, serde_json::to_string(&Note { text: text.to_owned() })?);
        // An error text is kept as far as both databases can.
        db.store().fail(one.claim, text)?;
    }
    let errors = db.texts("SELECT last_error AS text FROM claimstore_jobs ORDER BY id");
    assert_eq!(errors, texts.map(|text| text.replace('\0', "\u{FFFD}")));
    let queue = "\u{1F600}'\"\\";
    let ids = db.store().enqueue(&[note("a").queue(queue)])?.ids();
    let batch = db.store().claim_next(&ask("anna").queue(queue))?;
    assert_eq!((batch.claimed[0].row.id, batch.claimed[0].row.queue.as_str()), (ids[0], queue));
    Ok(())
}

/// A kind whose name no database should see.
#[derive(Serialize, Deserialize)]
struct Nul;

impl JobKind for Nul {
    const KIND: &'static str = "a\0b";
}

/// H51: the same refusal on both, with the field's name, before anything is sent.
fn a_nul_in_a_name_is_refused_by_field<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let bad = [(NewJob::of(&Nul)?, "kind"), (note("a").queue("a\0b"), "queue")];
    for (job, field) in bad {
        let error = db.store().enqueue(&[note("good"), job]).expect_err("refused");
        assert_eq!(error.kind(), StoreErrorKind::Input);
        assert_eq!(error.input(), Some(&InputError::Nul { field }));
    }
    let error = db.store().claim_next(&ask("anna").queues(["good", "\0"])).expect_err("refused");
    assert_eq!(error.input(), Some(&InputError::Nul { field: "queue" }));
    assert_eq!(WorkerId::new("a\0"), Err(InputError::Nul { field: "worker" }));
    assert_eq!(db.count("claimstore_jobs"), 0);
    Ok(())
}

/// H51: half of a surrogate pair, written past the library: reading the payload says so, and the row keeps
/// its bytes through a failure.
fn a_payload_that_cannot_be_read_keeps_its_bytes<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let payloads = [r#"{"text":"\ud800"}"#, r#"{"text":"\udc00 \ud83d"}"#, "{", "", "[]", r#"{"text":1}"#];
    let ids = db.store().enqueue(&notes(payloads.len()))?.ids();
    for (id, payload) in ids.iter().zip(payloads) {
        db.run(&format!("UPDATE claimstore_jobs SET payload = '{payload}' WHERE id = {id}"));
    }
    for one in db.store().claim_next(&ask("anna").limit(9))? {
        let error = one.row.payload::<Note>().expect_err("no note");
        assert!(matches!(error, PayloadError::Json { .. }), "{error}");
        assert!(one.claim.fence() > Fence::NEVER);
        db.store().fail(one.claim, &error.to_string())?;
    }
    assert_eq!(db.texts("SELECT payload AS text FROM claimstore_jobs ORDER BY id"), payloads);
    Ok(())
}
