//! `cargo xtask bench`: what a long history costs: operators who look at the table, and claimers beside its
//! retention.
//!
//! All is told as ratios of two measurements that take turns on the same machine, since the machine is shared
//! and the absolute numbers are its own.

mod looking;
mod retention;
mod rows;

use std::time::Duration;

use claimstore::{Job, PgStore, SqliteStore};
use claimstore_tests::postgres::{TestSchema, fresh};
use claimstore_tests::sqlite::TestFile;

fn main() {
    // `cargo bench` hands flags to every bench; the one word that is ours chooses the database.
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        let [few, many] = [(); 2].map(|()| on_sqlite());
        looking::bench("SQLite", [&few.0, &many.0], [&few.1, &many.1]);
        let (store, file) = on_sqlite();
        retention::bench("SQLite, WAL, synchronous FULL", &store, &file);
    }
    if wanted("postgres") {
        let [few, many] = [(); 2].map(|()| on_postgres());
        looking::bench("PostgreSQL", [&few.0, &many.0], [&few.1, &many.1]);
        let (store, schema) = on_postgres();
        retention::bench("PostgreSQL", &store, &schema);
    }
}

fn on_postgres() -> (PgStore<Job>, TestSchema) {
    let schema = fresh();
    let store = PgStore::<Job>::new(schema.pool(4));
    store.migrate().expect("migrated");
    (store, schema)
}

fn on_sqlite() -> (SqliteStore<Job>, TestFile) {
    let file = TestFile::fresh();
    let store = SqliteStore::<Job>::open(file.url()).expect("opened");
    store.migrate().expect("migrated");
    (store, file)
}

/// The middle one.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}
