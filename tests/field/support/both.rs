//! The same test on both databases: what a test may know of the one it runs on.

use std::time::Duration;

use claimstore::core::StoreError;
use claimstore::{Dialect, Job, PgStore, SqliteOptions, SqliteStore, Store};
use claimstore_tests::postgres::{TestSchema, fresh};
use claimstore_tests::sqlite::TestFile;
use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::pg::Pg;
use diesel::r2d2::{ConnectionManager, Pool};
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, RunQueryDsl, SqliteConnection};

/// A connection of a database under test.
pub(crate) type Conn<B> = <<B as Database>::D as Dialect>::Conn;

/// A pool that is asked for one connection too many says so soon.
const SOON: Duration = Duration::from_secs(5);

/// A migrated database with a store on it, and a way to its rows that is not the store.
pub(crate) trait Database: Sized + Send + Sync {
    type D: Dialect;

    /// Fresh, with a store on a pool of this size.
    fn fresh(connections: u32) -> Self;
    fn store(&self) -> &Store<Job, Self::D>;
    /// Another store on the same rows.
    fn another(&self, connections: u32) -> Store<Job, Self::D>;
    /// A plain connection.
    fn connect(&self) -> Conn<Self>;
    /// The column `text` of a query.
    fn texts_on(conn: &mut Conn<Self>, sql: &str) -> Vec<String>;
    /// An instant in SQL, from microseconds since 1970.
    fn instant(micros: i64) -> String;
    /// The present in SQL, this many seconds later.
    fn now_plus(seconds: i64) -> String;
    /// A span in SQL that can be added to an instant.
    fn an_hour() -> &'static str;
    /// The instant after all others and the one before all others, in SQL.
    const EXTREMES: [&'static str; 2];

    fn texts(&self, sql: &str) -> Vec<String> {
        Self::texts_on(&mut self.connect(), sql)
    }

    fn run(&self, sql: &str) {
        use diesel::connection::SimpleConnection;
        self.connect().batch_execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn count(&self, of: &str) -> i64 {
        self.texts(&format!("SELECT CAST(count(*) AS TEXT) AS text FROM {of}"))[0].parse().expect("a number")
    }

    /// All claim columns of a row, as one text: equal where nothing was written.
    fn row(&self, id: i64) -> String {
        let optional = ["worker", "claimed_at", "lease", "last_error", "finished_at"]
            .map(|column| format!("coalesce(CAST({column} AS TEXT), '-')"));
        let always = ["state", "due", "fence", "failures", "crashes", "interruptions"]
            .map(|column| format!("CAST({column} AS TEXT)"));
        let columns = [always.as_slice(), optional.as_slice()].concat().join(" || ' ' || ");
        let rows = self.texts(&format!("SELECT {columns} AS text FROM claimstore_jobs WHERE id = {id}"));
        rows.into_iter().next().unwrap_or_else(|| "gone".to_owned())
    }

    fn state(&self, id: i64) -> String {
        self.row(id).split(' ').next().unwrap_or_default().to_owned()
    }

    /// Lets the leases of these running rows have ended an hour ago.
    fn expire(&self, ids: &[i64]) {
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let hour_ago = Self::now_plus(-3600);
        self.run(&format!("UPDATE claimstore_jobs SET lease = {hour_ago} WHERE id IN ({})", ids.join(", ")));
    }
}

#[derive(diesel::QueryableByName)]
struct Line {
    #[diesel(sql_type = diesel::sql_types::Text)]
    text: String,
}

macro_rules! texts {
    ($conn:expr, $sql:expr) => {{
        let lines: Result<Vec<Line>, _> = diesel::sql_query($sql).load($conn);
        let lines = lines.unwrap_or_else(|error| panic!("{}: {error}", $sql));
        lines.into_iter().map(|line| line.text).collect()
    }};
}

/// A pool without a library setting on it.
pub(crate) fn pg_pool(url: &str, connections: u32) -> claimstore::PgPool {
    Pool::builder()
        .max_size(connections)
        .min_idle(Some(0))
        .test_on_check_out(false)
        .connection_timeout(SOON)
        .build(ConnectionManager::<PgConnection>::new(url))
        .expect("a pool opens nothing yet")
}

pub(crate) struct OnPostgres {
    pub(crate) schema: TestSchema,
    store: PgStore<Job>,
}

impl Database for OnPostgres {
    type D = Pg;
    const EXTREMES: [&'static str; 2] = ["'infinity'", "'-infinity'"];

    fn fresh(connections: u32) -> Self {
        let schema = fresh();
        let store = PgStore::new(pg_pool(&schema.url(), connections));
        store.migrate().expect("it migrates");
        OnPostgres { schema, store }
    }

    fn store(&self) -> &PgStore<Job> {
        &self.store
    }

    fn another(&self, connections: u32) -> PgStore<Job> {
        PgStore::new(pg_pool(&self.schema.url(), connections))
    }

    fn connect(&self) -> PgConnection {
        self.schema.connect()
    }

    fn texts_on(conn: &mut PgConnection, sql: &str) -> Vec<String> {
        texts!(conn, sql)
    }

    fn instant(micros: i64) -> String {
        // A number times an interval would be rounded.
        let (seconds, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
        format!("(to_timestamp({seconds}) + interval '{micros} microseconds')")
    }

    fn an_hour() -> &'static str {
        "interval '1 hour'"
    }

    fn now_plus(seconds: i64) -> String {
        format!("clock_timestamp() + interval '{seconds} seconds'")
    }
}

pub(crate) struct OnSqlite {
    store: SqliteStore<Job>,
    pub(crate) file: TestFile,
}

impl OnSqlite {
    pub(crate) fn open(file: &TestFile, connections: u32) -> Result<SqliteStore<Job>, StoreError> {
        let options = SqliteOptions::default().connections(connections);
        let pool = Pool::builder()
            .max_size(connections)
            .min_idle(Some(0))
            .test_on_check_out(false)
            .connection_timeout(SOON)
            .connection_customizer(Box::new(options))
            .build(ConnectionManager::<SqliteConnection>::new(file.url()))
            .expect("a pool opens nothing yet");
        SqliteStore::new(pool)
    }
}

impl Database for OnSqlite {
    type D = Sqlite;
    const EXTREMES: [&'static str; 2] = ["9223372036854775807", "(-9223372036854775807 - 1)"];

    fn fresh(connections: u32) -> Self {
        let file = TestFile::fresh();
        let store = Self::open(&file, connections).expect("a new file");
        store.migrate().expect("it migrates");
        OnSqlite { store, file }
    }

    fn store(&self) -> &SqliteStore<Job> {
        &self.store
    }

    fn another(&self, connections: u32) -> SqliteStore<Job> {
        Self::open(&self.file, connections).expect("the file is there")
    }

    fn connect(&self) -> SqliteConnection {
        self.file.connect()
    }

    fn texts_on(conn: &mut SqliteConnection, sql: &str) -> Vec<String> {
        texts!(conn, sql)
    }

    fn instant(micros: i64) -> String {
        micros.to_string()
    }

    fn an_hour() -> &'static str {
        "3600000000"
    }

    fn now_plus(seconds: i64) -> String {
        format!("CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + {}", seconds * 1_000_000)
    }
}

/// Opens a transaction that outlives the calls in it, known to Diesel, so that the library's own become
/// savepoints.
pub(crate) fn begin(conn: &mut PgConnection) {
    AnsiTransactionManager::begin_transaction(conn).expect("it begins");
}

pub(crate) fn commit(conn: &mut PgConnection) {
    AnsiTransactionManager::commit_transaction(conn).expect("it commits");
}

pub(crate) fn roll_back(conn: &mut PgConnection) {
    AnsiTransactionManager::rollback_transaction(conn).expect("it rolls back");
}

/// The id of the server process behind a connection.
pub(crate) fn backend_pid(conn: &mut PgConnection) -> String {
    OnPostgres::texts_on(conn, "SELECT pg_backend_pid()::text AS text").remove(0)
}

/// Whether some connection of this test waits for a lock of that one.
pub(crate) fn waits_for(db: &OnPostgres, pid: &str) -> bool {
    let name = db.schema.name();
    db.count(&format!(
        "pg_stat_activity WHERE application_name = '{name}' AND {pid} = ANY (pg_blocking_pids(pid))"
    )) > 0
}

/// A connection that nothing may wait on for long.
pub(crate) fn impatient(schema: &TestSchema) -> String {
    schema.server_url().clone().with_setting("statement_timeout", "20s").in_full()
}
