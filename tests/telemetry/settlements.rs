//! Ending claims: by the holder, and by a recovery.

use std::time::Duration;

use claimstore::core::{ClaimStore, RecoverStore, Verdict};
use claimstore::{ClaimOn, Job, TxError};
use diesel::Connection;
use diesel::connection::SimpleConnection;

use crate::numbers::{assert_counted, counted};
use crate::support::{Conn, Database, LEASE, TestResult, at_once, on_both};
use crate::{anna, due, held, take};

on_both! {
    each_verdict_is_counted_with_the_state_it_leads_to
    a_settlement_that_was_written_before_says_so
    several_settlements_are_counted_one_by_one
    settling_and_claiming_counts_both
    settling_with_work_counts_the_settlement_once_it_is_committed
    recovered_rows_are_counted_by_what_became_of_them
    what_the_caller_may_still_roll_back_is_not_counted
}

fn each_verdict_is_counted_with_the_state_it_leads_to<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let verdicts = [
        (Verdict::complete(), "settled_total{already=false,state=completed,verdict=complete}"),
        (Verdict::fail("no"), "settled_total{already=false,state=pending,verdict=fail}"),
        (Verdict::fail_for_good("no"), "settled_total{already=false,state=dead,verdict=fail}"),
        (Verdict::release(), "settled_total{already=false,state=pending,verdict=release}"),
        (Verdict::snooze(LEASE), "settled_total{already=false,state=pending,verdict=snooze}"),
    ];
    for (verdict, settled) in verdicts {
        let claim = held(db, 1).remove(0);
        let (receipt, numbers) = counted(|| db.store().settle(claim, verdict));
        assert!(!receipt?.already);
        assert_counted(&numbers, [(settled, 1), ("settle_seconds{call=settle}", 1)]);
    }
    Ok(())
}

fn a_settlement_that_was_written_before_says_so<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let token = held(db, 1).remove(0).token();
    let [first, again, other] = [0; 3].map(|_| store.resume(&token).expect("it is ours"));
    store.complete(first)?;
    let (receipt, numbers) = counted(|| store.complete(again));
    assert!(receipt?.already);
    let time = ("settle_seconds{call=settle}", 1);
    let settled = ("settled_total{already=true,state=completed,verdict=complete}", 1);
    assert_counted(&numbers, [settled, time]);
    // With another verdict nothing was settled.
    let (refused, numbers) = counted(|| store.release(other));
    assert!(refused.is_err());
    assert_counted(&numbers, [time]);
    Ok(())
}

fn several_settlements_are_counted_one_by_one<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let verdicts = [Verdict::complete(), Verdict::release(), Verdict::complete()];
    let settled: Vec<_> = held(db, 3).into_iter().zip(verdicts).collect();
    let (answers, numbers) = counted(|| db.store().settle_all(settled));
    assert!(answers.iter().all(Result::is_ok));
    assert_counted(
        &numbers,
        [
            ("settled_total{already=false,state=completed,verdict=complete}", 2),
            ("settled_total{already=false,state=pending,verdict=release}", 1),
            ("settle_seconds{call=settle_all}", 1),
        ],
    );
    Ok(())
}

fn settling_and_claiming_counts_both<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let settled = held(db, 2).into_iter().map(|claim| (claim, Verdict::complete())).collect();
    due(db, 3);
    let (both, numbers) = counted(|| db.store().settle_and_claim(settled, &anna().limit(2)));
    assert_eq!(both.claimed?.len(), 2);
    assert_counted(
        &numbers,
        [
            ("settled_total{already=false,state=completed,verdict=complete}", 2),
            ("claimed_total", 2),
            ("settle_seconds{call=settle_and_claim}", 1),
        ],
    );
    Ok(())
}

fn settling_with_work_counts_the_settlement_once_it_is_committed<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let mut claims = held(db, 2);
    let (kept, rolled_back) = (claims.remove(0), claims.remove(0));
    // The time of the work is not the store's.
    let (done, numbers) =
        counted(|| store.settle_with(kept, Verdict::complete(), |_| Ok::<_, TxError>("written")));
    assert_eq!(done.map_err(|error| error.to_string())?.0, "written");
    assert_counted(&numbers, [("settled_total{already=false,state=completed,verdict=complete}", 1)]);
    let (done, numbers) =
        counted(|| store.settle_with(rolled_back, Verdict::complete(), |_| Err::<(), _>("no")));
    assert!(done.is_err());
    assert_counted(&numbers, []);
    Ok(())
}

fn recovered_rows_are_counted_by_what_became_of_them<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let ids: Vec<i64> = held(db, 4).iter().map(|claim| *claim.key()).collect();
    db.expire(&ids);
    db.run(&format!("UPDATE claimstore_jobs SET crashes = max_crashes - 1 WHERE id = {}", ids[0]));
    let no = match db.texts("SELECT CAST(idempotent AS TEXT) AS text FROM claimstore_jobs")[0].as_str() {
        "1" => "0",
        _ => "false",
    };
    db.run(&format!("UPDATE claimstore_jobs SET idempotent = {no} WHERE id = {}", ids[1]));
    let (recovered, numbers) = counted(|| db.store().recover(&at_once(), 10));
    assert_eq!(recovered?.rows.len(), 4);
    assert_counted(
        &numbers,
        [
            ("recovered_total{action=requeue}", 2),
            ("recovered_total{action=dead}", 1),
            ("recovered_total{action=uncertain}", 1),
        ],
    );
    // Looking only is no recovery.
    let (_, numbers) = counted(|| db.store().preview(&at_once(), 10));
    assert_counted(&numbers, []);
    Ok(())
}

fn what_the_caller_may_still_roll_back_is_not_counted<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let (id, mine) = (due(db, 1)[0], take(db, due(db, 1)[0]));
    let mut conn = store.pool().get()?;
    let conn: &mut Conn<B> = &mut conn;
    let (done, numbers) = counted(|| {
        conn.transaction::<_, TxError, _>(|conn| {
            conn.batch_execute("UPDATE claimstore_jobs SET priority = priority")?;
            drop(store.on(conn).claim(&id, &anna())?.claimed().expect("it is free"));
            drop(store.on(conn).claim_next(&anna())?);
            store.on(conn).settle(&mine, &Verdict::snooze(Duration::from_secs(1)))?;
            Err(TxError::Busy)
        })
    });
    let done: Result<(), TxError> = done;
    assert!(matches!(done, Err(TxError::Busy)));
    assert_counted(&numbers, []);
    Ok(())
}
