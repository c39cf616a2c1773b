-- Instants in three forms, the other way round.
CREATE TABLE pallets (
    id            BIGINT    NOT NULL PRIMARY KEY,
    state         TEXT      NOT NULL CHECK (state IN ('waiting', 'loading', 'gone', 'lost', 'unclear')),
    fence         BIGINT    NOT NULL DEFAULT 0,
    driver        TEXT,
    since         TIMESTAMPTZ,
    lease         BIGINT,
    due           TIMESTAMP NOT NULL,
    failures      INTEGER   NOT NULL DEFAULT 0,
    crashes       INTEGER   NOT NULL DEFAULT 0,
    interruptions INTEGER   NOT NULL DEFAULT 0,
    max_failures  INTEGER   NOT NULL DEFAULT 20,
    max_crashes   INTEGER   NOT NULL DEFAULT 3,
    idempotent    BOOLEAN   NOT NULL DEFAULT TRUE,
    last_error    TEXT,
    finished      TIMESTAMP
);
