//! Migrating PostgreSQL, alone and at once. SQLite's half stands beside the migrations themselves.

mod child;
mod contention;
mod kill;
mod lock;
mod refusal;
mod support;
mod up_down;
mod version_two;
