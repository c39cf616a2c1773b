//! The wrong prepared statement: two tables, both locks, queues and limits on one connection.
//!
//! With `HAS_STATIC_QUERY_ID = true` on the nodes, the second shape of a node runs the first one's statement.

use claimstore::core::{ClaimRequest, LocalInstant, Settlement, State, Tally};
use claimstore::query::{self, Touched, Won};
use claimstore::{ClaimOn, ClaimTable, Job, PgStore};
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel::{PgConnection, QueryableByName, RunQueryDsl};

use crate::plan::text;
use crate::tables::PgInvoice;
use crate::work::{ask, worker};

#[path = "../pinned/lines.rs"]
mod lines;

const ROWS: &str = "
    CREATE TABLE invoices (
        invoice_number TEXT PRIMARY KEY, total BIGINT NOT NULL, urgency INT NOT NULL DEFAULT 0,
        status TEXT NOT NULL, claim_fence BIGINT NOT NULL DEFAULT 0, claimed_by TEXT, lease_until BIGINT,
        claimed_since TIMESTAMPTZ, send_after TIMESTAMP, tries INT NOT NULL DEFAULT 0,
        most_tries INT NOT NULL DEFAULT 9, problem TEXT, sent_at TIMESTAMPTZ);
    INSERT INTO invoices (invoice_number, total, status) SELECT 'i' || n, n, 'again'
        FROM generate_series(1, 2000) AS n;
    INSERT INTO claimstore_jobs (queue, kind, payload) SELECT substr('ab', 1 + n % 2, 1), 'k', '{}'
        FROM generate_series(1, 2000) AS n";

const PINNED: [&str; 2] =
    [include_str!("../pinned/sql/postgres/job.sql"), include_str!("../pinned/sql/postgres/invoice.sql")];

#[derive(QueryableByName)]
struct Prepared {
    #[diesel(sql_type = Text)]
    statement: String,
}

/// Claims, and settles one by one and all at once; the texts that were sent are added to `sent`.
fn round<T: ClaimOn<Pg>>(conn: &mut PgConnection, ask: &ClaimRequest, sent: &mut Vec<String>) -> Vec<T> {
    let node = query::claim_next::<T>(ask);
    sent.push(text(&node));
    let won: Vec<Won<T>> = node.load(conn).expect("claimed");
    assert_eq!(won.len(), ask.limit_rows());
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for won in won {
        let claimed = won.into_claimed(ask, LocalInstant::now());
        rows.push(claimed.row);
        claims.push(claimed.claim);
    }
    let to = |to, error: Option<&str>| Settlement {
        to,
        delay: None,
        tally: Tally::default(),
        error: error.map(str::to_owned),
    };
    let alone = [to(State::Completed, None), to(State::Pending, None), to(State::Dead, Some("no"))];
    for (claim, to) in claims.iter().zip(&alone) {
        let node = query::settle::<T>(claim, to);
        sent.push(text(&node));
        assert_eq!(node.execute(conn), Ok(1));
    }
    let rest = claims.get(alone.len()..).unwrap_or_default();
    for (claims, to) in rest.chunks(50).zip(&alone) {
        let node = query::settle_many::<T>(claims.iter().map(|claim| (claim, to)));
        sent.push(text(&node));
        let settled: Vec<Touched<T>> = node.load(conn).expect("settled");
        assert!(settled.iter().all(|row| claims.iter().any(|claim| *claim.key() == row.key)));
        assert_eq!(settled.len(), claims.len());
    }
    rows
}

#[test]
fn each_statement_is_prepared_once_and_runs_on_its_own_table() {
    let schema = postgres::fresh();
    PgStore::<Job>::new(schema.pool(1)).migrate().expect("the tables");
    let mut conn = schema.connect();
    conn.batch_execute(ROWS).expect("two tables with rows");
    let mut sent = Vec::new();
    for _ in 0..3 {
        for limit in [1, 100] {
            for queue in ["a", "b"] {
                let jobs = round::<Job>(&mut conn, &ask(limit, &[queue]), &mut sent);
                assert!(jobs.iter().all(|job| job.queue == queue));
            }
            let jobs = round::<Job>(&mut conn, &ask(limit, &["a", "b"]), &mut sent);
            assert!(jobs.iter().all(|job| job.kind == "k"));
            let plain = ClaimRequest::new(&worker()).limit(limit);
            let invoices = round::<PgInvoice>(&mut conn, &plain, &mut sent);
            assert!(invoices.iter().all(|row| row.number == format!("i{}", row.total)));
        }
    }
    sent.sort();
    sent.dedup();
    let tables = [Job::DECLARATION.table, "invoices"];
    let prepared: Vec<Prepared> =
        diesel::sql_query("SELECT statement FROM pg_prepared_statements").load(&mut conn).expect("an answer");
    let mut prepared: Vec<String> = prepared.into_iter().map(|one| one.statement).collect();
    prepared.retain(|sql| tables.iter().any(|table| sql.contains(&format!("\"{table}\""))));
    prepared.sort();
    assert_eq!(prepared, sent, "each text once");
    assert!(prepared.len() >= 15, "{}", prepared.len());
    for sql in prepared {
        let lines = lines::broken(&sql);
        assert!(PINNED.iter().any(|file| file.contains(&lines)), "not pinned:\n{lines}");
    }
}
