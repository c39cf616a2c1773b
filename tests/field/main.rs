//! What went wrong elsewhere, as tests: the field reports that are about one database, the pool, processes,
//! or an interleaving that has to be forced. The others are scenarios of the testkit.

mod busy;
mod claims;
mod clock;
mod connections;
mod files;
mod isolation;
mod limits;
mod order;
mod overwrite;
mod plans;
mod poison;
mod pool;
mod spans;
mod stuck;
mod support;
mod transactions;
mod unique;
mod zones;
