//! What `verify()` says of a table that was not made for it.

use std::error::Error;

use claimstore::prelude::*;
use claimstore::verify::{Check, Severity};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

mod schema {
    diesel::table! {
        invoices (number) {
            number -> Text,
            status -> Text,
            claim_fence -> BigInt,
            claimed_by -> Nullable<Text>,
            lease_until -> Nullable<BigInt>,
        }
    }
}
use schema::invoices;

#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = invoices)]
#[claim(backend(sqlite), key = number, fence = claim_fence, worker = claimed_by, lease = lease_until)]
#[claim(state(status, pending("new"), running("sending"), completed("sent"), dead("failed")))]
struct Invoice {
    #[allow(dead_code)]
    number: String,
}

// ANCHOR: table
const TABLE: &str = "
    CREATE TABLE invoices (
        number      TEXT   NOT NULL PRIMARY KEY,
        status      TEXT   NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'sending', 'sent')),
        claim_fence BIGINT NOT NULL,
        claimed_by  TEXT,
        lease_until BIGINT
    );";
// ANCHOR_END: table

/// What the chapter shows.
const REPORT: &str = include_str!("../../reports/verify.md");

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("invoices.db");
    let path = path.to_str().ok_or("not UTF-8")?;
    SqliteConnection::establish(path)?.batch_execute(TABLE)?;

    // ANCHOR: verify
    let store = SqliteStore::<Invoice>::open(path)?; // or PgStore::<Invoice>::connect(url)
    let report = store.verify()?;
    println!("{report}");
    if !report.is_fit() {
        // At least one finding is an error: do not begin to work.
    }
    // ANCHOR_END: verify
    assert_eq!(format!("{report}\n"), REPORT, "the chapter shows another report");

    // ANCHOR: findings
    let errors = report.findings.iter().filter(|found| found.severity == Severity::Error);
    let checks: Vec<Check> = errors.map(|found| found.check).collect();
    assert_eq!(checks, [Check::StateWords]);
    // ANCHOR_END: findings

    // What is SQL can be run as it stands.
    for found in report.findings.iter().filter(|found| found.mend_is_sql()) {
        store.pool().get()?.batch_execute(found.mend.as_deref().unwrap_or_default())?;
    }
    let left = store.verify()?;
    assert!(!left.findings.iter().any(|found| matches!(found.check, Check::ClaimIndex | Check::LeaseIndex)));
    Ok(())
}
