//! The plans of the hot statements on SQLite, which never depend on values.

use std::time::Duration;

use claimstore::core::{RecoveryAction, State, Timestamp};
use claimstore::query;
use claimstore::{Job, SqliteStore};
use claimstore_tests::sqlite::TestFile;
use diesel::connection::SimpleConnection;
use diesel::query_builder::QueryFragment;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};

use crate::work::{FILL_SQLITE, ask, claim, discarding, expired, settlement};

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    detail: String,
}

struct Table {
    conn: SqliteConnection,
    _file: TestFile,
}

impl Table {
    fn filled(analyze: bool) -> Table {
        let file = TestFile::fresh();
        SqliteStore::<Job>::open(file.url()).expect("a file").migrate().expect("the tables");
        let mut conn = file.connect();
        conn.batch_execute(FILL_SQLITE).expect("a filled table");
        if analyze {
            conn.batch_execute("ANALYZE").expect("statistics");
        }
        Table { conn, _file: file }
    }

    fn plan(&mut self, node: &impl QueryFragment<Sqlite>) -> String {
        let shown = diesel::debug_query::<Sqlite, _>(node).to_string();
        let text = shown.split_once(" -- binds: ").expect("it always shows the values").0;
        let lines: Vec<Line> =
            diesel::sql_query(format!("EXPLAIN QUERY PLAN {text}")).load(&mut self.conn).expect("a plan");
        lines.into_iter().map(|line| line.detail + "\n").collect()
    }
}

#[track_caller]
fn uses(plan: &str, parts: &[&str]) {
    for part in parts {
        assert!(plan.contains(part), "no {part:?} in\n{plan}");
    }
    assert!(!plan.contains("SCAN claimstore_jobs"), "{plan}");
}

#[test]
fn claiming_walks_the_queue_in_order() {
    for analyze in [true, false] {
        let mut table = Table::filled(analyze);
        for limit in [1, 100] {
            let plan = table.plan(&query::claim_next::<Job>(&ask(limit, &["a"])));
            uses(
                &plan,
                &["USING INDEX claimstore_jobs_claim (queue=?)", "USING INTEGER PRIMARY KEY (rowid=?)"],
            );
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
            let merged = table.plan(&query::claim_next::<Job>(&ask(limit, &["a", "b", "c"])));
            uses(&merged, &["USING INDEX claimstore_jobs_claim (queue=?)"]);
            assert_eq!(merged.matches("claimstore_jobs_claim (queue=?)").count(), 3, "{merged}");
        }
    }
}

#[test]
fn rows_that_are_named_are_found_by_their_keys() {
    let (done, back) = (settlement(State::Completed), settlement(State::Pending));
    let (held, discarded, gone) = (claim(7, 7), discarding(7, 7), expired(7));
    let second = Duration::from_secs(1);
    for analyze in [true, false] {
        let mut table = Table::filled(analyze);
        for plan in [
            table.plan(&query::claim_key::<Job>(&7, &ask(1, &["a"]), false)),
            table.plan(&query::settle::<Job>(&held, &done)),
            table.plan(&query::settle::<Job>(&discarded, &done)),
            table.plan(&query::settle_many::<Job>([(&discarded, &done)])),
            table.plan(&query::settle_many::<Job>([(&held, &done)])),
            table.plan(&query::settle_many::<Job>([(&held, &back)])),
            table.plan(&query::renew::<Job>(&[held.token()], second)),
            table.plan(&query::recover::<Job>([(&gone, RecoveryAction::Dead)], second)),
            table.plan(&query::guard::<Job>(&held)),
            table.plan(&query::observe::<Job>(&7)),
        ] {
            uses(&plan, &["SEARCH claimstore_jobs USING INTEGER PRIMARY KEY (rowid=?)"]);
        }
    }
}

#[test]
fn expired_leases_and_the_next_due_time_come_in_the_order_of_their_indexes() {
    let after = Some((Timestamp::from_micros(0), 7));
    for analyze in [true, false] {
        let mut table = Table::filled(analyze);
        let due = table.plan(&query::next_due::<Job>(&ask(1, &["a"])));
        uses(&due, &["claimstore_jobs_due (queue=?"]);
        for plan in [
            due,
            table.plan(&query::expiring::<Job>(Duration::ZERO, 100, None)),
            table.plan(&query::expiring::<Job>(Duration::ZERO, 100, after)),
        ] {
            uses(&plan, &["SEARCH claimstore_jobs USING INDEX claimstore_jobs_"]);
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
