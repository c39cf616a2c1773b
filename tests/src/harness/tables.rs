//! The tables under test.

use claimstore::{ClaimOn, ClaimTable, Job, Store};
use claimstore_core::{History, State};
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;
use diesel::{Queryable, Selectable};

use super::database::TestDialect;
use super::schema;
use super::spec::{Spec, Time};

/// A table that a harness can create and read.
pub trait TestTable<D: TestDialect>: ClaimOn<D> {
    /// Creates it.
    fn create(store: &Store<Self, D>, conn: &mut D::Conn);
    /// What plain SQL has to know of it.
    fn spec() -> Spec;
    /// This store, recording every transition.
    ///
    /// # Panics
    /// Where the table keeps no events.
    fn telling_all(_: Store<Self, D>) -> Store<Self, D> {
        panic!("this table keeps no events")
    }
}

/// A table of somebody else's: text key, columns and words with names of their own, two pending words.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::invoices)]
#[claim(backend(postgres, sqlite), key = number, fence = claim_fence, worker = claimed_by,
        claimed_at = claimed_since, lease = lease_until, due = send_after, priority = priority,
        failures = refusals, crashes = losses, last_error = trouble, finished_at = settled_at,
        order(priority.desc(), number.asc()))]
#[claim(state(
    status,
    pending("new", "again"),
    running("sending"),
    completed("sent"),
    dead("failed"),
    uncertain("unclear")
))]
pub struct Invoice {
    /// Names it.
    pub number: String,
    /// What a claim reads beside the key.
    pub total: i64,
}

/// The least a table needs.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::minimal)]
#[claim(backend(postgres, sqlite), key = id, fence = fence)]
#[claim(state(state, pending("pending"), running("running"), completed("completed")))]
pub struct Minimal {
    /// Names it.
    pub id: i64,
}

/// PostgreSQL's other forms of time, an `INTEGER` key, queues without priorities, the weaker row lock.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::parcels)]
#[claim(backend(postgres), key = id, fence = fence, worker = driver, claimed_at = since, lease = lease,
        due = due, queue = depot, failures = failures, finished_at = finished, lock = no_key_update)]
#[claim(state(state, pending("waiting"), running("loading"), completed("gone"), dead("lost")))]
pub struct Parcel {
    /// Names it.
    pub id: i32,
}

/// The same forms on other columns, with budgets.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::pallets)]
#[claim(backend(postgres), key = id, fence = fence, worker = driver, claimed_at = since, lease = lease,
        due = due, failures = failures, crashes = crashes, interruptions = interruptions,
        max_failures = max_failures, max_crashes = max_crashes, idempotent = idempotent,
        last_error = last_error, finished_at = finished)]
#[claim(state(
    state,
    pending("waiting"),
    running("loading"),
    completed("gone"),
    dead("lost"),
    uncertain("unclear")
))]
pub struct Pallet {
    /// Names it.
    pub id: i64,
}

/// SQLite's instants as text, and one as a number.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::letters)]
#[claim(backend(sqlite), key = id, fence = fence, worker = clerk, claimed_at = since, lease = lease,
        due = due, queue = tray, failures = failures, crashes = crashes, finished_at = finished)]
#[claim(state(state, pending("waiting"), running("sorting"), completed("gone"), dead("lost")))]
pub struct Letter {
    /// Names it.
    pub id: i64,
}

/// A table of somebody else's with events and pauses: what an operator needs, and little more.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::tickets)]
#[claim(backend(postgres, sqlite), key = code, fence = round, worker = agent, claimed_at = since, lease = until,
        due = due, queue = desk, kind = topic, failures = failures, crashes = crashes, idempotent = repeatable,
        finished_at = ended_at, events, queues)]
#[claim(state(
    stage,
    pending("open", "reopened"),
    running("in hand"),
    completed("answered"),
    dead("closed"),
    uncertain("unclear")
))]
pub struct Ticket {
    /// Names it.
    pub code: String,
}

/// The built-in table.
fn job(time: Time, constants: &'static [(&'static str, &'static str)]) -> Spec {
    const WORDS: &[(State, &str)] = &[
        (State::Running, "running"),
        (State::Completed, "completed"),
        (State::Dead, "dead"),
        (State::Cancelled, "cancelled"),
        (State::Uncertain, "uncertain"),
    ];
    Spec {
        worker: Some("worker"),
        queue: Some("queue"),
        kind: Some("kind"),
        priority: Some("priority"),
        last_error: Some("last_error"),
        claimed_at: Some(("claimed_at", time)),
        lease: Some(("lease", time)),
        due: Some(("due", time)),
        finished: Some(("finished_at", time)),
        counts: [Some("failures"), Some("crashes"), Some("interruptions")],
        budgets: Some(["max_failures", "max_crashes"]),
        idempotent: Some("idempotent"),
        constants,
        due_orders: true,
        late_writers: true,
        pauses: true,
        ..Spec::bare("claimstore_jobs", ["id", "state", "fence"], &["pending"], WORDS)
    }
}

fn invoice(time: Time) -> Spec {
    const WORDS: &[(State, &str)] = &[
        (State::Running, "sending"),
        (State::Completed, "sent"),
        (State::Dead, "failed"),
        (State::Uncertain, "unclear"),
    ];
    Spec {
        worker: Some("claimed_by"),
        priority: Some("priority"),
        last_error: Some("trouble"),
        claimed_at: Some(("claimed_since", time)),
        lease: Some(("lease_until", time)),
        due: Some(("send_after", time)),
        finished: Some(("settled_at", time)),
        counts: [Some("refusals"), Some("losses"), None],
        ..Spec::bare("invoices", ["number", "status", "claim_fence"], &["new", "again"], WORDS)
    }
}

