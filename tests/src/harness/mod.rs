//! Stores under test over real tables, prepared and read by plain SQL.
//!
//! A [`Db`] commits for real, in a file or schema of its own. It reads through a connection of its own, by
//! SQL text made from a [`Spec`] that was written down by hand: neither the stores, nor their statements, nor
//! what the derive has made of a declaration has a part in it.

mod database;
mod db;
mod key;
mod schema;
mod spec;
mod tables;

use claimstore::Store;
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;

pub use database::TestDialect;
pub use db::Db;
pub use key::TestKey;
pub use spec::{Spec, Time};
pub use tables::{Invoice, Letter, Minimal, Pallet, Parcel, TestTable, Ticket};

/// A table `T` on PostgreSQL, in a schema of its own.
pub type PgDb<T> = Db<Store<T, Pg>, Pg>;
/// A table `T` in an SQLite file of its own.
pub type SqliteDb<T> = Db<Store<T, Sqlite>, Sqlite>;
