//! On PostgreSQL.

mod columns;
mod constraints;
mod plans;
mod rights;
mod rows;
mod settings;
mod table;
mod vacuum;

use diesel::pg::Pg;

use crate::bench::Bench;
use crate::tables::{TASKS_POSTGRES, Task};

pub(crate) fn sound() -> Bench<Task, Pg> {
    Bench::of(TASKS_POSTGRES)
}
