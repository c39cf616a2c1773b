//! Rows and claims to try statements on.

use claimstore::core::{
    Budget, Claim, ClaimParts, ClaimRequest, Expired, Fence, LocalInstant, Settlement, State, Tally,
    Timestamp, WorkerId,
};

/// A hundred thousand jobs: three fifths done, a fifth due in four queues, the rest later, held or dead.
pub(crate) const FILL_POSTGRES: &str = "
    INSERT INTO claimstore_jobs (queue, kind, payload, state, priority, due, fence, worker, claimed_at, lease)
    SELECT substr('abcd', 1 + n % 4, 1), 'k', '{}',
        CASE n / 4 % 20 WHEN 0 THEN 'running' WHEN 1 THEN 'dead' WHEN 2 THEN 'cancelled'
            WHEN 3 THEN 'pending' WHEN 4 THEN 'pending' WHEN 5 THEN 'pending' WHEN 6 THEN 'pending'
            WHEN 7 THEN 'pending' ELSE 'completed' END,
        n % 5,
        now() + CASE n / 4 % 20 WHEN 7 THEN 1 ELSE -1 END * n * interval '1 second',
        n, CASE WHEN n / 4 % 20 IN (3, 4, 5, 6, 7) THEN NULL ELSE 'w' || n % 50 END,
        CASE n / 4 % 20 WHEN 0 THEN now() END,
        CASE n / 4 % 20 WHEN 0 THEN now() + (n % 3000 - 100) * interval '1 second' END
    FROM generate_series(1, 100000) AS n";

/// The same on SQLite.
pub(crate) const FILL_SQLITE: &str = "
    WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 100000)
    INSERT INTO claimstore_jobs
        (queue, kind, payload, state, priority, due, fence, worker, claimed_at, lease, created_at)
    SELECT substr('abcd', 1 + n % 4, 1), 'k', '{}',
        CASE n / 4 % 20 WHEN 0 THEN 'running' WHEN 1 THEN 'dead' WHEN 2 THEN 'cancelled'
            WHEN 3 THEN 'pending' WHEN 4 THEN 'pending' WHEN 5 THEN 'pending' WHEN 6 THEN 'pending'
            WHEN 7 THEN 'pending' ELSE 'completed' END,
        n % 5,
        1700000000000000 + CASE n / 4 % 20 WHEN 7 THEN 1000 ELSE -1 END * n * 1000000,
        n, CASE WHEN n / 4 % 20 IN (3, 4, 5, 6, 7) THEN NULL ELSE 'w' || n % 50 END,
        CASE n / 4 % 20 WHEN 0 THEN 1700000000000000 END,
        CASE n / 4 % 20 WHEN 0 THEN 1700000000000000 + (n % 3000 - 100) * 1000000 END,
        0
    FROM s";

pub(crate) fn worker() -> WorkerId {
    WorkerId::new("w").expect("a name")
}

pub(crate) fn ask(limit: usize, queues: &[&str]) -> ClaimRequest {
    ClaimRequest::new(&worker()).limit(limit).queues(queues.iter().copied())
}

/// A claim as it would come back from a store, on a row that may have another fence.
pub(crate) fn claim<K>(key: K, fence: i64) -> Claim<K> {
    held(key, fence, false)
}

/// One whose row goes when it is completed.
pub(crate) fn discarding<K>(key: K, fence: i64) -> Claim<K> {
    held(key, fence, true)
}

fn held<K>(key: K, fence: i64, discard: bool) -> Claim<K> {
    let parts = ClaimParts {
        key,
        fence: Fence::new(fence),
        worker: worker(),
        until: None,
        tally: Tally::default(),
        budget: Budget::default(),
        discard,
    };
    Claim::granted(parts, LocalInstant::now(), None)
}

pub(crate) fn settlement(to: State) -> Settlement {
    Settlement { to, delay: None, tally: Tally::default(), error: None }
}

pub(crate) fn expired<K>(key: K) -> Expired<K> {
    Expired {
        key,
        fence: Fence::new(1),
        worker: None,
        until: Timestamp::from_micros(0),
        tally: Tally::default(),
        budget: Budget::default(),
        idempotent: true,
    }
}
