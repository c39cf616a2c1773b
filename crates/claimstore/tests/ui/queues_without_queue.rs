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
#[claim(backend(sqlite), key = id, fence = fence, queues)]
#[claim(state(state, pending("pending"), running("running")))]
struct Thing {
    id: i64,
}

fn main() {}
