//! Where the database is: a file or a schema of this run's own, removed at its end.

use std::env;
use std::process::Command;
use std::time::Duration;

use claimstore::{PgStore, SqliteOptions, SqliteStore, Synchronous};
use diesel::connection::SimpleConnection;
use diesel::r2d2::{ConnectionManager, CustomizeConnection, Error as PoolError, Pool};
use diesel::{Connection, PgConnection};
use tempfile::TempDir;

use crate::Failure;
use crate::database::Database;

/// Each process works with few connections: it is one thread.
const CONNECTIONS: u32 = 2;

const FILE: &str = "CHECKSUMS_FILE";
const SERVER: &str = "CHECKSUMS_SERVER";
const SCHEMA: &str = "CHECKSUMS_SCHEMA";

/// How a process finds the database.
#[derive(Clone)]
pub(crate) enum Address {
    File(String),
    Server { url: String, schema: String },
}

impl Address {
    /// Handed down in the environment, where other users do not see the password.
    pub(crate) fn hand_to(&self, command: &mut Command) {
        match self {
            Address::File(path) => command.env(FILE, path),
            Address::Server { url, schema } => command.env(SERVER, url).env(SCHEMA, schema),
        };
    }

    pub(crate) fn from_environment() -> Option<Self> {
        let file = env::var(FILE).ok().map(Address::File);
        file.or_else(|| Some(Address::Server { url: env::var(SERVER).ok()?, schema: env::var(SCHEMA).ok()? }))
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Database>, Failure> {
        Ok(match self {
            // The file does not outlive this run, so its commits need not survive a power loss.
            Address::File(path) => Box::new(SqliteStore::open_with(
                path,
                SqliteOptions::default().connections(CONNECTIONS).synchronous(Synchronous::Normal),
            )?),
            Address::Server { url, schema } => Box::new(PgStore::new(
                Pool::builder()
                    .max_size(CONNECTIONS)
                    .min_idle(Some(0))
                    .test_on_check_out(false)
                    .connection_timeout(Duration::from_secs(15))
                    .connection_customizer(Box::new(InSchema(schema.clone())))
                    .build(ConnectionManager::new(url))?,
            )),
        })
    }
}

/// Sets the schema, and the name by which the connections are found at the end.
#[derive(Debug)]
struct InSchema(String);

impl CustomizeConnection<PgConnection, PoolError> for InSchema {
    fn on_acquire(&self, conn: &mut PgConnection) -> Result<(), PoolError> {
        let name = &self.0;
        conn.batch_execute(&format!("SET search_path = {name}; SET application_name = {name}"))
            .map_err(PoolError::QueryError)
    }
}

/// Removes what it made when it is dropped.
pub(crate) struct Place {
    pub(crate) address: Address,
    _directory: Option<TempDir>,
}

impl Place {
    pub(crate) fn new(server: Option<String>) -> Result<Self, Failure> {
        let Some(url) = server else {
            let directory = tempfile::Builder::new().prefix("claimstore-checksums-").tempdir()?;
            let file = directory.path().join("jobs.db");
            let file = file.to_str().ok_or("the directory for temporary files has no UTF-8 name")?;
            return Ok(Self { address: Address::File(file.to_owned()), _directory: Some(directory) });
        };
        let random: String = std::iter::repeat_with(|| fastrand::digit(36)).take(12).collect();
        let schema = format!("claimstore_checksums_{random}");
        PgConnection::establish(&url)?.batch_execute(&format!("CREATE SCHEMA {schema}"))?;
        Ok(Self { address: Address::Server { url, schema }, _directory: None })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Address::Server { url, schema } = &self.address else { return };
        // A worker that was killed may have left a session that the server has not noticed yet.
        let drop = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{schema}';
             SET lock_timeout = '10s';
             SET client_min_messages = warning;
             DROP SCHEMA {schema} CASCADE"
        );
        let dropped = PgConnection::establish(url)
            .map_err(|why| why.to_string())
            .and_then(|mut conn| conn.batch_execute(&drop).map_err(|why| why.to_string()));
        if let Err(why) = dropped {
            eprintln!("schema {schema} stays behind: {why}");
        }
    }
}
