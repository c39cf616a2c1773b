CREATE TABLE claimstore_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO claimstore_schema (version) VALUES (1);

-- Instants are integers: microseconds since 1970-01-01 UTC. Text would compare wrongly as soon as two
-- writers shape it differently, so the CHECKs refuse anything else.
CREATE TABLE claimstore_jobs (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    queue         TEXT    NOT NULL DEFAULT 'default',
    kind          TEXT    NOT NULL,
    -- JSON as text, so that what comes back is byte for byte what went in.
    payload       TEXT    NOT NULL,
    state         TEXT    NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'running', 'completed', 'dead', 'cancelled', 'uncertain')),
    -- Greater comes first.
    priority      INTEGER NOT NULL DEFAULT 0,
    due           INTEGER NOT NULL CHECK (typeof(due) = 'integer'),
    fence         BIGINT  NOT NULL DEFAULT 0 CHECK (typeof(fence) = 'integer' AND fence >= 0),
    worker        TEXT,
    claimed_at    INTEGER CHECK (typeof(claimed_at) IN ('integer', 'null')),
    lease         INTEGER CHECK (typeof(lease) IN ('integer', 'null')),
    failures      INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    crashes       INTEGER NOT NULL DEFAULT 0 CHECK (crashes >= 0),
    interruptions INTEGER NOT NULL DEFAULT 0 CHECK (interruptions >= 0),
    max_failures  INTEGER NOT NULL DEFAULT 20 CHECK (max_failures >= 1),
    max_crashes   INTEGER NOT NULL DEFAULT 3 CHECK (max_crashes >= 1),
    idempotent    BOOLEAN NOT NULL DEFAULT TRUE,
    last_error    TEXT,
    created_at    INTEGER NOT NULL CHECK (typeof(created_at) = 'integer'),
    finished_at   INTEGER CHECK (typeof(finished_at) IN ('integer', 'null')),
    -- A running row always says who has it and until when; no other row has a lease to run out.
    CONSTRAINT claimstore_jobs_held CHECK (
        (state = 'running' AND worker IS NOT NULL AND lease IS NOT NULL)
        OR (state <> 'running' AND lease IS NULL)
    )
);

-- Claiming: one ordered scan of one queue, only over rows that wait.
CREATE INDEX claimstore_jobs_claim ON claimstore_jobs (queue, priority DESC, due, id) WHERE state = 'pending';
-- When the next row of a queue is due.
CREATE INDEX claimstore_jobs_due ON claimstore_jobs (queue, due) WHERE state = 'pending';
-- Recovery.
CREATE INDEX claimstore_jobs_lease ON claimstore_jobs (lease, id) WHERE lease IS NOT NULL;

CREATE TABLE claimstore_events (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL CHECK (typeof(at) = 'integer'),
    table_name TEXT    NOT NULL,
    row_key    TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('late_writer')),
    worker     TEXT,
    fence      BIGINT  NOT NULL,
    -- What happened, as a JSON object.
    detail     TEXT    NOT NULL
);
CREATE INDEX claimstore_events_row ON claimstore_events (table_name, row_key, id);
