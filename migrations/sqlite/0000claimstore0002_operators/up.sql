INSERT INTO claimstore_schema (version) VALUES (2);

-- One waiting, running or undecided job per kind and key. A job that has ended gives its key free.
ALTER TABLE claimstore_jobs ADD COLUMN unique_key TEXT;
CREATE UNIQUE INDEX claimstore_jobs_unique ON claimstore_jobs (kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('pending', 'running', 'uncertain');

-- A claim has one index, which has its rows in order. By one that finds what is due it could read all of that
-- and sort it, where statistics are old or an old snapshot has blown up the other. So an index of waiting rows
-- that is not for claims asks for the fence too, which decides nothing, each in words of its own: who does not
-- ask in these words cannot use it.
DROP INDEX claimstore_jobs_due;
-- When the next row of a queue is due, and pages of a queue.
CREATE INDEX claimstore_jobs_due ON claimstore_jobs (queue, due) WHERE state = 'pending' AND fence > -1;

-- For operators: pages of rows that wait, that somebody must decide on, and that have ended. Retention takes
-- the last ones oldest first.
CREATE INDEX claimstore_jobs_waiting ON claimstore_jobs (due, id) WHERE state = 'pending' AND fence >= 0;
CREATE INDEX claimstore_jobs_uncertain ON claimstore_jobs (id) WHERE state = 'uncertain';
CREATE INDEX claimstore_jobs_finished ON claimstore_jobs (state, finished_at, id)
    WHERE state = 'completed' OR state = 'dead' OR state = 'cancelled';

-- Kinds of events grow with the library, so the table no longer names them. SQLite can drop a CHECK only with
-- the table. The rows wait in a second one, for renaming a table would fail where a view of yours reads it; its
-- counter of ids waits under that name too, so that no id is given twice.
CREATE TABLE claimstore_events_moved AS SELECT * FROM claimstore_events;
UPDATE sqlite_sequence SET name = 'claimstore_events_moved' WHERE name = 'claimstore_events';
DROP TABLE claimstore_events;
CREATE TABLE claimstore_events (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL CHECK (typeof(at) = 'integer'),
    table_name TEXT    NOT NULL,
    row_key    TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    worker     TEXT,
    fence      BIGINT  NOT NULL,
    -- What happened, as a JSON object.
    detail     TEXT    NOT NULL
);
UPDATE sqlite_sequence SET name = 'claimstore_events' WHERE name = 'claimstore_events_moved';
INSERT INTO claimstore_events (id, at, table_name, row_key, kind, worker, fence, detail)
    SELECT id, at, table_name, row_key, kind, worker, fence, detail FROM claimstore_events_moved ORDER BY id;
DROP TABLE claimstore_events_moved;
CREATE INDEX claimstore_events_row ON claimstore_events (table_name, row_key, id);
-- Retention takes the oldest of a table's events.
CREATE INDEX claimstore_events_at ON claimstore_events (table_name, at, id);

-- What is set for a queue or kind of a table. A queue without a row runs, and its completed rows are kept.
CREATE TABLE claimstore_queues (
    table_name     TEXT    NOT NULL,
    scope          TEXT    NOT NULL CHECK (scope IN ('queue', 'kind')),
    name           TEXT    NOT NULL,
    -- NULL while it runs.
    paused_at      INTEGER CHECK (typeof(paused_at) IN ('integer', 'null')),
    paused_by      TEXT,
    reason         TEXT,
    -- Whether completing a row of this queue keeps it.
    keep_completed BOOLEAN NOT NULL DEFAULT TRUE,
    PRIMARY KEY (table_name, scope, name),
    CONSTRAINT claimstore_queues_pause CHECK (
        (paused_at IS NULL) = (paused_by IS NULL) AND (paused_at IS NULL) = (reason IS NULL)
    )
);
