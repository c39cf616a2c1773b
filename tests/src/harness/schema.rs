//! The tables under test, as Diesel knows them; their SQL stands in the folder `tables`.

diesel::table! {
    use diesel::sql_types::*;
    use claimstore::sql_types::Instant;

    invoices (number) {
        number -> Text,
        total -> BigInt,
        priority -> Integer,
        status -> Text,
        claim_fence -> BigInt,
        claimed_by -> Nullable<Text>,
        claimed_since -> Nullable<Instant>,
        lease_until -> Nullable<Instant>,
        send_after -> Instant,
        refusals -> Integer,
        losses -> Integer,
        trouble -> Nullable<Text>,
        settled_at -> Nullable<Instant>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use claimstore::sql_types::Instant;

    tickets (code) {
        code -> Text,
        desk -> Text,
        topic -> Text,
        stage -> Text,
        round -> BigInt,
        agent -> Nullable<Text>,
        since -> Nullable<Instant>,
        until -> Nullable<Instant>,
        due -> Instant,
        failures -> Integer,
        crashes -> Integer,
        repeatable -> Bool,
        ended_at -> Nullable<Instant>,
    }
}

diesel::table! {
    minimal (id) { id -> BigInt, state -> Text, fence -> BigInt, }
}

diesel::table! {
    parcels (id) {
        id -> Integer,
        depot -> Text,
        state -> Text,
        fence -> BigInt,
        driver -> Nullable<Text>,
        since -> Nullable<BigInt>,
        lease -> Nullable<Timestamp>,
        due -> BigInt,
        failures -> Integer,
        finished -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    pallets (id) {
        id -> BigInt,
        state -> Text,
        fence -> BigInt,
        driver -> Nullable<Text>,
        since -> Nullable<Timestamptz>,
        lease -> Nullable<BigInt>,
        due -> Timestamp,
        failures -> Integer,
        crashes -> Integer,
        interruptions -> Integer,
        max_failures -> Integer,
        max_crashes -> Integer,
        idempotent -> Bool,
        last_error -> Nullable<Text>,
        finished -> Nullable<Timestamp>,
    }
}

diesel::table! {
    letters (id) {
        id -> BigInt,
        tray -> Text,
        state -> Text,
        fence -> BigInt,
        clerk -> Nullable<Text>,
        since -> Nullable<Text>,
        lease -> Nullable<Text>,
        due -> Timestamp,
        failures -> Integer,
        crashes -> Integer,
        finished -> Nullable<BigInt>,
    }
}
