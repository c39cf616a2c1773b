//! Migrating real SQLite files, alone and at once.

mod child;
mod contention;
mod kill;
mod lock;
mod refusal;
mod support;
mod up_down;
mod version_two;
