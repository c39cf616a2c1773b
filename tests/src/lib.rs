//! Where the suites of claimstore get their databases from.
//!
//! * [`postgres::fresh`] gives a test a schema of its own on the one PostgreSQL of its process,
//!   [`postgres::fresh_database`] a whole database.
//! * [`sqlite::TestFile`] gives a test a database file of its own.
//!
//! Both commit for real; nothing here wraps a test in a transaction. A test that needs a PostgreSQL
//! and finds none fails and says what to install or set. It never passes by doing nothing.

mod scratch;

pub mod harness;
pub mod postgres;
pub mod sqlite;
