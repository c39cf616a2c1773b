//! One span for each call, with what is known of it.

use claimstore::core::{ClaimStore, RecoverStore, Verdict};
use claimstore::{ClaimOn, Job, TxError};
use diesel::Connection;
use diesel::connection::SimpleConnection;

use crate::capture::{Fields, Heard, heard};
use crate::support::{
    Conn, Database, LEASE, OnPostgres, TestResult, at_once, begin, notes, on_both, roll_back,
};
use crate::{anna, due, held, take};

on_both! {
    each_call_opens_one_span
    the_fields_of_a_claim
    the_fields_of_a_settlement
    a_call_in_the_callers_transaction_opens_one_span_and_says_so
    what_work_calls_stands_within_its_settlement
}

/// The one span that was heard.
#[track_caller]
fn only<R>((_, heard): (R, Heard)) -> (&'static str, Fields) {
    let [_] = &heard.spans[..] else { panic!("not one span: {:?}", heard.names()) };
    let span = heard.spans.into_iter().next().expect("it is there");
    (span.name, span.fields)
}

#[track_caller]
fn name_of<R>(work: impl FnOnce() -> R) -> &'static str {
    only(heard(work)).0
}

fn each_call_opens_one_span<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    assert_eq!(name_of(|| store.enqueue(&notes(1))), "claimstore.enqueue");
    assert_eq!(name_of(|| store.claim_next(&anna())), "claimstore.claim_next");
    let id = due(db, 1)[0];
    assert_eq!(name_of(|| ClaimStore::claim(store, &id, &anna())), "claimstore.claim");
    let mut claims = held(db, 5);
    let token = claims[0].token();
    let tokens = std::slice::from_ref(&token);
    assert_eq!(name_of(|| store.renew(&mut claims[0], LEASE)), "claimstore.renew");
    assert_eq!(name_of(|| store.renew_all(tokens, LEASE)), "claimstore.renew_all");
    assert_eq!(name_of(|| store.resume(&token)), "claimstore.resume");
    assert_eq!(name_of(|| store.complete(claims.remove(0))), "claimstore.settle");
    let several = claims.drain(..2).map(|claim| (claim, Verdict::complete())).collect();
    assert_eq!(name_of(|| store.settle_all(several)), "claimstore.settle_all");
    let one = vec![(claims.remove(0), Verdict::complete())];
    assert_eq!(name_of(|| store.settle_and_claim(one, &anna())), "claimstore.settle_and_claim");
    let last = claims.remove(0);
    let work = |conn: &mut _| SimpleConnection::batch_execute(conn, "SELECT 1");
    assert_eq!(name_of(|| store.settle_with(last, Verdict::complete(), work)), "claimstore.settle_with");
    assert_eq!(name_of(|| store.recover(&at_once(), 1)), "claimstore.recover");
    assert_eq!(name_of(|| store.preview(&at_once(), 1)), "claimstore.preview");
    Ok(())
}

