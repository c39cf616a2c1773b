//! What differs between the two databases under a harness.

use claimstore::{ClaimOn, Dialect, PgStore, SqliteOptions, SqliteStore, Store, Synchronous};
use claimstore_core::Timestamp;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel::{Connection, RunQueryDsl};

use super::Time;
use crate::postgres::TestSchema;
use crate::sqlite::TestFile;

/// A row as plain SQL reads it: instants in microseconds.
#[derive(Debug, diesel::QueryableByName)]
pub(super) struct RawRow {
    #[diesel(sql_type = Text)]
    pub(super) state: String,
    #[diesel(sql_type = BigInt)]
    pub(super) fence: i64,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) worker: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) claimed_at: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) lease: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) due: Option<i64>,
    #[diesel(sql_type = Nullable<Integer>)]
    pub(super) priority: Option<i32>,
    #[diesel(sql_type = Nullable<Integer>)]
    pub(super) failures: Option<i32>,
    #[diesel(sql_type = Nullable<Integer>)]
    pub(super) crashes: Option<i32>,
    #[diesel(sql_type = Nullable<Integer>)]
    pub(super) interruptions: Option<i32>,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) last_error: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) finished: Option<i64>,
}

/// An event as plain SQL reads it.
#[derive(Debug, diesel::QueryableByName)]
pub(super) struct RawEvent {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) at: i64,
    #[diesel(sql_type = Text)]
    pub(super) row_key: String,
    #[diesel(sql_type = Text)]
    pub(super) kind: String,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) worker: Option<String>,
    #[diesel(sql_type = BigInt)]
    pub(super) fence: i64,
    #[diesel(sql_type = Text)]
    pub(super) detail: String,
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    value: i64,
}

#[derive(diesel::QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    value: String,
}

mod sealed {
    /// Reading a whole row stays inside the harness.
    pub trait Rows: super::Dialect {
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn rows(conn: &mut Self::Conn, sql: &str) -> Vec<super::RawRow>;
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn raw_events(conn: &mut Self::Conn, sql: &str) -> Vec<super::RawEvent>;
    }
}
pub(super) use sealed::Rows;

/// A database for tests: where it lives, and how plain SQL is written there.
pub trait TestDialect: Dialect + Rows {
    /// Where one test's rows are: a file, a schema.
    type Place: Send + Sync;
    /// How this library's own tables hold an instant here.
    const OWN_TIME: Time;

    /// A place of its own.
    fn place() -> Self::Place;
    /// A connection there, not the store's.
    fn connect(place: &Self::Place) -> Self::Conn;
    /// A store there, on a pool of its own with so many connections.
    fn store<T: ClaimOn<Self>>(place: &Self::Place, connections: u32) -> Store<T, Self>;
    /// Begins a transaction that is going to write, as a caller should here.
    ///
    /// # Errors
    /// What `work` returned.
    fn begin<R, E: From<diesel::result::Error>>(
        conn: &mut Self::Conn,
        work: impl FnOnce(&mut Self::Conn) -> Result<R, E>,
    ) -> Result<R, E>;
    /// Sends a statement and counts the rows.
    ///
    /// # Errors
    /// What the database said.
    fn run(conn: &mut Self::Conn, sql: &str) -> diesel::QueryResult<usize>;
    /// A number called `value`.
    fn number(conn: &mut Self::Conn, sql: &str) -> i64;
    /// Texts called `value`.
    fn texts(conn: &mut Self::Conn, sql: &str) -> Vec<String>;
    /// The deciding clock.
    fn now_of(conn: &mut Self::Conn) -> Timestamp;
    /// A column in microseconds.
    fn micros(column: &str, time: Time) -> String;
    /// An instant as a column holds it.
    fn literal(at: Timestamp, time: Time) -> String;
}

macro_rules! plain_sql {
    () => {
        fn run(conn: &mut Self::Conn, sql: &str) -> diesel::QueryResult<usize> {
            diesel::sql_query(sql).execute(conn)
        }
        fn number(conn: &mut Self::Conn, sql: &str) -> i64 {
            let number: Number =
                diesel::sql_query(sql).get_result(conn).unwrap_or_else(|why| panic!("{sql}: {why}"));
            number.value
        }
        fn texts(conn: &mut Self::Conn, sql: &str) -> Vec<String> {
            let lines: Vec<Line> =
                diesel::sql_query(sql).load(conn).unwrap_or_else(|why| panic!("{sql}: {why}"));
            lines.into_iter().map(|line| line.value).collect()
        }
    };
}

