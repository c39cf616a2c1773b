//! The hot statements are planned a few times and then run: planning one takes longer than running it.
//!
//! The server keeps one plan for all values only where it costs no more than plans for the values. A statement
//! over an array loses that by being cheap for a short one.

use std::time::Duration;

use claimstore::core::{Claim, RecoveryAction, State};
use claimstore::query::{self, Due, Observed, Touched, Won, WonOrTouched};
use claimstore::{Job, PgStore};
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{PgConnection, QueryableByName, RunQueryDsl};

use crate::work::{FILL_POSTGRES, ask, claim, expired, settlement};

/// The server plans for the values this often before it asks whether that pays.
const FIRST: i64 = 5;

#[derive(QueryableByName)]
struct Prepared {
    #[diesel(sql_type = Text)]
    statement: String,
    #[diesel(sql_type = BigInt)]
    custom_plans: i64,
    #[diesel(sql_type = BigInt)]
    generic_plans: i64,
}

fn each_once(conn: &mut PgConnection, claims: &[Claim<i64>]) {
    let (done, back) = (settlement(State::Completed), settlement(State::Pending));
    let second = Duration::from_secs(1);
    let tokens: Vec<_> = claims.iter().map(Claim::token).collect();
    let rows: Vec<_> = (0..claims.len()).map(|id| expired(id as i64)).collect();
    let pairs = |to| claims.iter().map(move |claim| (claim, to));
    let ran = "it runs";
    for queues in [&["a"][..], &["a", "b", "c"]] {
        for limit in [1, 100] {
            let ask = ask(limit, queues);
            query::claim_next::<Job>(&ask).load::<Won<Job>>(conn).expect(ran);
            let both = query::settle_and_claim::<Job>(pairs(&done), &ask);
            both.load::<WonOrTouched<Job>>(conn).expect(ran);
        }
        query::next_due::<Job>(&ask(1, queues)).load::<Due>(conn).expect(ran);
    }
    query::settle_many::<Job>(pairs(&done)).load::<Touched<Job>>(conn).expect(ran);
    query::settle_many::<Job>(pairs(&back)).load::<Touched<Job>>(conn).expect(ran);
    query::settle::<Job>(&claims[0], &done).execute(conn).expect(ran);
    query::guard::<Job>(&claims[0]).execute(conn).expect(ran);
    query::observe::<Job>(claims[0].key()).load::<Observed<Job>>(conn).expect(ran);
    query::renew::<Job>(&tokens, second).load::<Touched<Job>>(conn).expect(ran);
    let dead = rows.iter().map(|row| (row, RecoveryAction::Dead));
    query::recover::<Job>(dead, second).load::<Touched<Job>>(conn).expect(ran);
}

#[test]
fn the_hot_statements_are_planned_once_for_any_number_of_rows() {
    for rows in [1, 3, 100] {
        let schema = postgres::fresh();
        PgStore::<Job>::new(schema.pool(1)).migrate().expect("the tables");
        let mut conn = schema.connect();
        conn.batch_execute(FILL_POSTGRES).expect("rows");
        conn.batch_execute("VACUUM ANALYZE claimstore_jobs").expect("statistics");
        conn.batch_execute("SET plan_cache_mode = auto; BEGIN").expect("a transaction");
        let claims: Vec<_> = (1..=rows).map(|id| claim(id, id)).collect();
        for _ in 0..2 * FIRST {
            each_once(&mut conn, &claims);
        }
        let prepared: Vec<Prepared> = diesel::sql_query(
            "SELECT statement, custom_plans, generic_plans FROM pg_prepared_statements
             WHERE statement LIKE '%claimstore_jobs%' AND statement NOT LIKE '%pg_prepared_statements%'",
        )
        .load(&mut conn)
        .expect("an answer");
        assert!(prepared.len() > 15, "{}", prepared.len());
        let again = prepared.iter().filter(|one| one.custom_plans > FIRST || one.generic_plans < FIRST);
        let again: Vec<_> = again.map(|one| one.statement.as_str()).collect();
        assert!(again.is_empty(), "with {rows} rows planned each time:\n{}", again.join("\n\n"));
    }
}
