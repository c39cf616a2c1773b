//! When the next row is due, where some rows have no due time.

use claimstore::core::{ClaimRequest, Timestamp};
use claimstore::query::{self, Due};
use claimstore_tests::{postgres, sqlite::TestFile};
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;

use crate::pages::INVOICES;
use crate::tables::{Minimal, PgInvoice, SqliteInvoice};
use crate::work::worker;

const LATER: &str = "INSERT INTO invoices (invoice_number, total, status, send_after) VALUES ('a', 1, 'new', '2100-01-01 00:00:00.000000')";
const AT_ONCE: &str = "INSERT INTO invoices (invoice_number, total, status) VALUES ('b', 1, 'again')";

fn of_2100() -> Timestamp {
    Timestamp::from_micros(4_102_444_800_000_000)
}

/// The store asks when a batch came back short; a row without a due time was then locked by somebody.
#[test]
fn a_row_without_a_due_time_is_due_now_and_not_behind_all_others() {
    let ask = ClaimRequest::new(&worker());
    let file = TestFile::fresh();
    let mut sqlite = file.connect();
    sqlite.batch_execute(&format!("{INVOICES}; {LATER}")).expect("a row");
    let schema = postgres::fresh();
    let mut pg = schema.connect();
    let zoneless = INVOICES
        .replace("send_after TEXT", "send_after TIMESTAMP")
        .replace("sent_at TEXT", "sent_at TIMESTAMPTZ");
    pg.batch_execute(&format!("{zoneless}; {LATER}")).expect("a row");

    let later: [Due; 2] = [
        query::next_due::<SqliteInvoice>(&ask).get_result(&mut sqlite).expect("an answer"),
        query::next_due::<PgInvoice>(&ask).get_result(&mut pg).expect("an answer"),
    ];
    assert_eq!(later, [Due(Some(of_2100())); 2]);

    sqlite.batch_execute(AT_ONCE).expect("a row");
    pg.batch_execute(AT_ONCE).expect("a row");
    let now: [Due; 2] = [
        query::next_due::<SqliteInvoice>(&ask).get_result(&mut sqlite).expect("an answer"),
        query::next_due::<PgInvoice>(&ask).get_result(&mut pg).expect("an answer"),
    ];
    for Due(at) in now {
        assert!(at.expect("a row waits") < of_2100());
    }
}

#[test]
fn a_statement_that_a_table_cannot_have_is_refused_before_it_is_sent() {
    let mut conn = TestFile::fresh().connect();
    let due: Result<Vec<Due>, _> = query::next_due::<Minimal>(&ClaimRequest::new(&worker())).load(&mut conn);
    let why = due.expect_err("it has no due time").to_string();
    assert!(why.contains("table minimal has no due column"), "{why}");
}
