//! The plans of the hot statements on PostgreSQL, over a hundred thousand rows.
//!
//! Looked at is the sixth execution of the very statement that Diesel has prepared: from then on the server
//! may keep one plan for all values.

use std::time::Duration;

use claimstore::core::{Claim, RecoveryAction, State, Timestamp};
use claimstore::query::{self, Due, ExpiredRow, Observed, Touched, Won, WonOrTouched};
use claimstore::{Job, PgStore};
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;
use diesel::query_builder::{Query, QueryFragment, QueryId};
use diesel::sql_types::Untyped;
use diesel::{PgConnection, QueryableByName, RunQueryDsl};

use crate::plan::{Plan, of_prepared, text};
use crate::work::{FILL_POSTGRES, ask, claim, discarding, expired, settlement};

const CLAIM: &str = "claimstore_jobs_claim";
const DUE: &str = "claimstore_jobs_due";
const LEASE: &str = "claimstore_jobs_lease";
const KEY: &str = "claimstore_jobs_pkey";

/// What the table looked like when the statements were prepared.
#[derive(Debug, Clone, Copy)]
enum Known {
    /// The table was filled and analyzed.
    Full,
    /// It was analyzed when it was empty and filled after that.
    Empty,
}

/// A table of its own, and the connection that runs the statements on it.
struct Table {
    conn: PgConnection,
    _schema: postgres::TestSchema,
}

impl Table {
    /// Without autovacuum, so that nobody else analyzes it.
    fn empty() -> Table {
        let schema = postgres::fresh();
        PgStore::<Job>::new(schema.pool(1)).migrate().expect("the tables");
        let mut conn = schema.connect();
        conn.batch_execute(
            "ALTER TABLE claimstore_jobs SET (autovacuum_enabled = false);
             ANALYZE claimstore_jobs; SET plan_cache_mode = auto",
        )
        .expect("a table");
        Table { conn, _schema: schema }
    }

    fn filled(known: Known) -> Table {
        let mut table = Table::empty();
        table.conn.batch_execute(FILL_POSTGRES).expect("rows");
        match known {
            Known::Full => table.conn.batch_execute("VACUUM ANALYZE claimstore_jobs").expect("statistics"),
            Known::Empty => {}
        }
        table.conn.batch_execute("BEGIN").expect("a transaction");
        table
    }

    /// The plan after five executions of a statement that returns rows.
    fn plan<U, Q>(&mut self, node: impl Fn() -> Q) -> Plan
    where
        Q: Query<SqlType = Untyped> + QueryFragment<Pg> + QueryId + RunQueryDsl<PgConnection>,
        U: QueryableByName<Pg> + 'static,
    {
        for _ in 0..5 {
            RunQueryDsl::load::<U>(node(), &mut self.conn).expect("it runs");
        }
        of_prepared(&mut self.conn, &text(&node()))
    }

    /// The same for a statement that counts.
    fn counting<Q>(&mut self, node: impl Fn() -> Q) -> Plan
    where
        Q: QueryFragment<Pg> + QueryId + RunQueryDsl<PgConnection>,
    {
        for _ in 0..5 {
            RunQueryDsl::execute(node(), &mut self.conn).expect("it runs");
        }
        of_prepared(&mut self.conn, &text(&node()))
    }
}

fn claims() -> Vec<Claim<i64>> {
    (1..=100).map(|id| claim(id, id)).collect()
}

const EACH: [Known; 2] = [Known::Full, Known::Empty];

#[test]
fn claiming_walks_the_queue_in_order_and_stops_at_the_limit() {
    for known in EACH {
        let mut table = Table::filled(known);
        for limit in [1, 100] {
            for (queues, queue) in [(&["a"][..], "queue = "), (&["a", "b", "c"], "queue = wanted.queue")] {
                let plan = table.plan::<Won<Job>, _>(|| query::claim_next::<Job>(&ask(limit, queues)));
                plan.reads(CLAIM, &[queue, "due <= statement_timestamp()"]);
                plan.reads(KEY, &["id = picked.id"]);
                plan.reads_only(&[CLAIM, KEY]);
                plan.in_order(CLAIM);
                plan.asks_once();
            }
        }
    }
}

#[test]
fn one_row_is_found_by_its_key() {
    for known in EACH {
        let mut table = Table::filled(known);
        for wait in [true, false] {
            let plan = table.plan::<Won<Job>, _>(|| query::claim_key::<Job>(&7, &ask(1, &["a"]), wait));
            plan.reads_only(&[KEY]);
            plan.reads(KEY, &["id = "]);
        }
        let failed = || {
            let mut to = settlement(State::Pending);
            to.delay = Some(Duration::from_secs(1));
            to.error = Some("no".to_owned());
            to
        };
        for plan in [
            table.counting(|| query::settle::<Job>(&claim(7, 7), &settlement(State::Completed))),
            table.counting(|| query::settle::<Job>(&claim(7, 7), &failed())),
            table.counting(|| query::settle::<Job>(&discarding(7, 7), &settlement(State::Completed))),
            table.counting(|| query::guard::<Job>(&claim(7, 7))),
            table.plan::<Observed<Job>, _>(|| query::observe::<Job>(&7)),
        ] {
            plan.reads_only(&[KEY]);
            plan.reads(KEY, &["id = "]);
        }
    }
}

