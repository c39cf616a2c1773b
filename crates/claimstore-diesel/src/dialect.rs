//! What differs between the databases, as one trait with two small implementations.

use std::hash::Hash;

use claimstore_core::{
    Blocker, Claim, ClaimRequest, Guarantees, RowLocks, Settlement, StoreErrorKind, Timestamp, Wait,
};
use diesel::backend::Backend;
use diesel::connection::{Connection, TransactionManager};
use diesel::deserialize::{self, QueryableByName};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::r2d2::R2D2Connection;
use diesel::sql_types::Untyped;
use diesel::{QueryResult, RunQueryDsl};

use crate::event::{NewEvent, StoredEvent};
use crate::job::NewJob;
use crate::protocol::Answer;
use crate::query::{Ahead, TimeForm, WonOrTouched};
use crate::table::ClaimOn;
use crate::unique::Enqueued;

/// What a failed statement means, read from the database's own words in one place per dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What it means for the caller.
    pub kind: StoreErrorKind,
    /// The same statement, sent again in a new transaction of our own, may succeed at once.
    pub again: bool,
    /// The connection must not be used again.
    pub poisoned: bool,
}

impl Fault {
    pub(crate) const fn plain(kind: StoreErrorKind) -> Fault {
        Fault { kind, again: false, poisoned: false }
    }
    pub(crate) const fn again(kind: StoreErrorKind) -> Fault {
        Fault { kind, again: true, poisoned: false }
    }
    pub(crate) const fn poisoned(kind: StoreErrorKind) -> Fault {
        Fault { kind, again: false, poisoned: true }
    }
}

/// How the library's own transactions are begun: what a store learns of its database once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// The server's default is READ COMMITTED: alone, in autocommit.
    Autocommit,
    /// In a transaction that says READ COMMITTED.
    Explicit,
    /// SQLite: as a writer. A busy file is waited for in short steps of our own; SQLite's handler, whose
    /// steps grow to a tenth of a second, would let others pass again and again.
    Immediate {
        /// The connection's own busy timeout, in milliseconds, put back once the transaction has begun.
        busy: u32,
    },
}

/// Whose transaction a statement runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The library's own, or none.
    Own(Isolation),
    /// The library's own, which has begun.
    Begun,
    /// The caller's.
    Callers,
}

impl Place {
    /// The same, but statements that are sent together stand or fall together.
    pub(crate) fn whole(self) -> Place {
        match self {
            Place::Own(Isolation::Autocommit) => Place::Own(Isolation::Explicit),
            same => same,
        }
    }
}

/// A database whose statements can write to a table twice: PostgreSQL.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no statement that settles and claims at once",
    note = "use `settle_many` and `claim_next` in one transaction, claiming first"
)]
pub trait WritesTwice: Dialect {
    /// A statement that settles (`mine`, `done`; fence and key column in `settled`) and claims.
    fn both(mine: &str, done: &str, settled: [&str; 2], parts: &crate::query::ClaimParts<'_>) -> String;
}

/// A database that claimstore speaks: [`Pg`](diesel::pg::Pg) or [`Sqlite`](diesel::sqlite::Sqlite).
///
/// Not for implementing elsewhere: it may grow in any release.
pub trait Dialect: Backend + 'static {
    /// Its connection.
    type Conn: Connection<Backend = Self> + R2D2Connection + Send + 'static;
    /// What the pool is configured with beyond its size.
    const NAME: &'static str;
    /// Its name in telemetry, as OpenTelemetry spells it.
    const SYSTEM: &'static str;
    /// What stands between two claimers.
    const LOCKS: RowLocks;
    /// Whose clock decides.
    const CLOCK: &'static str;

