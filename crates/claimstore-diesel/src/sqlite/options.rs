//! How SQLite connections are set up.

use std::time::Duration;

use claimstore_core::{StoreError, StoreErrorKind};
use diesel::connection::SimpleConnection;
use diesel::r2d2::{CustomizeConnection, Error as PoolError};
use diesel::result::Error;
use diesel::sql_types::Text;
use diesel::{QueryResult, RunQueryDsl, SqliteConnection};

use super::transaction::retried_until;
use super::{SqlitePool, filesystem};

/// How each connection is set up: wait for a busy file, WAL, sync. Use it with
/// [`SqliteStore::open_with`](crate::SqliteStore::open_with), or as `connection_customizer` of a pool of
/// your own.
///
/// The order matters: `busy_timeout` comes first, so that everything after it waits instead of failing
/// (field report H33). The switch to WAL is checked, not assumed (H36).
#[derive(Debug, Clone, Copy)]
pub struct SqliteOptions {
    pub(super) connections: u32,
    busy: Duration,
    synchronous: Synchronous,
    network: bool,
}

/// `PRAGMA synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// A commit survives a power loss. The default.
    Full,
    /// A commit survives a crash of the process; a power loss may take the last commits back (never half
    /// of one). A claim taken back that way can be claimed again.
    Normal,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions {
            connections: 4,
            busy: Duration::from_secs(5),
            synchronous: Synchronous::Full,
            network: false,
        }
    }
}

impl SqliteOptions {
    /// Up to this many connections, 4 unless set. One writes at a time; the others read.
    #[must_use]
    pub fn connections(self, connections: u32) -> Self {
        SqliteOptions { connections: connections.max(1), ..self }
    }

    /// How long a statement waits for a busy file, 5 seconds unless set.
    #[must_use]
    pub fn busy_timeout(self, busy: Duration) -> Self {
        SqliteOptions { busy, ..self }
    }

    /// When a commit is safe.
    #[must_use]
    pub fn synchronous(self, synchronous: Synchronous) -> Self {
        SqliteOptions { synchronous, ..self }
    }

    /// Opens a file on a network file system in spite of the danger: WAL needs memory shared on one host,
    /// and locks over a network are unreliable.
    #[must_use]
    pub fn allow_network_file_system(self) -> Self {
        SqliteOptions { network: true, ..self }
    }

    pub(super) fn check_path(&self, path: &str) -> Result<(), StoreError> {
        if path.is_empty() {
            return Err(refused("an empty path is a nameless temporary database; name a file".to_owned()));
        }
        let uri = path.starts_with("file:");
        if uri && path.contains("cache=shared") {
            return Err(refused(format!(
                "{path} shares its cache: connections then fail with \"table is locked\" without waiting; \
                 use a file, or :memory: with one connection"
            )));
        }
        if self.network || is_in_memory(path) {
            return Ok(());
        }
        match filesystem::network_type(path) {
            Some(kind) => Err(refused(format!(
                "{path} lies on a network file system ({kind}), where SQLite's locks and WAL are unreliable; \
                 move it to a local disk, or say allow_network_file_system"
            ))),
            None => Ok(()),
        }
    }

    fn set_up(&self, conn: &mut SqliteConnection) -> QueryResult<()> {
        conn.batch_execute(&format!(
            "PRAGMA busy_timeout = {}",
            self.busy.as_millis().min(i32::MAX as u128)
        ))?;
        let mode = retried_until(self.busy, || to_wal(conn))?;
        if mode != "wal" && mode != "memory" {
            let why =
                format!("the journal mode stayed {mode}; the folder must be writable and local for WAL");
            return Err(Error::QueryBuilderError(why.into()));
        }
        let synchronous = match self.synchronous {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
        };
        conn.batch_execute(&format!("PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON"))
    }
}

impl CustomizeConnection<SqliteConnection, PoolError> for SqliteOptions {
    fn on_acquire(&self, conn: &mut SqliteConnection) -> Result<(), PoolError> {
        self.set_up(conn).map_err(PoolError::QueryError)
    }
}

#[derive(diesel::QueryableByName)]
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

/// Asks first: a file that is in WAL already needs no lock to stay there.
fn to_wal(conn: &mut SqliteConnection) -> QueryResult<String> {
    let now: JournalMode = diesel::sql_query("PRAGMA journal_mode").get_result(conn)?;
    if now.journal_mode == "wal" {
        return Ok(now.journal_mode);
    }
    let now: JournalMode = diesel::sql_query("PRAGMA journal_mode = WAL").get_result(conn)?;
    Ok(now.journal_mode)
}

pub(super) fn is_in_memory(path: &str) -> bool {
    path == ":memory:"
        || (path.starts_with("file:") && (path.contains(":memory:") || path.contains("mode=memory")))
}

#[derive(diesel::QueryableByName)]
struct Database {
    #[diesel(sql_type = Text)]
    file: String,
}

/// Each connection to a database in memory sees an empty one of its own (field report H38).
pub(super) fn check_pool(pool: &SqlitePool) -> Result<(), StoreError> {
    if pool.max_size() == 1 {
        return Ok(());
    }
    let mut conn =
        pool.get().map_err(|why| StoreError::new(StoreErrorKind::Unavailable, "connecting", why))?;
    let main: Database = diesel::sql_query("SELECT file FROM pragma_database_list WHERE name = 'main'")
        .get_result(&mut conn)
        .map_err(|why| StoreError::new(StoreErrorKind::Other, "asking for the file", why))?;
    if main.file.is_empty() {
        return Err(refused(
            "a database in memory with more than one connection: each would see an empty one of its own; \
             give the pool max_size(1), or use a file"
                .to_owned(),
        ));
    }
    Ok(())
}

fn refused(why: String) -> StoreError {
    StoreError::new(StoreErrorKind::Input, "opening the database", why)
}
