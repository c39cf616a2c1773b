//! What becomes of the statements on a server: their plans, their preparation, and other clients.

mod asynchronous;
mod due;
mod pages;
mod plan;
mod plans;
mod plans_sqlite;
mod prepared_once;
#[path = "../pinned/tables.rs"]
#[allow(dead_code)]
mod tables;
mod work;
