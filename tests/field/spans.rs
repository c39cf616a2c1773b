//! Durations and instants at their ends.

use std::time::Duration;

use claimstore::core::{
    ClaimStore, InputError, MAX_SPAN, RecoverStore, Refusal, RenewError, SettleCause, StoreError, Timestamp,
    Verdict,
};
use claimstore::{ClaimOn, Job};

use crate::support::{Database, Ids, TestResult, ask, at_once, note, notes, on_both};

const NANO: Duration = Duration::from_nanos(1);

on_both! {
    spans_are_refused_or_exact
    rows_at_the_ends_of_time_break_nothing
    leases_at_the_ends_of_time_break_nothing
}

fn input<R: std::fmt::Debug>(answer: Result<R, StoreError>) -> InputError {
    answer.expect_err("out of range").input().expect("refused as input").clone()
}

/// H52: nothing hangs, wraps or panics; what is too long or nothing is refused with the field's name.
fn spans_are_refused_or_exact<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store
        .enqueue(&[note("a").delay(Duration::ZERO), note("b").delay(NANO), note("c").delay(MAX_SPAN)])?
        .ids();
    let too_long = |field| InputError::SpanTooLong { field, given: Duration::MAX };
    assert_eq!(input(store.enqueue(&[note("d").delay(Duration::MAX)])), too_long("delay"));
    for (lease, error) in [
        (Duration::ZERO, InputError::ZeroSpan { field: "lease" }),
        (NANO, InputError::ZeroSpan { field: "lease" }),
        (Duration::MAX, too_long("lease")),
    ] {
        assert_eq!(input(store.claim_next(&ask("anna").lease(lease))), error);
        assert_eq!(input(store.claim(&ids[0], &ask("anna").lease(lease))), error);
    }
    let mut claim = store.claim(&ids[0], &ask("anna").lease(MAX_SPAN))?.claimed().expect("it is due").claim;
    for lease in [Duration::ZERO, NANO, Duration::MAX] {
        let refused = store.renew(&mut claim, lease);
        assert!(matches!(&refused, Err(RenewError::Store(error)) if error.input().is_some()), "{refused:?}");
    }
    store.renew(&mut claim, Duration::from_micros(1))?;
    store.renew(&mut claim, MAX_SPAN)?;
    for verdict in [Verdict::snooze(Duration::MAX), Verdict::fail_after("no", Duration::MAX)] {
        let (cause, back) = store.settle(claim, verdict).expect_err("too long").into_parts();
        assert!(
            matches!(&cause, SettleCause::Store(error) if error.input() == Some(&too_long("delay"))),
            "{cause}"
        );
        claim = back.expect("it is handed back");
    }
    store.snooze(claim, NANO)?;
    assert_eq!(input(store.recover(&at_once().grace(Duration::MAX), 10)), too_long("grace"));
    for grace in [Duration::ZERO, NANO, MAX_SPAN] {
        assert!(store.recover(&at_once().grace(grace), 10)?.rows.is_empty());
    }
    // A nanosecond is no delay at all; a hundred years are.
    let batch = store.claim_next(&ask("anna").limit(10))?;
    assert_eq!(batch.len(), 2);
    let left = batch.next_due.expect("one is left").as_micros() - Timestamp::of_this_host().as_micros();
    assert!(i128::from(left).abs_diff(MAX_SPAN.as_micros() as i128) < 600_000_000, "{left}");
    Ok(())
}

/// H52: due at the end or the beginning of time, written past the library.
fn rows_at_the_ends_of_time_break_nothing<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(4))?.ids();
    let [last, first] = B::EXTREMES;
    let set = |id: i64, due: &str| db.run(&format!("UPDATE claimstore_jobs SET due = {due} WHERE id = {id}"));
    set(ids[0], last);
    set(ids[1], first);
    assert_eq!(store.claim(&ids[0], &ask("anna"))?.refusal(), Some(&Refusal::NotDue(Timestamp::MAX)));
    let batch = store.claim_next(&ask("anna").limit(10))?;
    assert_eq!(batch.claimed.iter().map(|one| one.row.id).collect::<Vec<_>>(), ids[1..]);
    assert_eq!((batch.claimed[0].row.due, batch.next_due), (Timestamp::MIN, Some(Timestamp::MAX)));
    // By every further way: settle and claim, and recovery.
    let mut claims: Vec<_> = batch.into_iter().map(|one| one.claim).collect();
    let both = store.settle_and_claim(vec![(claims.remove(0), Verdict::release())], &ask("anna"));
    assert!(both.settled[0].is_ok());
    assert!(both.claimed?.is_empty(), "what was just given back is not taken again at once");
    db.expire(&ids[2..3]);
    assert_eq!(store.recover(&at_once(), 10)?.rows.len(), 1);
    assert_eq!(store.claim_next(&ask("anna"))?.claimed[0].row.id, ids[1]);
    Ok(())
}

/// H52: a lease that never ends, and one that was over before all time.
fn leases_at_the_ends_of_time_break_nothing<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(3))?.ids();
    let mut claims: Vec<_> =
        store.claim_next(&ask("anna").limit(3))?.into_iter().map(|one| one.claim).collect();
    let [last, first] = B::EXTREMES;
    let set = |id: i64, at: &str| db.run(&format!("UPDATE claimstore_jobs SET lease = {at} WHERE id = {id}"));
    set(ids[0], last);
    set(ids[1], first);
    db.expire(&ids[2..]);
    let held = store.claim(&ids[0], &ask("bert"))?;
    assert!(matches!(
        held.refusal(),
        Some(Refusal::Held { until: Some(Timestamp::MAX), expired: false, .. })
    ));
    for page in [1, 10] {
        let preview = store.preview(&at_once(), page)?;
        assert_eq!((preview.rows[0].0.key, preview.rows[0].0.until), (ids[1], Timestamp::MIN));
    }
    let resumed = store.resume(&claims[0].token())?;
    assert_eq!(resumed.until(), Some(Timestamp::MAX));
    let grace = at_once().grace(MAX_SPAN);
    assert_eq!(store.recover(&grace, 10)?.rows.iter().map(|row| row.key).collect::<Vec<_>>(), ids[1..2]);
    assert_eq!(store.recover(&at_once(), 10)?.rows.iter().map(|row| row.key).collect::<Vec<_>>(), ids[2..]);
    store.renew(&mut claims[0], Duration::from_secs(60))?;
    store.complete(claims.remove(0))?;
    Ok(())
}
