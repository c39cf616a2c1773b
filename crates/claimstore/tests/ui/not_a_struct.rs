use claimstore::ClaimTable;

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

#[derive(ClaimTable)]
#[claim(backend(sqlite), key = id, fence = fence)]
#[claim(state(state, pending("pending"), running("running")))]
enum Thing {
    Id(i64),
}

fn main() {}
