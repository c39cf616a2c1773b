//! What is recorded beyond the rows themselves.

use claimstore_core::{Event, Fence, Happened, LateWrite, Timestamp, WorkerId};
use diesel::{Insertable, Queryable};
use serde_json::Value;

use crate::schema::claimstore_events;
use crate::sql_types::At;

/// A row of `claimstore_events`; SQLite adds its time, PostgreSQL has a default.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = claimstore_events)]
pub struct NewEvent {
    table_name: String,
    row_key: String,
    kind: String,
    worker: Option<String>,
    fence: i64,
    detail: String,
}

impl NewEvent {
    pub(crate) fn new(
        table: &str,
        key: String,
        worker: Option<&WorkerId>,
        fence: Fence,
        what: &Happened,
    ) -> NewEvent {
        // Plain data with text keys always has a JSON form.
        let detail = serde_json::to_value(what).unwrap_or_default()["detail"].take();
        NewEvent {
            table_name: table.to_owned(),
            row_key: key,
            kind: what.kind().to_owned(),
            worker: worker.map(|worker| worker.as_str().to_owned()),
            fence: fence.get(),
            detail: detail.to_string(),
        }
    }

    pub(crate) fn late(late: &LateWrite) -> NewEvent {
        let what = Happened::LateWriter(late.clone());
        NewEvent::new(&late.table, late.key.clone(), Some(&late.worker), late.held, &what)
    }
}

/// A row of `claimstore_events`, as stored.
#[derive(Debug, Queryable)]
pub struct StoredEvent {
    id: i64,
    at: At,
    table_name: String,
    row_key: String,
    kind: String,
    worker: Option<String>,
    fence: i64,
    detail: String,
}

impl From<StoredEvent> for Event {
    /// What cannot be read is kept as it is stored: a damaged event hides no other.
    fn from(stored: StoredEvent) -> Event {
        let known = serde_json::from_str::<Value>(&stored.detail).and_then(|detail| {
            serde_json::from_value(serde_json::json!({ "kind": stored.kind, "detail": detail }))
        });
        let what = known.unwrap_or(Happened::Other { kind: stored.kind, detail: stored.detail });
        Event {
            id: stored.id,
            at: Timestamp::from(stored.at),
            table: stored.table_name,
            key: stored.row_key,
            worker: stored.worker.and_then(|name| WorkerId::new(name).ok()),
            fence: Fence::new(stored.fence),
            what,
        }
    }
}

/// The last events of a row on one database's connection; Diesel's DSL wants the connection's own type.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
macro_rules! load_events {
    ($conn:expr, $table:expr, $key:expr, $kind:expr, $limit:expr) => {{
        use diesel::prelude::*;
        use $crate::schema::claimstore_events::dsl;
        let events = dsl::claimstore_events
            .filter(dsl::table_name.eq($table).and(dsl::row_key.eq($key)))
            .order(dsl::id.desc())
            .limit($limit);
        match $kind {
            Some(kind) => events.filter(dsl::kind.eq(kind)).load($conn),
            None => events.load($conn),
        }
    }};
}
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) use load_events;
