//! A job table as it stands after a year: mostly finished rows, and some of everything else.

/// How many rows of each sort.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    pub(crate) completed: u32,
    pub(crate) dead: u32,
    pub(crate) cancelled: u32,
    pub(crate) uncertain: u32,
    /// A tenth of them with a lease that has run out.
    pub(crate) running: u32,
    /// Pending, due in a year, of better priority than what is due.
    pub(crate) future: u32,
    /// Pending and due.
    pub(crate) due: u32,
}

impl Mix {
    /// The rows of one table, in four queues and three kinds. The later a row's number, the longer ago its
    /// times, so that no index has its entries in the order of the table.
    const SORTS: &'static str = "completed dead cancelled uncertain running future due";

    fn values(self) -> String {
        let Mix { completed, dead, cancelled, uncertain, running, future, due } = self;
        let counts = [completed, dead, cancelled, uncertain, running, future, due];
        let sorts = Self::SORTS.split(' ').zip(counts);
        sorts.map(|(sort, rows)| format!("('{sort}', {rows})")).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn postgres(self) -> String {
        format!(
            "INSERT INTO claimstore_jobs (queue, kind, payload, state, priority, due, fence, worker, claimed_at,
                lease, finished_at)
             SELECT substr('abcd', 1 + n % 4, 1), 'k' || n % 3, '{{}}',
                CASE WHEN sort IN ('future', 'due') THEN 'pending' ELSE sort END,
                CASE sort WHEN 'future' THEN 9 ELSE n % 5 END,
                now() + CASE sort WHEN 'future' THEN 31536000 + n ELSE -n END * interval '1 second', n,
                CASE WHEN sort NOT IN ('future', 'due') THEN 'w' || n % 50 END,
                CASE WHEN sort NOT IN ('future', 'due') THEN now() - n * interval '1 second' END,
                CASE sort WHEN 'running' THEN now() + (n - rows / 10.0) * interval '1 second' END,
                CASE WHEN sort IN ('completed', 'dead', 'cancelled') THEN now() - n * interval '1 second' END
             FROM (VALUES {}) AS sorts(sort, rows), generate_series(1, rows) AS n",
            self.values()
        )
    }

    /// The same on SQLite; now is `now`, in microseconds.
    pub(crate) fn sqlite(self, now: i64) -> String {
        format!(
            "WITH RECURSIVE sorts(sort, rows) AS (VALUES {}),
                 s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < (SELECT max(rows) FROM sorts))
             INSERT INTO claimstore_jobs (queue, kind, payload, state, priority, due, fence, worker, claimed_at,
                lease, finished_at, created_at)
             SELECT substr('abcd', 1 + n % 4, 1), 'k' || n % 3, '{{}}',
                CASE WHEN sort IN ('future', 'due') THEN 'pending' ELSE sort END,
                CASE sort WHEN 'future' THEN 9 ELSE n % 5 END,
                {now} + CASE sort WHEN 'future' THEN 31536000 + n ELSE -n END * 1000000, n,
                CASE WHEN sort NOT IN ('future', 'due') THEN 'w' || n % 50 END,
                CASE WHEN sort NOT IN ('future', 'due') THEN {now} - n * 1000000 END,
                CASE sort WHEN 'running' THEN {now} + (n - rows / 10) * 1000000 END,
                CASE WHEN sort IN ('completed', 'dead', 'cancelled') THEN {now} - n * 1000000 END,
                0
             FROM sorts JOIN s ON n <= rows",
            self.values()
        )
    }
}
