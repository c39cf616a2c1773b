//! What is done about a key that is taken.

use std::time::Duration;

use claimstore::core::{ClaimStore, Timestamp};
use claimstore::{ClaimOn, Enqueued, Job, JobKind, NewJob, OnDuplicate};
use serde::{Deserialize, Serialize};

use super::{asked, column, duplicate, keyed, new, put, replaced};
use crate::support::{Database, Ids, Note, TestResult, ask, note, on_both};

on_both! {
    a_taken_key_is_answered_with_its_job
    replacing_makes_a_waiting_job_the_new_one
    a_limit_that_is_used_up_leaves_one_more_try
    debouncing_only_ever_puts_off
    a_batch_is_as_one_after_the_other
    a_mixed_batch_is_claimed_in_its_order
}

const HOUR: Duration = Duration::from_secs(3600);

/// Another kind.
#[derive(Serialize, Deserialize)]
struct Other;

impl JobKind for Other {
    const KIND: &'static str = "other";
}

fn a_taken_key_is_answered_with_its_job<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let first = put(db, keyed("first", "a"));
    let Enqueued::New { id } = first else { panic!("{first:?}") };
    assert!(first.is_new() && first.id() == id);
    let before = (asked(db, id), db.row(id));
    let elsewhere = keyed("second", "a").queue("elsewhere").priority(9).delay(HOUR);
    assert_eq!(put(db, elsewhere), duplicate(id));
    assert_eq!((asked(db, id), db.row(id)), before);

    // Another key, another kind, no key: each is another job.
    let more =
        db.store().enqueue(&[keyed("b", "b"), NewJob::of(&Other)?.unique("a"), note("c"), note("c")])?;
    assert!(more.iter().all(Enqueued::is_new), "{more:?}");
    // Case and blanks count.
    let more = db.store().enqueue(&[keyed("b", "B"), keyed("b", " b"), keyed("b", "b "), keyed("b", "ä")])?;
    assert!(more.iter().all(Enqueued::is_new), "{more:?}");
    assert_eq!(db.count("claimstore_jobs"), 9);
    Ok(())
}

/// It keeps its id, its age and what it has been through.
fn replacing_makes_a_waiting_job_the_new_one<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let id = put(db, keyed("first", "a").delay(HOUR)).id();
    db.run(&format!(
        "UPDATE claimstore_jobs SET failures = 2, crashes = 1, interruptions = 4, last_error = 'no', fence = 77,
         created_at = {} WHERE id = {id}",
        B::instant(5_000_000)
    ));
    let kept =
        ["state", "fence", "failures", "crashes", "interruptions", "last_error", "created_at", "unique_key"];
    let kept = || kept.map(|name| column(db, id, name));
    let before = kept();
    let at = Timestamp::from_micros(1_000_000_000_000_000);
    let job = keyed("second", "a").queue("other").priority(-3).run_at(at).max_failures(9).max_crashes(8);
    let job = job.idempotent(false).on_duplicate(OnDuplicate::Replace);
    assert_eq!(put(db, job.clone()), replaced(id));

    // As if it had been new, and brought forward.
    let twin = put(db, job.unique("twin")).id();
    assert_eq!(asked(db, id), asked(db, twin));
    assert_eq!(kept(), before);
    let job = db.store().claim(&id, &ask("anna"))?.claimed().expect("it is due").row;
    assert_eq!(job.payload::<Note>()?.text, "second");
    Ok(())
}

/// Two failures behind it, and a new limit of two: nobody could claim it, and nobody would end it.
fn a_limit_that_is_used_up_leaves_one_more_try<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let id = put(db, keyed("first", "a")).id();
    for (failures, crashes, want) in
        [(2, 2, "3 3"), (1, 0, "2 2"), (i32::MAX, i32::MAX, "2147483647 2147483647")]
    {
        db.run(&format!(
            "UPDATE claimstore_jobs SET max_failures = {max}, max_crashes = {max}, failures = {failures},
             crashes = {crashes} WHERE id = {id}",
            max = i32::MAX
        ));
        let job = keyed("second", "a").max_failures(2).max_crashes(2).on_duplicate(OnDuplicate::Replace);
        assert_eq!(put(db, job), replaced(id));
        let limits = format!("{} {}", column(db, id, "max_failures"), column(db, id, "max_crashes"));
        assert_eq!(limits, want);
    }
    db.run(&format!("UPDATE claimstore_jobs SET failures = 1, crashes = 0 WHERE id = {id}"));
    assert!(db.store().claim(&id, &ask("anna"))?.claimed().is_some());
    Ok(())
}

