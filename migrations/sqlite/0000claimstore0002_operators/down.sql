-- Lost: unique keys, what is paused, and which queues delete their completed rows.
-- Kept: every job and every event. Events of kinds that version 1 did not know stay, so the CHECK on kinds
-- does not come back; version 1 works without it.
DROP TABLE claimstore_queues;

DROP INDEX claimstore_events_at;
DROP INDEX claimstore_jobs_finished;
DROP INDEX claimstore_jobs_uncertain;
DROP INDEX claimstore_jobs_waiting;
DROP INDEX claimstore_jobs_due;
CREATE INDEX claimstore_jobs_due ON claimstore_jobs (queue, due) WHERE state = 'pending';
DROP INDEX claimstore_jobs_unique;
ALTER TABLE claimstore_jobs DROP COLUMN unique_key;

DELETE FROM claimstore_schema WHERE version = 2;
