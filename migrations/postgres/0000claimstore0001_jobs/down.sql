DROP TABLE claimstore_events;
DROP TABLE claimstore_jobs;
DROP TABLE claimstore_schema;