fn debouncing_only_ever_puts_off<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let job = |text: &str, second: i64| {
        let at = Timestamp::from_micros(second * 1_000_000);
        keyed(text, "a").run_at(at).on_duplicate(OnDuplicate::Debounce)
    };
    let id = put(db, job("1", 1_000)).id();
    for (text, second, due) in [("2", 2_000, 2_000), ("3", 1_500, 2_000), ("4", 3_000, 3_000)] {
        assert_eq!(put(db, job(text, second).priority(7)), replaced(id));
        let twin = put(db, job(text, due).priority(7).unique(format!("twin {text}"))).id();
        assert_eq!(asked(db, id), asked(db, twin), "{text}");
    }
    // A span from now is compared as the instant it means.
    let later = keyed("5", "a").delay(HOUR).on_duplicate(OnDuplicate::Debounce);
    assert_eq!(put(db, later.clone()), replaced(id));
    assert!(db.store().claim_next(&ask("anna"))?.claimed.iter().all(|one| one.row.id != id));
    let due = column(db, id, "due");
    assert_eq!(put(db, later.delay(Duration::ZERO)), replaced(id));
    assert_eq!(column(db, id, "due"), due);
    Ok(())
}

/// Every three in a row, on a key that is free, waits, or runs: the answers and the row are the same as from
/// three calls.
fn a_batch_is_as_one_after_the_other<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    const MODES: [OnDuplicate; 3] = [OnDuplicate::Keep, OnDuplicate::Replace, OnDuplicate::Debounce];
    // Neither the first nor the last is the latest.
    const DUE: [i64; 3] = [2_000_000, 3_000_000, 1_000_000];
    for n in 0..27 {
        let modes = [MODES[n / 9], MODES[n / 3 % 3], MODES[n % 3]];
        for before in ["free", "pending", "running"] {
            let jobs = |key: &str| -> Vec<NewJob> {
                let job = |(n, mode): (usize, OnDuplicate)| {
                    let job = keyed(&n.to_string(), key).priority(i32::try_from(n).expect("small"));
                    job.run_at(Timestamp::from_micros(DUE[n])).on_duplicate(mode)
                };
                modes.into_iter().enumerate().map(job).collect()
            };
            let mut rows = [("whole", true), ("single", false)].map(|(name, whole)| {
                let key = format!("{name} {n} {before}");
                let first = match before {
                    "free" => None,
                    _ => Some(put(db, keyed("first", &key).run_at(Timestamp::from_micros(2_500_000))).id()),
                };
                if before == "running" {
                    let claimed = db.store().claim(&first.expect("it is there"), &ask("anna"));
                    assert!(claimed.expect("it claims").claimed().is_some());
                }
                let jobs = jobs(&key);
                let answers = if whole {
                    db.store().enqueue(&jobs).expect("it enqueues")
                } else {
                    jobs.into_iter().map(|job| put(db, job)).collect()
                };
                let id = answers[0].id();
                assert!(first.is_none_or(|first| first == id));
                (id, answers, asked(db, id))
            });
            // By their places and not by their ids.
            for (id, answers, _) in &mut rows {
                assert!(answers.ids().iter().all(|one| one == id), "{answers:?}");
                *answers = answers
                    .iter()
                    .map(|answer| match answer {
                        Enqueued::New { .. } => new(0),
                        Enqueued::Replaced { .. } => replaced(0),
                        _ => duplicate(0),
                    })
                    .collect();
                *id = 0;
            }
            assert_eq!(rows[0], rows[1], "{modes:?} on a key that was {before}");
        }
    }
    Ok(())
}

/// Keys are taken in an order of their own, jobs are not: who comes first in the batch is due first.
fn a_mixed_batch_is_claimed_in_its_order<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let jobs = [keyed("0", "z"), note("1"), keyed("2", "m"), note("3"), keyed("4", "a"), note("5")];
    let told = db.store().enqueue(&jobs)?;
    assert!(told.iter().all(Enqueued::is_new));
    assert!(told.ids().is_sorted(), "{told:?}");
    let mut got = Vec::new();
    for one in db.store().claim_next(&ask("anna").limit(10))? {
        got.push((one.row.id, one.row.payload::<Note>()?.text));
    }
    assert_eq!(
        got,
        told.ids().into_iter().enumerate().map(|(n, id)| (id, n.to_string())).collect::<Vec<_>>()
    );
    Ok(())
}
