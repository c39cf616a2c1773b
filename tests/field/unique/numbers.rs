//! Numbers that are drawn.

use claimstore::core::ClaimStore;
use claimstore::{ClaimOn, Job, OnDuplicate};
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;

use super::{duplicate, keyed, new, put, replaced};
use crate::support::{Database, OnPostgres, TestResult, ask, note, on_both};

on_both! {
    a_taken_key_costs_no_number
}

/// What each counter of this database stands at.
trait Counters: Database {
    fn counters(&self) -> Vec<String>;
}

impl<B: Database<D: Counted>> Counters for B {
    fn counters(&self) -> Vec<String> {
        self.texts(B::D::COUNTERS)
    }
}

trait Counted {
    const COUNTERS: &'static str;
}

impl Counted for Pg {
    const COUNTERS: &'static str =
        "SELECT sequencename || ' ' || coalesce(last_value, 0) AS text FROM pg_sequences
        WHERE schemaname = current_schema() ORDER BY 1";
}

impl Counted for Sqlite {
    const COUNTERS: &'static str = "SELECT name || ' ' || seq AS text FROM sqlite_sequence ORDER BY 1";
}

/// H53: a thousand times the same key, in each mode, alone and in batches, while the job waits and while it
/// runs; and fifty workers that look for work.
fn a_taken_key_costs_no_number<B: Database<D: Counted>>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let id = put(db, keyed("first", "a").priority(9)).id();
    let before = db.counters();
    assert!(before.iter().any(|counter| counter.ends_with(&format!(" {id}"))), "{before:?}");
    let modes = [OnDuplicate::Keep, OnDuplicate::Replace, OnDuplicate::Debounce];
    let jobs = |n: usize| -> Vec<_> {
        (0..n).map(|n| keyed("again", "a").priority(9).on_duplicate(modes[n % 3])).collect()
    };
    for job in jobs(50) {
        assert_eq!(put(db, job).id(), id);
    }
    for _ in 0..5 {
        assert!(store.enqueue(&jobs(100))?.contains(&replaced(id)));
    }
    assert_eq!(db.counters(), before);
    for n in 0..50 {
        drop(store.claim_next(&ask(&format!("worker-{n}")))?);
    }
    assert_eq!(db.state(id), "running");
    for _ in 0..4 {
        assert!(store.enqueue(&jobs(100))?.iter().all(|told| *told == duplicate(id)));
    }
    for job in jobs(50) {
        assert_eq!(put(db, job), duplicate(id));
    }
    assert_eq!(db.counters(), before);
    assert_eq!(store.enqueue(&[keyed("again", "a"), note("next"), keyed("again", "a")])?[1], new(id + 1));
    Ok(())
}

/// H53: however it is used, no number here can run out.
#[test]
fn every_number_that_is_drawn_has_64_bits() {
    let db = OnPostgres::fresh(1);
    let drawn = db.texts(
        "SELECT sequencename || ' ' || data_type AS text FROM pg_sequences WHERE schemaname = current_schema()",
    );
    assert!(drawn.len() >= 2 && drawn.iter().all(|one| one.ends_with(" bigint")), "{drawn:?}");
    let stored = db.texts(
        "SELECT table_name || ' ' || data_type AS text FROM information_schema.columns
          WHERE table_schema = current_schema() AND (is_identity = 'YES' OR column_default LIKE 'nextval%')",
    );
    assert_eq!(stored.len(), drawn.len());
    assert!(stored.iter().all(|one| one.ends_with(" bigint")), "{stored:?}");
}
