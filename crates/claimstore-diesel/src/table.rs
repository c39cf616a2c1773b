//! What `#[derive(ClaimTable)]` implements.

use std::any::Any;
use std::fmt::Debug;
use std::hash::Hash;

use diesel::QueryResult;
use diesel::deserialize;
use diesel::query_builder::AstPass;
use diesel::row::Row;

use crate::declaration::Declaration;
use crate::dialect::Dialect;
use crate::query::{Given, TableText};

/// A row model whose table can be claimed from. Implemented by `#[derive(ClaimTable)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no claimable table",
    label = "not a claimable table",
    note = "add `#[derive(ClaimTable)]` and `#[claim(…)]` to the row model"
)]
pub trait ClaimTable: Sized + Send + Sync + 'static {
    /// What names a row.
    type Key: Clone + Eq + Ord + Hash + Debug + Send + Sync + 'static;
    /// Columns and words.
    const DECLARATION: Declaration;
    /// This row's key.
    fn key(&self) -> Self::Key;
    /// A key for people, in messages and events: a text as it is, anything else as it is debugged.
    fn key_text(key: &Self::Key) -> String {
        match (key as &dyn Any).downcast_ref::<String>() {
            Some(text) => text.clone(),
            None => format!("{key:?}"),
        }
    }
}

/// A claimable table on one database.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared for this database",
    label = "not declared for this database",
    note = "name the database in `#[claim(backend(postgres, sqlite))]`"
)]
pub trait ClaimOn<D: Dialect>: ClaimTable {
    /// The table's parts in this database's SQL, rendered once.
    fn text() -> &'static TableText<D>;
    /// Binds a key.
    fn bind_key<'b>(key: &'b Self::Key, out: &mut AstPass<'_, 'b, D>) -> QueryResult<()>;
    /// Binds the keys of several rows (PostgreSQL), or all that is given of them (SQLite).
    fn bind_given<'b>(given: &'b Given<Self::Key>, out: &mut AstPass<'_, 'b, D>) -> QueryResult<()>;
    /// How many fields the row model is read from.
    fn row_fields() -> usize;
    /// Reads the row model from the first fields.
    fn read_row<'a>(row: &impl Row<'a, D>) -> deserialize::Result<Self>;
    /// Reads a key from the field at this place.
    fn read_key<'a>(row: &impl Row<'a, D>, at: usize) -> deserialize::Result<Self::Key>;
}

/// A claimable table of which is recorded in `claimstore_events` what happens beyond the ordinary.
#[diagnostic::on_unimplemented(
    message = "table `{Self}` keeps no events",
    label = "keeps no events",
    note = "add `events` to `#[claim(…)]` and claimstore's own tables to the database"
)]
pub trait KeepsEvents: ClaimTable {}

/// A claimable table whose queues and kinds can be paused, as `claimstore_queues` says.
#[diagnostic::on_unimplemented(
    message = "nothing is set for the queues and kinds of table `{Self}`",
    label = "does not look at `claimstore_queues`",
    note = "add `queues` to `#[claim(…)]` and claimstore's own tables to the database"
)]
pub trait KeepsQueues: ClaimTable {}
