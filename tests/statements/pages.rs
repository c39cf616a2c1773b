//! Reading expired leases page by page, where instants are text.

use std::time::Duration;

use claimstore::core::Timestamp;
use claimstore::query::{self, ExpiredRow};
use claimstore_tests::sqlite::TestFile;
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;

use crate::tables::SqliteInvoice;

pub(crate) const INVOICES: &str = "CREATE TABLE invoices (
    invoice_number TEXT NOT NULL PRIMARY KEY, total BIGINT NOT NULL DEFAULT 1, urgency INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL, claim_fence BIGINT NOT NULL DEFAULT 0, claimed_by TEXT, lease_until TEXT,
    claimed_since TEXT, send_after TEXT, tries INTEGER NOT NULL DEFAULT 0, most_tries INTEGER NOT NULL DEFAULT 9,
    problem TEXT, sent_at TEXT)";

#[test]
fn the_next_page_begins_after_the_last_row_also_where_instants_are_text() {
    let file = TestFile::fresh();
    let mut conn = file.connect();
    conn.batch_execute(INVOICES).expect("a table");
    conn.batch_execute(
        "INSERT INTO invoices (invoice_number, status, claimed_by, lease_until) VALUES
            ('a', 'sending', 'w', '2024-01-01 00:00:00.000000'),
            ('b', 'sending', 'w', '2024-01-01 00:00:00.000000'),
            ('c', 'sending', 'w', '2024-01-01 00:00:00.000001')",
    )
    .expect("three expired rows");
    let mut seen: Vec<String> = Vec::new();
    let mut after: Option<(Timestamp, String)> = None;
    for _ in 0..3 {
        let node = query::expiring::<SqliteInvoice>(Duration::ZERO, 1, after);
        let page: Vec<ExpiredRow<SqliteInvoice>> = node.load(&mut conn).expect("a page");
        after = page.last().map(|ExpiredRow(row)| (row.until, row.key.clone()));
        seen.extend(page.into_iter().map(|ExpiredRow(row)| row.key));
    }
    assert_eq!(seen, ["a", "b", "c"]);
    let rest = query::expiring::<SqliteInvoice>(Duration::ZERO, 1, after);
    let rest: Vec<ExpiredRow<SqliteInvoice>> = rest.load(&mut conn).expect("a page");
    assert!(rest.is_empty());
}
