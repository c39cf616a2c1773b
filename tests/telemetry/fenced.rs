//! A holder whose claim was lost.

use claimstore::core::{Claim, ClaimStore, RecoverStore, Verdict};
use claimstore::{ClaimOn, Job, TxError};
use diesel::Connection;
use tracing::Level;

use crate::capture::heard;
use crate::held;
use crate::numbers::{assert_counted, counted};
use crate::support::{Conn, Database, LEASE, TestResult, at_once, on_both};

on_both! {
    each_verb_of_a_lost_claim_is_counted
    each_lost_claim_among_several_is_counted
    a_lost_claim_is_counted_also_in_the_callers_transaction
    a_lost_claim_is_told_with_what_was_shown_and_what_is_there
}

/// Claims that a recovery has ended.
fn lost<B: Database>(db: &B, count: usize) -> Vec<Claim<i64>>
where
    Job: ClaimOn<B::D>,
{
    let claims = held(db, count);
    let ids: Vec<i64> = claims.iter().map(|claim| *claim.key()).collect();
    db.expire(&ids);
    assert_eq!(db.store().recover(&at_once(), count).expect("the store works").rows.len(), count);
    claims
}

fn each_verb_of_a_lost_claim_is_counted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let time = ("settle_seconds{call=settle}", 1);
    for (verdict, fenced) in [
        (Verdict::complete(), "fenced_total{verb=complete}"),
        (Verdict::fail("no"), "fenced_total{verb=fail}"),
        (Verdict::release(), "fenced_total{verb=release}"),
        (Verdict::snooze(LEASE), "fenced_total{verb=snooze}"),
    ] {
        let claim = lost(db, 1).remove(0);
        let (refused, numbers) = counted(|| store.settle(claim, verdict));
        assert!(refused.is_err_and(|error| error.fenced().is_some()));
        assert_counted(&numbers, [(fenced, 1), time]);
    }
    let mut claim = lost(db, 1).remove(0);
    let (refused, numbers) = counted(|| store.renew(&mut claim, LEASE));
    assert!(refused.is_err());
    assert_counted(&numbers, [("fenced_total{verb=renew}", 1)]);
    let (refused, numbers) = counted(|| store.resume(&claim.token()));
    assert!(refused.is_err());
    assert_counted(&numbers, [("fenced_total{verb=resume}", 1)]);
    let (refused, numbers) =
        counted(|| store.settle_with(claim, Verdict::complete(), |_| Ok::<_, TxError>(())));
    assert!(refused.is_err());
    assert_counted(&numbers, [("fenced_total{verb=complete}", 1)]);
    Ok(())
}

fn each_lost_claim_among_several_is_counted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let good = held(db, 1);
    let tokens: Vec<_> = lost(db, 2).iter().chain(&good).map(Claim::token).collect();
    let (answers, numbers) = counted(|| store.renew_all(&tokens, LEASE));
    assert_eq!(answers?.len(), 3);
    assert_counted(&numbers, [("fenced_total{verb=renew}", 2)]);
    let verdicts = [Verdict::complete(), Verdict::release(), Verdict::complete()];
    let settled: Vec<_> = lost(db, 2).into_iter().chain(good).zip(verdicts).collect();
    let (answers, numbers) = counted(|| store.settle_all(settled));
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_counted(
        &numbers,
        [
            ("fenced_total{verb=complete}", 1),
            ("fenced_total{verb=release}", 1),
            ("settled_total{already=false,state=completed,verdict=complete}", 1),
            ("settle_seconds{call=settle_all}", 1),
        ],
    );
    Ok(())
}

fn a_lost_claim_is_counted_also_in_the_callers_transaction<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let claims: Vec<_> = lost(db, 2).into_iter().map(|claim| (claim, Verdict::release())).collect();
    let claim = &claims[0].0;
    let mut conn = store.pool().get()?;
    let conn: &mut Conn<B> = &mut conn;
    let (guarded, numbers) = counted(|| conn.transaction(|conn| store.on(conn).guard(claim)));
    assert!(matches!(guarded, Err(TxError::Fenced(_))));
    assert_counted(&numbers, [("fenced_total{verb=guard}", 1)]);
    let (settled, numbers) =
        counted(|| conn.transaction(|conn| store.on(conn).settle(claim, &Verdict::complete())));
    assert!(matches!(settled, Err(TxError::Fenced(_))));
    assert_counted(&numbers, [("fenced_total{verb=complete}", 1)]);
    let (settled, numbers) = counted(|| conn.transaction(|conn| store.on(conn).settle_all(&claims)));
    assert!(settled?.iter().all(Result::is_err));
    assert_counted(&numbers, [("fenced_total{verb=release}", 2)]);
    let token = claim.token();
    let tokens = std::slice::from_ref(&token);
    let (renewed, numbers) = counted(|| conn.transaction(|conn| store.on(conn).renew_all(tokens, LEASE)));
    assert_eq!(renewed?.len(), 1);
    assert_counted(&numbers, [("fenced_total{verb=renew}", 1)]);
    Ok(())
}

fn a_lost_claim_is_told_with_what_was_shown_and_what_is_there<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let claim = lost(db, 1).remove(0);
    let (key, shown) = (claim.key().to_string(), claim.fence().to_string());
    let (refused, heard) = heard(|| db.store().complete(claim));
    let now = refused.expect_err("it is lost").fenced().expect("for this reason").now.to_string();
    let [told] = &heard.events[..] else { panic!("{heard:?}") };
    assert_eq!((told.level, told.within), (Level::WARN, Some("claimstore.settle")));
    for (field, value) in [
        ("message", "the claim is lost"),
        ("table", "claimstore_jobs"),
        ("call", "settle"),
        ("verb", "complete"),
        ("key", &key),
        ("held", &shown),
        ("now", &now),
    ] {
        assert_eq!(told.fields.get(field).map(String::as_str), Some(value), "{field}");
    }
    assert_eq!(heard.spans[0].fields["claimstore.outcome"], "fenced");
    Ok(())
}
