//! What is recorded beyond the rows themselves.

use claimstore_core::LateWrite;
use diesel::Insertable;

use crate::schema::claimstore_events;

/// A row of `claimstore_events`; SQLite adds its time, PostgreSQL has a default.
#[derive(Debug, Insertable)]
#[diesel(table_name = claimstore_events)]
pub(crate) struct NewEvent {
    table_name: String,
    row_key: String,
    kind: &'static str,
    worker: String,
    fence: i64,
    detail: String,
}

impl From<&LateWrite> for NewEvent {
    fn from(late: &LateWrite) -> Self {
        NewEvent {
            table_name: late.table.clone(),
            row_key: late.key.clone(),
            kind: "late_writer",
            worker: late.worker.as_str().to_owned(),
            fence: late.held.get(),
            // Plain data with text keys always has a JSON form.
            detail: serde_json::to_string(late).unwrap_or_else(|why| format!("{{\"unwritten\":\"{why}\"}}")),
        }
    }
}
