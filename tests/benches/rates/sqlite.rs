//! SQLite against rusqlite.

use std::time::{Duration, Instant};

use claimstore::{Job, SqliteStore};
use claimstore_tests::sqlite::TestFile;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::table::Table;
use crate::{RUNS, Run, drain, fill, pairs};

pub(crate) fn bench() {
    let mut table = Table::of("SQLite, WAL, synchronous FULL");
    for run in RUNS.into_iter().filter(|run| !run.together) {
        // One writer at a time: more threads show only the waiting.
        let run = Run { threads: 1, ..run };
        let with_store = |then: &dyn Fn(&SqliteStore<Job>, &TestFile) -> Duration| {
            let file = TestFile::fresh();
            let store = SqliteStore::<Job>::open(file.url()).expect("opened");
            store.migrate().expect("migrated");
            fill(&store, run);
            then(&store, &file)
        };
        let ours = |run| with_store(&|store, _| drain(store, run));
        let raw = |run| with_store(&|_, file| raw(file, run));
        pairs(&mut table, run, ours, raw);
    }
}

const CLAIM: &str = "UPDATE claimstore_jobs SET state = 'running', fence = fence + 1 + (random() & 1048575), \
    worker = ?1, lease = ?2, claimed_at = ?3 WHERE id IN (SELECT id FROM claimstore_jobs \
    WHERE state = 'pending' AND queue = 'default' AND due <= ?3 ORDER BY priority DESC, due, id LIMIT ?4) \
    AND state = 'pending' RETURNING id, fence";
const COMPLETE: &str = "UPDATE claimstore_jobs SET state = 'completed', lease = NULL, finished_at = ?3 \
    WHERE id = ?1 AND fence = ?2 AND state = 'running' AND worker = ?4";

fn raw(file: &TestFile, run: Run) -> Duration {
    let mut conn = Connection::open(file.path()).expect("opened");
    conn.execute_batch("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        .expect("set up");
    let started = Instant::now();
    loop {
        let claimed = claim(&mut conn, run.batch);
        if claimed.is_empty() {
            return started.elapsed();
        }
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).expect("begun");
        for (id, fence) in claimed {
            let mut complete = tx.prepare_cached(COMPLETE).expect("prepared");
            assert_eq!(complete.execute(params![id, fence, now(), "bench"]).expect("completed"), 1);
        }
        tx.commit().expect("committed");
    }
}

fn claim(conn: &mut Connection, batch: usize) -> Vec<(i64, i64)> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).expect("begun");
    let claimed = {
        let mut claim = tx.prepare_cached(CLAIM).expect("prepared");
        let limit = i64::try_from(batch).expect("a small number");
        let rows = claim.query_map(params!["bench", now() + 30_000_000, now(), limit], |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        rows.expect("claimed").collect::<Result<Vec<_>, _>>().expect("read")
    };
    tx.commit().expect("committed");
    claimed
}

fn now() -> i64 {
    claimstore::core::Timestamp::of_this_host().as_micros()
}
