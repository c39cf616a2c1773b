//! H83: a transaction elsewhere that keeps its snapshot keeps dead rows from being removed.

use claimstore::core::{ClaimStore, Verdict};
use claimstore::query::{self, Won};
use claimstore::{Job, JobKind, NewJob, PgStore};
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{PgConnection, QueryableByName, RunQueryDsl};

use crate::plan::{Plan, Planned, measured, text};
use crate::work::ask;

#[derive(serde::Serialize, serde::Deserialize)]
struct Nothing;

impl JobKind for Nothing {
    const KIND: &'static str = "nothing";
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

const BATCH: usize = 100;
const BATCHES: usize = 30;
const QUEUE: &str = "default";

/// Batches of jobs enqueued, claimed and completed by the store, and what one claim reads then.
fn work(store: &PgStore<Job>, batches: usize, look: &mut PgConnection) -> [Plan; 2] {
    for _ in 0..batches {
        let jobs: Vec<_> = (0..BATCH).map(|_| NewJob::of(&Nothing).expect("JSON")).collect();
        store.enqueue(&jobs).expect("enqueued");
        let batch = store.claim_next(&ask(BATCH, &[QUEUE])).expect("claimed");
        let done = batch.into_iter().map(|job| (job.claim, Verdict::Complete)).collect();
        assert!(store.settle_all(done).iter().all(Result::is_ok));
    }
    let jobs: Vec<_> = (0..BATCH).map(|_| NewJob::of(&Nothing).expect("JSON")).collect();
    store.enqueue(&jobs).expect("enqueued");
    look.batch_execute("BEGIN").expect("a transaction");
    let plans = claims(look);
    look.batch_execute("ROLLBACK").expect("nothing is claimed");
    let batch = store.claim_next(&ask(BATCH, &[QUEUE])).expect("claimed");
    let done = batch.into_iter().map(|job| (job.claim, Verdict::Complete)).collect();
    assert!(store.settle_all(done).iter().all(Result::is_ok));
    plans
}

fn claims(look: &mut PgConnection) -> [Plan; 2] {
    let node = || query::claim_next::<Job>(&ask(BATCH, &[QUEUE]));
    let sql = text(&node());
    look.batch_execute("SAVEPOINT prepared").expect("in a transaction");
    RunQueryDsl::load::<Won<Job>>(node(), look).expect("it runs");
    look.batch_execute("ROLLBACK TO prepared").expect("nothing is claimed");
    let (queue, batch) = (format!("'{QUEUE}'"), BATCH.to_string());
    let values = [&*queue, &queue, &batch, "'w'", "interval '30 seconds'"];
    [Planned::Custom, Planned::Generic].map(|planned| measured(look, planned, &sql, &values))
}

/// Claims slow down by the dead entries that they walk over, and by nothing else: they still walk the queue's
/// index, and read no row twice. Once the old snapshot is gone, VACUUM takes the slow-down with it.
#[test]
fn an_old_snapshot_elsewhere_changes_no_plan_and_its_cost_goes_with_it() {
    let schema = postgres::fresh();
    let store = PgStore::<Job>::new(schema.pool(1));
    store.migrate().expect("the tables");
    let mut look = schema.connect();
    look.batch_execute("ALTER TABLE claimstore_jobs SET (autovacuum_enabled = false)").expect("a table");
    let vacuum = |look: &mut PgConnection| {
        look.batch_execute("VACUUM ANALYZE claimstore_jobs").expect("vacuumed");
    };
    work(&store, 1, &mut look);
    vacuum(&mut look);
    let before = work(&store, 0, &mut look);

    let mut old = schema.connect();
    old.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM claimstore_jobs")
        .expect("a snapshot");
    work(&store, BATCHES, &mut look);
    vacuum(&mut look);
    let during = work(&store, 0, &mut look);
    for (before, during) in before.iter().zip(&during) {
        during.reads("claimstore_jobs_claim", &["queue = "]);
        during.reads_only(&["claimstore_jobs_claim", "claimstore_jobs_pkey"]);
        during.in_order("claimstore_jobs_claim");
        // For each dead entry the page of its row, and little else.
        let dead = (BATCH * BATCHES) as u64;
        assert!(during.pages < before.pages + 2 * dead, "{} and {} pages", before.pages, during.pages);
    }
    old.batch_execute("ROLLBACK").expect("it lets go");
    vacuum(&mut look);
    let after = work(&store, 0, &mut look);
    for ((before, during), after) in before.iter().zip(&during).zip(&after) {
        assert!(after.pages < 2 * before.pages, "{} and {} pages", before.pages, after.pages);
        assert!(after.pages < during.pages, "{} and {} pages", during.pages, after.pages);
    }
}

/// Between two calls no connection of the pool is in a transaction or has a snapshot.
#[test]
fn the_library_holds_no_snapshot_between_its_calls() {
    let schema = postgres::fresh();
    let store = PgStore::<Job>::new(schema.pool(2));
    store.migrate().expect("the tables");
    let mut look = schema.connect();
    let holding = "SELECT count(*) AS count FROM pg_stat_activity WHERE pid <> pg_backend_pid()
        AND application_name = (SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid())
        AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL OR state LIKE 'idle in transaction%')";
    for ids in [1, BATCH] {
        let jobs: Vec<_> = (0..ids).map(|_| NewJob::of(&Nothing).expect("JSON")).collect();
        let ids = store.enqueue(&jobs).expect("enqueued");
        let held = store.claim_next(&ask(BATCH, &[QUEUE])).expect("claimed");
        let tokens: Vec<_> = held.claimed.iter().map(|job| job.claim.token()).collect();
        store.renew_all(&tokens, std::time::Duration::from_secs(9)).expect("renewed");
        let counted: Count = diesel::sql_query(holding).get_result(&mut look).expect("an answer");
        assert_eq!(counted.count, 0, "while {} claims are held", ids.len());
        let done = held.into_iter().map(|job| (job.claim, Verdict::Complete)).collect();
        store.settle_all(done);
        let counted: Count = diesel::sql_query(holding).get_result(&mut look).expect("an answer");
        assert_eq!(counted.count, 0);
    }
}
