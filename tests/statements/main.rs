//! What becomes of the statements on a server: their plans, their preparation, and other clients.

mod asynchronous;
mod bounded;
mod due;
mod file;
mod load;
mod loaded;
mod mix;
mod old_snapshot;
mod operators;
mod operators_sqlite;
mod pages;
mod plan;
mod planned_once;
mod plans;
mod plans_sqlite;
mod prepared_once;
#[path = "../pinned/tables.rs"]
#[allow(dead_code)]
mod tables;
mod work;
