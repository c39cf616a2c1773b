//! `verify()`: a sound table has nothing but notices, and a table that is broken in one way has that one finding
//! more, until what mends it is done.

mod bench;
mod fresh;
mod pool;
mod postgres;
mod sqlite;
mod tables;
