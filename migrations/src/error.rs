//! What came of a migration.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use thiserror::Error;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::SchemaProblem;

/// What was done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The versions that this call applied or took down, in this order. Empty if there was nothing left
    /// to do, for instance because another process did it first.
    pub versions: Vec<String>,
    /// How long the call took, the wait for others included.
    pub took: Duration,
}

/// Why nothing was migrated. Whatever the reason, the database is as it was before the call; only when the
/// connection broke during the commit it may have happened all the same, and running it again tells.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// Others held the lock until the time was over.
    #[error(
        "gave up after {waited:.1?}: {holder}; nothing was changed: end that process or allow more time, \
         and run it again"
    )]
    Locked {
        /// How long it waited.
        waited: Duration,
        /// For whom.
        holder: LockHolder,
    },
    /// The tables are newer than this library.
    #[error(
        "the schema is at version {found} and this library knows only {wanted}: this library is older than \
         the schema; upgrade claimstore; nothing was changed"
    )]
    Newer {
        /// What the database says.
        found: i32,
        /// What this library knows.
        wanted: i32,
    },
    /// Diesel's table records all migrations, but the tables say otherwise.
    #[error(
        "__diesel_schema_migrations records every migration of claimstore, but its tables are {}: if they \
         were dropped by hand, delete the rows 0000claimstore% from __diesel_schema_migrations and run it again",
        match .found { None => "missing".to_owned(), Some(n) => format!("at version {n}") }
    )]
    Inconsistent {
        /// What the table `claimstore_schema` says, `None` if it is missing.
        found: Option<i32>,
    },
    /// PostgreSQL has no schema to create tables in.
    #[error("search_path names no existing schema: create the schema or change search_path")]
    NoSchema,
    /// The connection is inside a transaction. The lock would live as long as that one, and its snapshot
    /// may be older than what other processes did.
    #[error("the connection is inside a transaction: migrate on a connection of its own")]
    InTransaction,
    /// A migration failed. All of them were rolled back.
    #[error("migration {version} failed and nothing was changed: {source}")]
    Failed {
        /// Its version, as in `__diesel_schema_migrations`.
        version: String,
        /// What the database said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The database failed beside the migrations themselves.
    #[error("{doing} failed: {source}; if the connection is sound, see that this role may create tables")]
    Database {
        /// At which step.
        doing: &'static str,
        /// What the database said.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Who holds what a migration waits for.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum LockHolder {
    /// A session of the PostgreSQL server.
    Session {
        /// The server process that serves it; `pg_terminate_backend` takes it.
        pid: i32,
        /// The name that the session gave itself, empty if none.
        application_name: String,
        /// How long its transaction has been open by the server's clock. `None` where this role may not
        /// see it.
        open_for: Option<Duration>,
    },
    /// Another connection to the SQLite file. SQLite does not say which.
    File,
    /// Nobody could be named: the lock was free again before one could look.
    Unknown,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockHolder::Session { pid, application_name, open_for } => {
                write!(f, "the migration lock is held by pid {pid} (application {application_name:?}")?;
                if let Some(open_for) = open_for {
                    write!(f, ", in a transaction open for {open_for:.1?}")?;
                }
                write!(f, ")")
            }
            LockHolder::File => {
                write!(
                    f,
                    "another connection holds the lock of the database file (SQLite does not say which)"
                )
            }
            LockHolder::Unknown => write!(f, "the migration lock was held by others in turn"),
        }
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl MigrateError {
    pub(crate) fn database(doing: &'static str) -> impl FnOnce(diesel::result::Error) -> MigrateError {
        move |source| MigrateError::Database { doing, source: Box::new(source) }
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl From<SchemaProblem> for MigrateError {
    fn from(problem: SchemaProblem) -> Self {
        match problem {
            SchemaProblem::Newer { found, wanted } => MigrateError::Newer { found, wanted },
            SchemaProblem::Unreadable { source } => {
                MigrateError::database("reading claimstore_schema")(source)
            }
            other => MigrateError::Database { doing: "reading claimstore_schema", source: Box::new(other) },
        }
    }
}
