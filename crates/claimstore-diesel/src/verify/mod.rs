//! Whether a table, its database and the pool are fit for claims.
//!
//! [`Store::verify`] looks and never writes. Each [`Finding`] says how much it matters, what follows from it,
//! and what mends it: as a rule the very statement.

mod advice;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod explain;
mod finding;
mod pool;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod role;
mod rows;
mod sql_words;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;

use claimstore_core::StoreError;
use claimstore_migrations::SchemaProblem;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use diesel::QueryResult;

pub use finding::{Check, Finding, Report, Severity};

use crate::declaration::Declaration;
use crate::dialect::Dialect;
use crate::store::Store;
use crate::table::ClaimOn;

impl<T: ClaimOn<D>, D: Dialect> Store<T, D> {
    /// Looks whether this table, its database and this pool are fit for claims: columns and their types, CHECKs,
    /// indexes and the plan of the very claim statement, triggers, privileges and row-level security, settings
    /// and time limits, a bounded sample of rows, and what else has gone wrong for others.
    ///
    /// It reads, and writes nothing: on PostgreSQL in a transaction that is read-only. It may run beside
    /// workers, and takes one connection for some tens of short queries. Run it when a program starts, after a
    /// migration, or when claims are slow.
    ///
    /// It promises to find what its checks name, not that nothing else is wrong. Rows are looked at from both
    /// ends of the keys, five thousand each. On SQLite the file's integrity is not checked: that reads all of
    /// it; `PRAGMA quick_check` does. What this role may not see becomes a [`Severity::Notice`].
    ///
    /// # Errors
    /// [`StoreError`] where the database cannot be reached. What is found is never an error: ask
    /// [`Report::is_fit`].
    pub fn verify(&self) -> Result<Report, StoreError> {
        let call = self.call("verifying");
        let answer = self.living().and_then(|mut conn| {
            D::verify::<T>(&mut conn).map_err(|error| self.failed(&mut conn, call.doing(), error))
        });
        let look = call.done(answer)?;
        let mut findings = look.findings;
        findings.extend(pool::look(self.pool(), look.alone));
        Ok(Report::of(findings))
    }
}

/// What a dialect has found.
#[derive(Debug, Default)]
pub struct Look {
    pub(crate) findings: Vec<Finding>,
    /// The database can have only one connection.
    pub(crate) alone: bool,
}

/// The answer of one check. What could not be read costs only its own answer.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn take<D: Dialect>(
    what: &str,
    found: &mut Vec<Finding>,
    answer: QueryResult<Vec<Finding>>,
) -> QueryResult<()> {
    match answer {
        Ok(more) => found.extend(more),
        Err(error) if D::classify(&error, true).poisoned => return Err(error),
        Err(error) => found.push(Finding::unreadable(what, &error)),
    }
    Ok(())
}

/// Which of claimstore's own tables the declaration asks for, and how its calls answer without them.
fn own_tables(declaration: &Declaration, answer: Result<(), SchemaProblem>, grant: &str) -> Option<Finding> {
    let problem = match answer {
        _ if !declaration.events => return None,
        Ok(()) => return None,
        Err(problem) => problem,
    };
    let says = format!("{problem}; until then each call of this store fails");
    let mend = match problem {
        SchemaProblem::Denied => grant,
        SchemaProblem::Newer { .. } => "cargo update -p claimstore",
        _ => "store.migrate()?",
    };
    Some(Finding::error(Check::OwnTables, says).mend(mend))
}
