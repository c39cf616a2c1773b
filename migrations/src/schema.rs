//! Whether the tables fit this library.

use thiserror::Error;

/// The version that the table `claimstore_schema` names once all migrations of this library are applied.
pub const SCHEMA_VERSION: i32 = 2;

/// Why the tables do not fit this library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// There is no table `claimstore_schema` where unqualified names are looked up.
    #[error(
        "the tables of claimstore are missing: run store.migrate() or apply the exported migrations \
         (on PostgreSQL also see that search_path names their schema)"
    )]
    Missing,
    /// The tables are older than this library.
    #[error(
        "the schema is at version {found} and this library needs {wanted}: run store.migrate() or apply the \
         exported migrations"
    )]
    Older {
        /// What the database says; 0 if it says nothing.
        found: i32,
        /// What this library needs.
        wanted: i32,
    },
    /// The tables are newer than this library.
    #[error(
        "the schema is at version {found} and this library knows only {wanted}: this library is older than \
         the schema; upgrade claimstore"
    )]
    Newer {
        /// What the database says.
        found: i32,
        /// What this library knows.
        wanted: i32,
    },
    /// The role may not read the table.
    #[error("this role may not read claimstore_schema: grant it SELECT on the tables of claimstore")]
    Denied,
    /// The database could not answer.
    #[error("reading claimstore_schema failed: {source}")]
    Unreadable {
        /// What the database said.
        source: diesel::result::Error,
    },
}

/// Compares what was found, `None` for no table, with what this library needs.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn judge(found: Option<i32>) -> Result<(), SchemaProblem> {
    let wanted = SCHEMA_VERSION;
    match found {
        None => Err(SchemaProblem::Missing),
        Some(found) if found < wanted => Err(SchemaProblem::Older { found, wanted }),
        Some(found) if found > wanted => Err(SchemaProblem::Newer { found, wanted }),
        Some(_) => Ok(()),
    }
}
