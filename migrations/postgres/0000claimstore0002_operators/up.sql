-- Building the indexes locks claimstore_jobs, readers and claims included, until this commits. All of it is one
-- transaction, which CREATE INDEX CONCURRENTLY does not allow; retention first makes it short.
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

-- Each row is updated at least twice in its life. At the server's default of a fifth of the table, a queue with
-- many finished rows would collect that many dead ones in the indexes that claims read. And vacuum must not
-- give space back at the end of the table: it would lock claims out for that.
ALTER TABLE claimstore_jobs SET (
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000,
    vacuum_truncate = false
);

-- Kinds of events grow with the library, so the table no longer names them.
ALTER TABLE claimstore_events DROP CONSTRAINT IF EXISTS claimstore_events_kind_check;
-- Retention takes the oldest of a table's events.
CREATE INDEX claimstore_events_at ON claimstore_events (table_name, at, id);

-- What is set for a queue or kind of a table. A queue without a row runs, and its completed rows are kept.
CREATE TABLE claimstore_queues (
    table_name     TEXT        NOT NULL,
    scope          TEXT        NOT NULL CHECK (scope IN ('queue', 'kind')),
    name           TEXT        NOT NULL,
    -- NULL while it runs.
    paused_at      TIMESTAMPTZ,
    paused_by      TEXT,
    reason         TEXT,
    -- Whether completing a row of this queue keeps it.
    keep_completed BOOLEAN     NOT NULL DEFAULT TRUE,
    PRIMARY KEY (table_name, scope, name),
    CONSTRAINT claimstore_queues_pause CHECK (
        (paused_at IS NULL) = (paused_by IS NULL) AND (paused_at IS NULL) = (reason IS NULL)
    )
);