macro_rules! plain_rows {
    ($($dialect:ty),*) => {$(
        #[allow(private_interfaces)]
        impl Rows for $dialect {
            fn rows(conn: &mut Self::Conn, sql: &str) -> Vec<RawRow> {
                diesel::sql_query(sql).load(conn).unwrap_or_else(|why| panic!("{sql}: {why}"))
            }
            fn raw_events(conn: &mut Self::Conn, sql: &str) -> Vec<RawEvent> {
                diesel::sql_query(sql).load(conn).unwrap_or_else(|why| panic!("{sql}: {why}"))
            }
        }
    )*};
}
plain_rows!(Pg, Sqlite);

impl TestDialect for Pg {
    type Place = TestSchema;
    const OWN_TIME: Time = Time::Zoned;

    fn place() -> TestSchema {
        crate::postgres::fresh()
    }

    fn connect(place: &TestSchema) -> Self::Conn {
        place.connect()
    }

    fn store<T: ClaimOn<Pg>>(place: &TestSchema, connections: u32) -> PgStore<T> {
        PgStore::new(place.pool(connections))
    }

    fn begin<R, E: From<diesel::result::Error>>(
        conn: &mut Self::Conn,
        work: impl FnOnce(&mut Self::Conn) -> Result<R, E>,
    ) -> Result<R, E> {
        conn.transaction(work)
    }

    plain_sql!();

    fn now_of(conn: &mut Self::Conn) -> Timestamp {
        let clock = Self::micros("clock_timestamp()", Time::Zoned);
        Timestamp::from_micros(Self::number(conn, &format!("SELECT {clock} AS value")))
    }

    fn micros(column: &str, time: Time) -> String {
        match time {
            Time::Zoned => format!("(extract(epoch FROM {column}) * 1000000)::bigint"),
            Time::Plain => format!("(extract(epoch FROM {column} AT TIME ZONE 'UTC') * 1000000)::bigint"),
            Time::Micros => column.to_owned(),
            Time::Text => panic!("no instants as text on PostgreSQL"),
        }
    }

    fn literal(at: Timestamp, time: Time) -> String {
        match time {
            Time::Zoned => format!("timestamptz '{at}'"),
            Time::Plain => format!("(timestamptz '{at}' AT TIME ZONE 'UTC')"),
            Time::Micros => at.as_micros().to_string(),
            Time::Text => panic!("no instants as text on PostgreSQL"),
        }
    }
}

impl TestDialect for Sqlite {
    type Place = TestFile;
    const OWN_TIME: Time = Time::Micros;

    fn place() -> TestFile {
        TestFile::fresh()
    }

    fn connect(place: &TestFile) -> Self::Conn {
        let mut conn = place.connect();
        conn.batch_execute("PRAGMA busy_timeout = 20000; PRAGMA synchronous = NORMAL").expect("pragmas");
        conn
    }

    fn store<T: ClaimOn<Sqlite>>(place: &TestFile, connections: u32) -> SqliteStore<T> {
        let options = SqliteOptions::default().connections(connections).synchronous(Synchronous::Normal);
        SqliteStore::open_with(place.url(), options).expect("a new file opens")
    }

    fn begin<R, E: From<diesel::result::Error>>(
        conn: &mut Self::Conn,
        work: impl FnOnce(&mut Self::Conn) -> Result<R, E>,
    ) -> Result<R, E> {
        conn.immediate_transaction(work)
    }

    plain_sql!();

    fn now_of(_: &mut Self::Conn) -> Timestamp {
        Timestamp::of_this_host()
    }

    fn micros(column: &str, time: Time) -> String {
        match time {
            Time::Text => format!(
                "(CAST(strftime('%s', substr({column}, 1, 19)) AS INTEGER) * 1000000 \
                 + CAST(substr({column}, 21, 6) AS INTEGER))"
            ),
            _ => column.to_owned(),
        }
    }

    fn literal(at: Timestamp, time: Time) -> String {
        match time {
            // 2026-01-31T12:00:00.000000Z
            Time::Text => format!("'{}'", at.to_string().replace('T', " ").trim_end_matches('Z')),
            _ => at.as_micros().to_string(),
        }
    }
}
