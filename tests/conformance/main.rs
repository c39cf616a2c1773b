//! Every scenario of the testkit over real tables: in memory, in SQLite files and on PostgreSQL.

mod model;
mod often;
mod pause;
mod processes;
mod reference;
mod scenarios;
mod transaction;