#[test]
fn several_rows_are_found_by_their_keys() {
    let second = Duration::from_secs(1);
    for known in EACH {
        let mut table = Table::filled(known);
        let claims = claims();
        let tokens: Vec<_> = claims.iter().map(Claim::token).collect();
        let rows: Vec<_> = (1..=100).map(expired).collect();
        let (done, back) = (settlement(State::Completed), settlement(State::Pending));
        for plan in [
            table.plan::<Touched<Job>, _>(|| query::settle_many::<Job>(claims.iter().map(|c| (c, &done)))),
            table.plan::<Touched<Job>, _>(|| query::settle_many::<Job>(claims.iter().map(|c| (c, &back)))),
            table.plan::<Touched<Job>, _>(|| query::renew::<Job>(&tokens, second)),
            table.plan::<Touched<Job>, _>(|| {
                query::recover::<Job>(rows.iter().map(|row| (row, RecoveryAction::Dead)), second)
            }),
        ] {
            plan.reads_only(&[KEY]);
            plan.reads(KEY, &["id = given.row_key"]);
            plan.reads(KEY, &["id = mine.row_key"]);
        }
        // The lease and the state of what was deleted above are gone, so these come last.
        let discarded: Vec<_> = (1..=100).map(|id| discarding(id, id)).collect();
        let plan =
            table.plan::<Touched<Job>, _>(|| query::settle_many::<Job>(discarded.iter().map(|c| (c, &done))));
        plan.reads_only(&[KEY]);
        plan.reads(KEY, &["id = given.row_key"]);
        plan.reads(KEY, &["id = mine.row_key"]);
    }
}

#[test]
fn settling_and_claiming_at_once_does_each_by_its_index() {
    for known in EACH {
        let mut table = Table::filled(known);
        let (claims, done) = (claims(), settlement(State::Completed));
        for limit in [1, 100] {
            let plan = table.plan::<WonOrTouched<Job>, _>(|| {
                query::settle_and_claim::<Job>(claims.iter().map(|c| (c, &done)), &ask(limit, &["a"]))
            });
            plan.reads(CLAIM, &["queue = ", "due <= statement_timestamp()"]);
            plan.reads_only(&[CLAIM, KEY]);
            plan.in_order(CLAIM);
        }
    }
}

#[test]
fn expired_leases_are_read_oldest_first() {
    let grace = Duration::from_secs(5);
    let after = || Some((Timestamp::from_micros(0), 7));
    for known in EACH {
        let mut table = Table::filled(known);
        let first = table.plan::<ExpiredRow<Job>, _>(|| query::expiring::<Job>(grace, 100, None));
        let next = table.plan::<ExpiredRow<Job>, _>(|| query::expiring::<Job>(grace, 100, after()));
        next.reads(LEASE, &["ROW(lease, id) > ROW("]);
        for plan in [first, next] {
            plan.reads(LEASE, &["lease < (statement_timestamp()"]);
            plan.reads_only(&[LEASE]);
        }
    }
}

#[test]
fn after_an_outage_a_page_of_expired_leases_does_not_sort_them_all() {
    let mut table = Table::filled(Known::Full);
    let outage =
        "UPDATE claimstore_jobs SET lease = now() - id * interval '1 second' WHERE lease IS NOT NULL;
                  ANALYZE claimstore_jobs";
    table.conn.batch_execute(outage).expect("everybody is gone");
    let plan = table.plan::<ExpiredRow<Job>, _>(|| query::expiring::<Job>(Duration::ZERO, 100, None));
    plan.reads_only(&[LEASE]);
    plan.in_order(LEASE);
}

/// A plan made for an empty table reads it from end to end and is kept, until autovacuum analyzes the table.
#[test]
fn a_plan_kept_since_the_table_was_empty_goes_with_the_next_analyze() {
    let mut table = Table::empty();
    let (claims, done) = (claims(), settlement(State::Completed));
    let tokens: Vec<_> = claims.iter().map(Claim::token).collect();
    let claim_next = |limit, queues: &'static [&str]| move || query::claim_next::<Job>(&ask(limit, queues));
    let settle_many = || query::settle_many::<Job>(claims.iter().map(|c| (c, &done)));
    let renew = || query::renew::<Job>(&tokens, Duration::from_secs(1));
    table.plan::<Won<Job>, _>(claim_next(1, &["a"]));
    table.plan::<Won<Job>, _>(claim_next(100, &["a"]));
    table.plan::<Won<Job>, _>(claim_next(100, &["a", "b", "c"]));
    table.plan::<Touched<Job>, _>(settle_many);
    table.plan::<Touched<Job>, _>(renew);
    table.conn.batch_execute(FILL_POSTGRES).expect("filled since");
    table.conn.batch_execute("ANALYZE claimstore_jobs").expect("as autovacuum does");
    for plan in [
        table.plan::<Won<Job>, _>(claim_next(1, &["a"])),
        table.plan::<Won<Job>, _>(claim_next(100, &["a"])),
        table.plan::<Won<Job>, _>(claim_next(100, &["a", "b", "c"])),
    ] {
        plan.reads_only(&[CLAIM, KEY]);
        plan.in_order(CLAIM);
    }
    for plan in [table.plan::<Touched<Job>, _>(settle_many), table.plan::<Touched<Job>, _>(renew)] {
        plan.reads_only(&[KEY]);
    }
}

#[test]
fn the_next_due_time_is_the_first_of_its_index() {
    for known in EACH {
        let mut table = Table::filled(known);
        for queues in [&["a"][..], &["a", "b", "c"]] {
            let plan = table.plan::<Due, _>(|| query::next_due::<Job>(&ask(1, queues)));
            plan.reads(DUE, &["queue = "]);
            plan.reads_only(&[DUE]);
            plan.in_order(DUE);
            plan.asks_once();
        }
    }
}
