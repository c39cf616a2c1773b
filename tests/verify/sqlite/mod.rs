//! On SQLite.

mod columns;
mod file;
mod plans;
mod pragmas;
mod values;

use diesel::sqlite::Sqlite;

use crate::bench::Bench;
use crate::tables::{TASKS_SQLITE, Task};

pub(crate) fn sound() -> Bench<Task, Sqlite> {
    Bench::of(TASKS_SQLITE)
}

/// A table that is made in another way: SQLite alters little.
pub(crate) fn made(change: impl Fn(&str) -> String) -> Bench<Task, Sqlite> {
    let changed = change(TASKS_SQLITE);
    assert_ne!(changed, TASKS_SQLITE);
    Bench::of_any(&changed, TASKS_SQLITE)
}
