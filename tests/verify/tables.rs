//! Tables of a user's own, as they should be.

use claimstore::ClaimTable;
use diesel::{Queryable, Selectable};

mod schema {
    diesel::table! {
        use diesel::sql_types::*;
        use claimstore::sql_types::Instant;

        tasks (id) {
            id -> BigInt,
            lane -> Text,
            urgency -> Integer,
            state -> Text,
            fence -> BigInt,
            worker -> Nullable<Text>,
            since -> Nullable<Instant>,
            lease -> Nullable<Instant>,
            due -> Instant,
            failures -> Integer,
            most -> Integer,
            trouble -> Nullable<Text>,
        }
    }
    diesel::table! {
        letters (id) {
            id -> BigInt,
            state -> Text,
            fence -> BigInt,
            worker -> Nullable<Text>,
            lease -> Nullable<Text>,
            due -> Text,
        }
    }
}

/// Two pending words, a queue, a priority and a budget.
#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::tasks)]
#[claim(backend(postgres, sqlite), key = id, fence = fence, worker = worker, lease = lease, claimed_at = since)]
#[claim(due = due, queue = lane, failures = failures, max_failures = most, last_error = trouble)]
#[claim(order(urgency.desc(), due.asc(), id.asc()))]
#[claim(state(state, pending("new", "again"), running("held"), completed("done"), dead("lost")))]
pub(crate) struct Task {
    #[allow(dead_code, reason = "only verified")]
    pub(crate) id: i64,
}

/// Instants as text.
#[derive(Debug, Queryable, Selectable, ClaimTable)]
#[diesel(table_name = schema::letters)]
#[claim(backend(sqlite), key = id, fence = fence, worker = worker, lease = lease, due = due)]
#[claim(state(state, pending("new"), running("held"), completed("done")))]
pub(crate) struct Letter {
    #[allow(dead_code, reason = "only verified")]
    pub(crate) id: i64,
}

pub(crate) const TASKS_POSTGRES: &str = "
    CREATE TABLE tasks (
        id       BIGINT      NOT NULL CONSTRAINT tasks_key PRIMARY KEY,
        lane     TEXT        NOT NULL DEFAULT 'default',
        urgency  INTEGER     NOT NULL DEFAULT 0,
        state    TEXT        NOT NULL DEFAULT 'new'
            CONSTRAINT tasks_words CHECK (state IN ('new', 'again', 'held', 'done', 'lost')),
        fence    BIGINT      NOT NULL DEFAULT 0,
        worker   TEXT,
        since    TIMESTAMPTZ,
        lease    TIMESTAMPTZ,
        due      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
        failures INTEGER     NOT NULL DEFAULT 0,
        most     INTEGER     NOT NULL DEFAULT 20,
        trouble  TEXT,
        CONSTRAINT tasks_held CHECK (state <> 'held' OR (worker IS NOT NULL AND lease IS NOT NULL))
    );
    CREATE INDEX tasks_claim ON tasks (lane, urgency DESC, due, id) WHERE state IN ('new', 'again');
    CREATE INDEX tasks_lease ON tasks (lease, id) WHERE lease IS NOT NULL;";

pub(crate) const TASKS_SQLITE: &str = "
    CREATE TABLE tasks (
        id       INTEGER NOT NULL PRIMARY KEY,
        lane     TEXT    NOT NULL DEFAULT 'default',
        urgency  INTEGER NOT NULL DEFAULT 0,
        state    TEXT    NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'again', 'held', 'done', 'lost')),
        fence    BIGINT  NOT NULL DEFAULT 0,
        worker   TEXT,
        since    INTEGER,
        lease    INTEGER,
        due      INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        most     INTEGER NOT NULL DEFAULT 20,
        trouble  TEXT,
        CONSTRAINT tasks_held CHECK (state <> 'held' OR (worker IS NOT NULL AND lease IS NOT NULL))
    );
    CREATE INDEX tasks_claim ON tasks (lane, urgency DESC, due, id) WHERE state IN ('new', 'again');
    CREATE INDEX tasks_lease ON tasks (lease, id) WHERE lease IS NOT NULL;";

pub(crate) const LETTERS_SQLITE: &str = "
    CREATE TABLE letters (
        id     INTEGER NOT NULL PRIMARY KEY,
        state  TEXT    NOT NULL DEFAULT 'new',
        fence  BIGINT  NOT NULL DEFAULT 0,
        worker TEXT,
        lease  TEXT,
        due    TEXT    NOT NULL DEFAULT '1970-01-01 00:00:00.000000',
        CHECK (state <> 'held' OR (worker IS NOT NULL AND lease IS NOT NULL))
    );
    CREATE INDEX letters_claim ON letters (due, id) WHERE state = 'new';
    CREATE INDEX letters_lease ON letters (lease, id) WHERE lease IS NOT NULL;";
