//! Rows put into the table without the store, many at once.

use claimstore_tests::postgres::TestSchema;
use claimstore_tests::sqlite::TestFile;
use diesel::connection::SimpleConnection;

/// A database that is filled.
pub(crate) trait Rows: Sync {
    /// This many rows that were completed a year ago, in four queues.
    fn completed(&self, rows: usize);
    /// Some rows of every other sort.
    fn others(&self);
    /// Statistics are taken and what was written is on the disk.
    fn settle_down(&self);
}

const YEAR: i64 = 365 * 86_400;

/// The sorts of [`Rows::others`]: state, rows, and in how many seconds they are due.
const OTHERS: &str = "('dead', 1000, -1), ('cancelled', 1000, -1), ('uncertain', 100, -1),
    ('running', 1000, -1), ('pending', 2000, -1), ('pending', 2000, 1000000)";

impl Rows for TestSchema {
    fn completed(&self, rows: usize) {
        let sql = format!(
            "INSERT INTO claimstore_jobs (queue, kind, payload, state, fence, worker, claimed_at, finished_at)
             SELECT substr('abcd', 1 + n % 4, 1), 'old', '{{}}', 'completed', n, 'w',
                 clock_timestamp() - interval '{YEAR} seconds', clock_timestamp() - interval '{YEAR} seconds'
             FROM generate_series(1, {rows}) AS n"
        );
        self.connect().batch_execute(&sql).expect("filled");
    }

    fn others(&self) {
        let sql = format!(
            "INSERT INTO claimstore_jobs
                 (queue, kind, payload, state, fence, worker, claimed_at, lease, finished_at, due)
             SELECT substr('abcd', 1 + n % 4, 1), 'old', '{{}}', state, n,
                 CASE WHEN state <> 'pending' THEN 'w' END, CASE WHEN state <> 'pending' THEN now() END,
                 CASE state WHEN 'running' THEN now() + n * interval '1 second' END,
                 CASE WHEN state IN ('dead', 'cancelled') THEN now() END, now() + due * interval '1 second'
             FROM (VALUES {OTHERS}) AS sorts(state, rows, due), generate_series(1, rows) AS n"
        );
        self.connect().batch_execute(&sql).expect("filled");
    }

    fn settle_down(&self) {
        for sql in ["VACUUM ANALYZE claimstore_jobs", "CHECKPOINT"] {
            self.connect().batch_execute(sql).expect("settled down");
        }
    }
}

impl Rows for TestFile {
    fn completed(&self, rows: usize) {
        let then = now() - YEAR * 1_000_000;
        let sql = format!(
            "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows})
             INSERT INTO claimstore_jobs
                 (queue, kind, payload, state, fence, worker, due, created_at, claimed_at, finished_at)
             SELECT substr('abcd', 1 + n % 4, 1), 'old', '{{}}', 'completed', n, 'w', {then}, {then}, {then},
                 {then} + n FROM s"
        );
        self.connect().batch_execute(&sql).expect("filled");
    }

    fn others(&self) {
        let now = now();
        let sql = format!(
            "WITH RECURSIVE sorts(state, rows, later) AS (VALUES {OTHERS}),
                 s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2000)
             INSERT INTO claimstore_jobs
                 (queue, kind, payload, state, fence, worker, created_at, claimed_at, lease, finished_at, due)
             SELECT substr('abcd', 1 + n % 4, 1), 'old', '{{}}', state, n,
                 CASE WHEN state <> 'pending' THEN 'w' END, {now}, CASE WHEN state <> 'pending' THEN {now} END,
                 CASE state WHEN 'running' THEN {now} + n END,
                 CASE WHEN state IN ('dead', 'cancelled') THEN {now} END, {now} + later * 1000000
             FROM sorts JOIN s ON n <= rows"
        );
        self.connect().batch_execute(&sql).expect("filled");
    }

    fn settle_down(&self) {
        self.connect().batch_execute("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)").expect("settled down");
    }
}

fn now() -> i64 {
    claimstore::core::Timestamp::of_this_host().as_micros()
}
