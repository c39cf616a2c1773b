use claimstore::ClaimTable;
use diesel::{Queryable, Selectable};

diesel::table! {
    things (id) {
        id -> BigInt,
        state -> Text,
        fence -> BigInt,
        worker -> Nullable<Text>,
        lease -> Nullable<BigInt>,
        due -> BigInt,
        failures -> Integer,
        max_failures -> Integer,
        weight -> Double,
        hash -> Binary,
    }
}

#[derive(Queryable, Selectable, ClaimTable)]
#[diesel(table_name = things)]
#[claim(backend(sqlite), key = id, fence = fence)]
#[claim(state(state, pending("pending"), running("running")))]
struct Thing {
    id: i64,
}

fn paused(store: &claimstore::SqliteStore<Thing>) {
    can_be_paused(store);
}

fn can_be_paused(_: &impl claimstore::core::QueueStore) {}

fn main() {}