fn ticket(time: Time) -> Spec {
    const WORDS: &[(State, &str)] = &[
        (State::Running, "in hand"),
        (State::Completed, "answered"),
        (State::Dead, "closed"),
        (State::Uncertain, "unclear"),
    ];
    Spec {
        worker: Some("agent"),
        queue: Some("desk"),
        kind: Some("topic"),
        claimed_at: Some(("since", time)),
        lease: Some(("until", time)),
        due: Some(("due", time)),
        finished: Some(("ended_at", time)),
        counts: [Some("failures"), Some("crashes"), None],
        idempotent: Some("repeatable"),
        due_orders: true,
        late_writers: true,
        pauses: true,
        ..Spec::bare("tickets", ["code", "stage", "round"], &["open", "reopened"], WORDS)
    }
}

fn minimal() -> Spec {
    const WORDS: &[(State, &str)] = &[(State::Running, "running"), (State::Completed, "completed")];
    Spec::bare("minimal", ["id", "state", "fence"], &["pending"], WORDS)
}

fn parcel() -> Spec {
    const WORDS: &[(State, &str)] =
        &[(State::Running, "loading"), (State::Completed, "gone"), (State::Dead, "lost")];
    Spec {
        worker: Some("driver"),
        queue: Some("depot"),
        claimed_at: Some(("since", Time::Micros)),
        lease: Some(("lease", Time::Plain)),
        due: Some(("due", Time::Micros)),
        finished: Some(("finished", Time::Zoned)),
        counts: [Some("failures"), None, None],
        due_orders: true,
        ..Spec::bare("parcels", ["id", "state", "fence"], &["waiting"], WORDS)
    }
}

fn pallet() -> Spec {
    const WORDS: &[(State, &str)] = &[
        (State::Running, "loading"),
        (State::Completed, "gone"),
        (State::Dead, "lost"),
        (State::Uncertain, "unclear"),
    ];
    Spec {
        worker: Some("driver"),
        last_error: Some("last_error"),
        claimed_at: Some(("since", Time::Zoned)),
        lease: Some(("lease", Time::Micros)),
        due: Some(("due", Time::Plain)),
        finished: Some(("finished", Time::Plain)),
        counts: [Some("failures"), Some("crashes"), Some("interruptions")],
        budgets: Some(["max_failures", "max_crashes"]),
        idempotent: Some("idempotent"),
        due_orders: true,
        ..Spec::bare("pallets", ["id", "state", "fence"], &["waiting"], WORDS)
    }
}

fn letter() -> Spec {
    const WORDS: &[(State, &str)] =
        &[(State::Running, "sorting"), (State::Completed, "gone"), (State::Dead, "lost")];
    Spec {
        worker: Some("clerk"),
        queue: Some("tray"),
        claimed_at: Some(("since", Time::Text)),
        lease: Some(("lease", Time::Text)),
        due: Some(("due", Time::Text)),
        finished: Some(("finished", Time::Micros)),
        counts: [Some("failures"), Some("crashes"), None],
        due_orders: true,
        ..Spec::bare("letters", ["id", "state", "fence"], &["waiting"], WORDS)
    }
}

macro_rules! test_tables {
    ($($table:ty, $dialect:ty, $file:literal, $spec:expr;)*) => {$(
        impl TestTable<$dialect> for $table {
            fn create(_: &Store<Self, $dialect>, conn: &mut <$dialect as claimstore::Dialect>::Conn) {
                conn.batch_execute(include_str!(concat!("../../tables/", $file))).expect("a new table");
            }
            fn spec() -> Spec {
                $spec
            }
        }
    )*};
}

test_tables! {
    Invoice, Pg, "postgres/invoices.sql", invoice(Time::Zoned);
    Invoice, Sqlite, "sqlite/invoices.sql", invoice(Time::Micros);
    Minimal, Pg, "postgres/minimal.sql", minimal();
    Minimal, Sqlite, "sqlite/minimal.sql", minimal();
    Parcel, Pg, "postgres/parcels.sql", parcel();
    Pallet, Pg, "postgres/pallets.sql", pallet();
    Letter, Sqlite, "sqlite/letters.sql", letter();
}

/// Tables of which events are kept, in the library's own tables beside them.
macro_rules! tables_with_events {
    ($($table:ty, $dialect:ty, [$($file:literal)?], $spec:expr;)*) => {$(
        impl TestTable<$dialect> for $table {
            fn create(store: &Store<Self, $dialect>, conn: &mut <$dialect as claimstore::Dialect>::Conn) {
                store.migrate().expect("the migrations run");
                const OWN: &[&str] = &[$(include_str!(concat!("../../tables/", $file)))?];
                OWN.iter().for_each(|sql| conn.batch_execute(sql).expect("a new table"));
            }
            fn spec() -> Spec {
                $spec
            }
            fn telling_all(store: Store<Self, $dialect>) -> Store<Self, $dialect> {
                store.recording(History::All)
            }
        }
    )*};
}

tables_with_events! {
    Job, Pg, [], job(Time::Zoned, &[("payload", "'{}'")]);
    Job, Sqlite, [], job(Time::Micros, &[("payload", "'{}'"), ("created_at", "0")]);
    Ticket, Pg, ["postgres/tickets.sql"], ticket(Time::Zoned);
    Ticket, Sqlite, ["sqlite/tickets.sql"], ticket(Time::Micros);
}
