//! Claims on a table of the user's own.

use std::error::Error;
use std::time::Duration;

use claimstore::prelude::*;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

// ANCHOR: declare
mod schema {
    diesel::table! {
        invoices (number) {
            number -> Text,
            total -> BigInt,
            priority -> Integer,
            status -> Text,
            claim_fence -> BigInt,
            claimed_by -> Nullable<Text>,
            lease_until -> Nullable<BigInt>, // microseconds since 1970
        }
    }
}
use schema::invoices;

#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = invoices)]
#[claim(backend(postgres, sqlite), key = number, fence = claim_fence, worker = claimed_by, lease = lease_until)]
#[claim(state(status, pending("new", "again"), running("sending"), completed("sent"), dead("failed")))]
#[claim(order(priority.desc(), number.asc()))]
struct Invoice {
    number: String,
    total: i64,
}
// ANCHOR_END: declare

const TABLE: &str = "
    CREATE TABLE invoices (
        number      TEXT    NOT NULL PRIMARY KEY,
        total       BIGINT  NOT NULL,
        priority    INTEGER NOT NULL DEFAULT 0,
        status      TEXT    NOT NULL DEFAULT 'new',
        claim_fence BIGINT  NOT NULL DEFAULT 0,
        claimed_by  TEXT,
        lease_until BIGINT
    );
    INSERT INTO invoices (number, total, priority) VALUES ('2024-1', 100, 0), ('2024-2', 250, 5);";

fn send(invoice: &Invoice) -> Result<(), String> {
    if invoice.total > 0 { Ok(()) } else { Err(format!("invoice {} asks for nothing", invoice.number)) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("invoices.db");
    let path = path.to_str().ok_or("not UTF-8")?;
    SqliteConnection::establish(path)?.batch_execute(TABLE)?;

    // ANCHOR: use
    let store = SqliteStore::<Invoice>::open(path)?; // or PgStore::<Invoice>::connect(url)
    let ask = ClaimRequest::new(&WorkerId::generate("sender")).lease(Duration::from_secs(30));

    for Claimed { row, claim } in store.claim_next(&ask.limit(10))? {
        match send(&row) {
            Ok(()) => store.complete(claim)?, // status becomes 'sent'
            Err(why) => store.settle(claim, Verdict::fail_for_good(why))?, // 'failed'
        };
    }
    // ANCHOR_END: use

    // By key: the answer says why not.
    match store.claim(&"2024-1".to_owned(), &ask)? {
        ClaimOutcome::Refused(reason) => println!("2024-1: {reason:?}"),
        claimed => return Err(format!("claimed again: {claimed:?}").into()),
    }
    let sent: i64 =
        invoices::table.filter(invoices::status.eq("sent")).count().get_result(&mut store.pool().get()?)?;
    assert_eq!(sent, 2);
    Ok(())
}