/// Whatever fails, it is one call.
fn both_halves<B: Database>(db: &B) -> (&'static str, Fields)
where
    Job: ClaimOn<B::D>,
{
    let one = held(db, 1).into_iter().map(|claim| (claim, Verdict::complete())).collect();
    only(heard(|| db.store().settle_and_claim(one, &anna().limit(0))))
}

#[test]
fn halves_that_are_sent_apart_stand_in_one_span() {
    let (name, fields) = both_halves(&OnPostgres::fresh(1));
    assert_eq!(
        (name, fields["claimstore.outcome"].as_str()),
        ("claimstore.settle_and_claim", "settled, error")
    );
    assert_eq!(fields["error.type"], "input");
}

/// A settlement that was passed over because its row is locked, and then waited for in vain.
#[test]
fn a_settlement_that_was_passed_over_stands_in_the_same_span() -> TestResult {
    let db = OnPostgres::fresh(2);
    let one: Vec<_> = held(&db, 1).into_iter().map(|claim| (claim, Verdict::complete())).collect();
    let mut other = db.connect();
    begin(&mut other);
    other.batch_execute("SELECT id FROM claimstore_jobs FOR UPDATE")?;
    let (name, fields) = only(heard(|| db.store().settle_and_claim(one, &anna())));
    assert_eq!(
        (name, fields["claimstore.outcome"].as_str()),
        ("claimstore.settle_and_claim", "error, empty")
    );
    assert_eq!(fields["error.type"], "contended");
    roll_back(&mut other);
    Ok(())
}

#[track_caller]
fn assert_fields<const N: usize>(fields: &Fields, expected: [(&str, &str); N]) {
    let expected: Fields = expected.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    assert_eq!(*fields, expected);
}

fn system<B: Database>(db: &B) -> String
where
    Job: ClaimOn<B::D>,
{
    db.store().guarantees().backend.to_lowercase()
}

fn the_fields_of_a_claim<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, system) = (db.store(), system(db));
    let id = due(db, 3)[0];
    let asked = anna().queues(["default", "other"]).limit(2);
    let (_, fields) = only(heard(|| store.claim_next(&asked)));
    assert_fields(
        &fields,
        [
            ("otel.kind", "client"),
            ("db.system.name", &system),
            ("db.collection.name", "claimstore_jobs"),
            ("db.operation.name", "claim_next"),
            ("db.response.returned_rows", "2"),
            ("messaging.destination.name", "default,other"),
            ("claimstore.transaction", "own"),
            ("claimstore.worker", "anna"),
            ("claimstore.limit", "2"),
            ("claimstore.outcome", "claimed"),
        ],
    );
    let (_, fields) = only(heard(|| ClaimStore::claim(store, &id, &anna())));
    assert_fields(
        &fields,
        [
            ("otel.kind", "client"),
            ("db.system.name", &system),
            ("db.collection.name", "claimstore_jobs"),
            ("db.operation.name", "claim"),
            ("claimstore.transaction", "own"),
            ("claimstore.key", &id.to_string()),
            ("claimstore.worker", "anna"),
            ("claimstore.limit", "1"),
            ("claimstore.outcome", "refused"),
            ("claimstore.reason", "held"),
        ],
    );
    Ok(())
}

fn the_fields_of_a_settlement<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (store, system) = (db.store(), system(db));
    let claim = held(db, 1).remove(0);
    let key = claim.key().to_string();
    let (_, fields) = only(heard(|| store.complete(claim)));
    assert_fields(
        &fields,
        [
            ("otel.kind", "client"),
            ("db.system.name", &system),
            ("db.collection.name", "claimstore_jobs"),
            ("db.operation.name", "settle"),
            ("claimstore.transaction", "own"),
            ("claimstore.key", &key),
            ("claimstore.worker", "anna"),
            ("claimstore.outcome", "settled"),
        ],
    );
    let several = held(db, 3).into_iter().map(|claim| (claim, Verdict::release())).collect();
    let (_, fields) = only(heard(|| store.settle_all(several)));
    assert_fields(
        &fields,
        [
            ("otel.kind", "client"),
            ("db.system.name", &system),
            ("db.collection.name", "claimstore_jobs"),
            ("db.operation.name", "settle_all"),
            ("messaging.batch.message_count", "3"),
            ("claimstore.transaction", "own"),
            ("claimstore.outcome", "settled"),
        ],
    );
    Ok(())
}

fn a_call_in_the_callers_transaction_opens_one_span_and_says_so<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let (mine, id) = (held(db, 1).remove(0), due(db, 1)[0]);
    let mut conn = store.pool().get()?;
    let conn: &mut Conn<B> = &mut conn;
    let (done, heard) = heard(|| {
        conn.transaction::<_, TxError, _>(|conn| {
            store.on(conn).guard(&mine)?;
            drop(store.on(conn).claim(&id, &anna())?);
            drop(store.on(conn).claim_next(&anna())?);
            store.on(conn).settle(&mine, &Verdict::complete()).map(drop)
        })
    });
    done?;
    let names = ["claimstore.guard", "claimstore.claim", "claimstore.claim_next", "claimstore.settle"];
    assert_eq!(heard.names(), names);
    assert!(heard.spans.iter().all(|span| span.fields["claimstore.transaction"] == "caller"));
    assert!(heard.spans.iter().all(|span| span.fields["claimstore.outcome"] == "ok"));
    Ok(())
}

fn what_work_calls_stands_within_its_settlement<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let (mine, id) = (held(db, 1).remove(0), due(db, 1)[0]);
    let (done, heard) = heard(|| {
        store.settle_with(mine, Verdict::complete(), |conn| {
            drop(store.on(conn).claim(&id, &anna())?);
            tracing::info!(target: "claimstore", "work");
            Ok::<_, TxError>(())
        })
    });
    done.map_err(|error| error.to_string())?;
    assert_eq!(heard.names(), ["claimstore.settle_with", "claimstore.claim"]);
    assert_eq!(heard.events[0].within, Some("claimstore.settle_with"));
    drop(take(db, due(db, 1)[0]));
    Ok(())
}
