-- Beside the library's own tables: events and pauses, under names of its own.
CREATE TABLE tickets (
    code       TEXT        NOT NULL PRIMARY KEY,
    desk       TEXT        NOT NULL,
    topic      TEXT        NOT NULL,
    stage      TEXT        NOT NULL CHECK (stage IN ('open', 'reopened', 'in hand', 'answered', 'closed', 'unclear')),
    round      BIGINT      NOT NULL DEFAULT 0,
    agent      TEXT,
    since      TIMESTAMPTZ,
    until      TIMESTAMPTZ,
    due        TIMESTAMPTZ NOT NULL,
    failures   INTEGER     NOT NULL DEFAULT 0,
    crashes    INTEGER     NOT NULL DEFAULT 0,
    repeatable BOOLEAN     NOT NULL,
    ended_at   TIMESTAMPTZ
);
CREATE INDEX tickets_claim ON tickets (desk, due, code) WHERE stage IN ('open', 'reopened');