    /// How claimstore's own tables store instants.
    const OWN_FORM: TimeForm;
    /// It binds arrays, and so takes several queues or rows as one value each.
    const ARRAYS: bool;
    /// What stands around a condition that nearly all rows meet, so that the planner takes it for one.
    const LIKELY: [&'static str; 2];
    /// A condition that names no column is looked at once, before any row is read.
    const ONE_TIME_FILTERS: bool;

    /// Folds shapes that have the same text here.
    fn shape(shape: crate::query::Shape) -> crate::query::Shape {
        shape
    }

    // ----- text ------------------------------------------------------------------------------------

    /// A column or table name, quoted.
    fn quote(name: &str) -> String;
    /// The deciding clock in a predicate: stable within the statement, so that an index can use it.
    fn now(form: TimeForm) -> String;
    /// The deciding clock and a span ahead of it, to be stored: read when it is written, so that a
    /// lease granted after a wait is whole.
    fn later(form: TimeForm, span: Option<Ahead>) -> String;
    /// The same for a span that is given of each of several rows.
    fn later_given(form: TimeForm, span: &str) -> String;
    /// The deciding clock, to be read; NULL where it is this host's.
    fn clock() -> String;
    /// The deciding clock less the grace, in a predicate.
    fn grace_ago(form: TimeForm) -> String;
    /// A stored instant as [`Instant`](crate::sql_types::Instant), to be read back.
    fn instant(column: &str, form: TimeForm) -> String;
    /// The fence after a raise: one more and a random step of twenty bits.
    fn raised(fence: &str) -> String;
    /// Wraps the candidate select and the update into one statement.
    fn claim_statement(parts: &crate::query::ClaimParts<'_>) -> String;
    /// A select of the keys that are given.
    fn given_keys() -> String;
    /// Locks the given rows in key order before they are written; the name to update from. The text
    /// begins a `WITH`.
    fn locked_rows(parts: &crate::query::LockedRows<'_>) -> String;
    /// A look at rows, taken or not.
    fn look_statement(parts: &crate::query::LookParts<'_>) -> String;
    /// A delete of a bounded number of rows that passes over locked ones.
    fn prune_statement(parts: &crate::query::PruneParts<'_>) -> String;
    /// A given instant in the form a column stores.
    fn given_instant(form: TimeForm, given: &str) -> String;
    /// A statement that keeps the row as it is and its claim in force until the transaction ends.
    fn guard_statement(table: &str, bare: &str, fence: &str, no_key_update: bool, guards: &str) -> String;
    /// The lease end after which a page begins, in the form the column stores: so compared, it can be found
    /// in an index, and on SQLite text is compared with text.
    fn after_lease(form: TimeForm) -> String;
    /// An expression compared row-wise with another, `(a, b) > (c, d)`.
    fn after(left: [&str; 2], right: [&str; 2]) -> String {
        format!("({}, {}) > ({}, {})", left[0], left[1], right[0], right[1])
    }

    // ----- binding and reading -----------------------------------------------------------------------

    /// Binds a text.
    fn bind_text<'b>(out: &mut AstPass<'_, 'b, Self>, text: &'b str) -> QueryResult<()>;
    /// Binds a number of 64 bits.
    fn bind_i64<'b>(out: &mut AstPass<'_, 'b, Self>, number: &'b i64) -> QueryResult<()>;
    /// Binds a number of 32 bits.
    fn bind_i32<'b>(out: &mut AstPass<'_, 'b, Self>, number: &'b i32) -> QueryResult<()>;
    /// Binds one of the values that only this dialect's text asks for.
    fn bind_special<'b, K: Clone + Eq + Hash>(
        out: &mut AstPass<'_, 'b, Self>,
        hole: crate::query::Hole,
        values: &'b crate::query::Values<K>,
    ) -> QueryResult<()>;
    /// Reads a number of 64 bits, or NULL.
    fn read_i64(value: Option<Self::RawValue<'_>>) -> deserialize::Result<Option<i64>>;
    /// Reads a number of 32 bits, or NULL.
    fn read_i32(value: Option<Self::RawValue<'_>>) -> deserialize::Result<Option<i32>>;
    /// Reads a truth value, or NULL.
    fn read_bool(value: Option<Self::RawValue<'_>>) -> deserialize::Result<Option<bool>>;
    /// Reads a text, or NULL.
    fn read_text(value: Option<Self::RawValue<'_>>) -> deserialize::Result<Option<String>>;
    /// Reads an instant that [`Dialect::instant`] has shaped, or NULL.
    fn read_instant(value: Option<Self::RawValue<'_>>) -> deserialize::Result<Option<Timestamp>>;
    /// A key by which rows can be put in order after they were read; `None` where the statement already
    /// returns them in order.
    fn read_sort_key(value: Option<Self::RawValue<'_>>) -> Option<SortKey>;

    // ----- sending -----------------------------------------------------------------------------------

    /// Sends a statement that returns rows.
    fn load<Q, U>(conn: &mut Self::Conn, query: Q) -> QueryResult<Vec<U>>
    where
        Q: Query<SqlType = Untyped> + QueryFragment<Self> + QueryId + RunQueryDsl<Self::Conn>,
        U: QueryableByName<Self> + 'static;
    /// Sends a statement and counts the rows it changed.
    fn execute<Q>(conn: &mut Self::Conn, query: Q) -> QueryResult<usize>
    where
        Q: QueryFragment<Self> + QueryId + RunQueryDsl<Self::Conn>;
    /// Runs library code that sends one statement, as `isolation` says.
    fn once<R>(
        conn: &mut Self::Conn,
        isolation: Isolation,
        work: &mut dyn FnMut(&mut Self::Conn) -> QueryResult<R>,
    ) -> QueryResult<R>;
    /// Runs code in a transaction that begins by being able to write. The first error is kept, also
    /// where the rollback fails after it.
    fn transaction<R, E>(
        conn: &mut Self::Conn,
        isolation: Isolation,
        work: impl FnOnce(&mut Self::Conn) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<diesel::result::Error>;
    /// How the library's own transactions must be begun here.
    fn isolation(conn: &mut Self::Conn) -> QueryResult<Isolation>;
    /// Runs a claim by key, telling it whether to wait for the row's lock, at most as long as `wait`
    /// says; `None` where the wait ran out. In the caller's transaction it leaves that usable and its
    /// settings as they were.
    fn waiting<R>(
        conn: &mut Self::Conn,
        wait: Wait,
        place: Place,
        work: &mut dyn FnMut(&mut Self::Conn, bool) -> QueryResult<R>,
    ) -> QueryResult<Option<R>>;
    /// Settles and claims, so that no row that was settled is returned as claimed.
    fn settle_and_claim<T: ClaimOn<Self>>(
        conn: &mut Self::Conn,
        settled: &[(&Claim<T::Key>, &Settlement)],
        ask: &ClaimRequest,
    ) -> QueryResult<Vec<WonOrTouched<T>>>;
    /// What an error means. The only reader of its text and codes.
    fn classify(error: &diesel::result::Error, inside: bool) -> Fault;
    /// Writes events into `claimstore_events`.
    fn record(conn: &mut Self::Conn, events: &[NewEvent]) -> QueryResult<()>;
    /// The last events of a row, latest first, of this kind if one is given.
    fn events(
        conn: &mut Self::Conn,
        table: &str,
        key: &str,
        kind: Option<&str>,
        limit: i64,
    ) -> QueryResult<Vec<StoredEvent>>;
    /// About how many rows of this table, as quoted, have this word in its state column; `None` where nothing
    /// is known.
    fn estimate(conn: &mut Self::Conn, table: &str, state: &str, word: &str) -> QueryResult<Option<u64>>;
    /// Who has this row locked, if anybody has and the database tells.
    fn blocker<T: ClaimOn<Self>>(conn: &mut Self::Conn, key: &T::Key) -> QueryResult<Option<Blocker>>;
    /// Inserts jobs, all or none, minding their unique keys; the answers in the order given.
    fn enqueue(conn: &mut Self::Conn, jobs: &[NewJob]) -> Answer<Vec<Enqueued>>;
    /// Whether claimstore's own tables are there, in this library's version.
    fn schema(conn: &mut Self::Conn) -> Result<(), claimstore_migrations::SchemaProblem>;
    /// Looks at the table and the database for [`Store::verify`](crate::Store::verify). Writes nothing.
    fn verify<T: ClaimOn<Self>>(conn: &mut Self::Conn) -> QueryResult<crate::verify::Look>;

    /// Makes the pool throw this connection away.
    fn poison(conn: &mut Self::Conn) {
        <Self::Conn as Connection>::TransactionManager::transaction_manager_status_mut(conn).set_in_error();
    }

    /// What a table of this declaration is promised here.
    fn guarantees(declaration: &crate::Declaration) -> Guarantees {
        let columns = &declaration.columns;
        Guarantees {
            backend: Self::NAME,
            table: declaration.table,
            locks: Self::LOCKS,
            clock: Self::CLOCK,
            leases: columns.lease.is_some(),
            holders: columns.worker.is_some(),
            due_times: columns.due.is_some(),
            failure_budget: columns.failures.is_some(),
            crash_budget: columns.crashes.is_some(),
            late_writers: declaration.events,
            pauses: declaration.queues,
        }
    }
}

/// One value of the claim order, comparable as SQLite's binary collation compares.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub enum SortKey {
    /// NULL comes before everything.
    Null,
    /// A whole number.
    Integer(i64),
    /// A fraction.
    Real(f64),
    /// A text, by bytes.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}
