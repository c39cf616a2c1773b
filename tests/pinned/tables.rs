//! Two tables of a user's own, on both databases: one with every form of instant, one with the least.

use claimstore::ClaimTable;
use diesel::{Queryable, Selectable};

mod schema {
    diesel::table! {
        #[sql_name = "invoices"]
        pg_invoices (invoice_number) {
            invoice_number -> Text,
            total -> BigInt,
            urgency -> Integer,
            status -> Text,
            claim_fence -> BigInt,
            claimed_by -> Nullable<Text>,
            lease_until -> Nullable<BigInt>,
            claimed_since -> Nullable<Timestamptz>,
            send_after -> Nullable<Timestamp>,
            tries -> Integer,
            most_tries -> Integer,
            problem -> Nullable<Text>,
            sent_at -> Nullable<Timestamptz>,
        }
    }
    diesel::table! {
        #[sql_name = "invoices"]
        sqlite_invoices (invoice_number) {
            invoice_number -> Text,
            total -> BigInt,
            urgency -> Integer,
            status -> Text,
            claim_fence -> BigInt,
            claimed_by -> Nullable<Text>,
            lease_until -> Nullable<Text>,
            claimed_since -> Nullable<Text>,
            send_after -> Nullable<Text>,
            tries -> Integer,
            most_tries -> Integer,
            problem -> Nullable<Text>,
            sent_at -> Nullable<Text>,
        }
    }
    diesel::table! {
        minimal (id) {
            id -> BigInt,
            state -> Text,
            fence -> BigInt,
        }
    }
}

/// Text key, other names, two pending words, no queue, the weaker lock, a NULL due time that is due; and
/// its instants in all three forms.
#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::pg_invoices)]
#[claim(backend(postgres), lock = no_key_update, null_due_is_now)]
#[claim(key = invoice_number, fence = claim_fence, worker = claimed_by, lease = lease_until)]
#[claim(claimed_at = claimed_since, due = send_after, failures = tries, max_failures = most_tries)]
#[claim(last_error = problem, finished_at = sent_at, order(urgency.desc(), invoice_number.asc()))]
#[claim(state(status, pending("new", "again"), running("sending"), completed("sent"), dead("won't send")))]
pub(crate) struct PgInvoice {
    #[diesel(column_name = invoice_number)]
    pub(crate) number: String,
    #[allow(dead_code)]
    pub(crate) total: i64,
}

/// The same on SQLite, where its instants are text.
#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::sqlite_invoices)]
#[claim(backend(sqlite), null_due_is_now)]
#[claim(key = invoice_number, fence = claim_fence, worker = claimed_by, lease = lease_until)]
#[claim(claimed_at = claimed_since, due = send_after, failures = tries, max_failures = most_tries)]
#[claim(last_error = problem, finished_at = sent_at, order(urgency.desc(), invoice_number.asc()))]
#[claim(state(status, pending("new", "again"), running("sending"), completed("sent"), dead("won't send")))]
pub(crate) struct SqliteInvoice {
    #[diesel(column_name = invoice_number)]
    pub(crate) number: String,
    #[allow(dead_code)]
    pub(crate) total: i64,
}

/// Key, state and fence, and nothing else.
#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::minimal)]
#[claim(backend(postgres, sqlite), key = id, fence = fence)]
#[claim(state(state, pending("pending"), running("running"), completed("completed")))]
pub(crate) struct Minimal {
    pub(crate) id: i64,
}
