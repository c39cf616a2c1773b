//! claimstore's own tables, one `table!` for both databases.

diesel::table! {
    use diesel::sql_types::*;
    use crate::sql_types::Instant;

    /// The built-in job table.
    claimstore_jobs (id) {
        /// Names a job.
        id -> BigInt,
        /// The queue it waits in.
        queue -> Text,
        /// What it is.
        kind -> Text,
        /// JSON, as text.
        payload -> Text,
        /// The state word.
        state -> Text,
        /// Greater first.
        priority -> Integer,
        /// Not before.
        due -> Instant,
        /// The fence.
        fence -> BigInt,
        /// Who has it, or had it when it ended.
        worker -> Nullable<Text>,
        /// Since when.
        claimed_at -> Nullable<Instant>,
        /// Until when.
        lease -> Nullable<Instant>,
        /// Failures so far.
        failures -> Integer,
        /// Crashes so far.
        crashes -> Integer,
        /// Interruptions so far.
        interruptions -> Integer,
        /// Failures at which it is dead.
        max_failures -> Integer,
        /// Crashes at which it is dead.
        max_crashes -> Integer,
        /// Whether it may simply be repeated.
        idempotent -> Bool,
        /// The last error.
        last_error -> Nullable<Text>,
        /// When it was enqueued.
        created_at -> Instant,
        /// When it ended.
        finished_at -> Nullable<Instant>,
        /// Only one pending, running or uncertain job of its kind has this key.
        unique_key -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::sql_types::Instant;

    /// What happened to rows beyond the ordinary.
    claimstore_events (id) {
        /// Names an event.
        id -> BigInt,
        /// When.
        at -> Instant,
        /// To a row of this table.
        table_name -> Text,
        /// To the row with this key, printed.
        row_key -> Text,
        /// What happened; more of them may come with later versions.
        kind -> Text,
        /// By whom.
        worker -> Nullable<Text>,
        /// Under which fence.
        fence -> BigInt,
        /// Details, as a JSON object.
        detail -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::sql_types::Instant;

    /// What is set for queues and kinds.
    claimstore_queues (table_name, scope, name) {
        /// Of this table.
        table_name -> Text,
        /// `queue` or `kind`.
        scope -> Text,
        /// Its name.
        name -> Text,
        /// Since when it is paused.
        paused_at -> Nullable<Instant>,
        /// Who paused it.
        paused_by -> Nullable<Text>,
        /// Why.
        reason -> Nullable<Text>,
        /// Whether its completed rows are kept.
        keep_completed -> Bool,
    }
}
