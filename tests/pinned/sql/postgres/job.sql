-- claim_next: one row, one queue
WITH picked AS MATERIALIZED (
  SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
  FROM "claimstore_jobs"
  WHERE (((((((("claimstore_jobs"."state" = 'pending')
                AND ("claimstore_jobs"."fence" <= 9223372036853727231))
              AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
            AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
          AND ("claimstore_jobs"."due" <= statement_timestamp()))
        AND (("claimstore_jobs"."kind" IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
      AND ("claimstore_jobs"."queue" = $1))
    AND ($2 IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'queue'
        AND paused_at IS NOT NULL)) IS NOT TRUE)
  ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1)
UPDATE "claimstore_jobs"
SET "state" = 'running',
    "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
    "worker" = $3,
    "lease" = clock_timestamp() + $4,
    "claimed_at" = clock_timestamp()
FROM picked
WHERE "claimstore_jobs"."id" = picked."id"
AND "claimstore_jobs"."state" = 'pending'
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
"claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
"claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
"claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
"claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- claim_next: one row, three queues
WITH picked AS MATERIALIZED (
  SELECT ready.*
  FROM unnest((
      SELECT $1)) AS wanted(queue)
  CROSS JOIN LATERAL (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = wanted.queue))
      AND (wanted.queue IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT 1) AS ready
  ORDER BY ready."priority" DESC, ready."due", ready."id"
  LIMIT 1)
UPDATE "claimstore_jobs"
SET "state" = 'running',
    "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
    "worker" = $2,
    "lease" = clock_timestamp() + $3,
    "claimed_at" = clock_timestamp()
FROM picked
WHERE "claimstore_jobs"."id" = picked."id"
AND "claimstore_jobs"."state" = 'pending'
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
"claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
"claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
"claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
"claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- claim_next: up to n rows, one queue
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = $1))
      AND ($2 IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $3)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $4,
      "lease" = clock_timestamp() + $5,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT *
FROM won
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- claim_next: up to n rows, three queues
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT ready.*
    FROM unnest((
        SELECT $1)) AS wanted(queue)
    CROSS JOIN LATERAL (
      SELECT *
      FROM (
        SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
        FROM "claimstore_jobs"
        WHERE (((((((("claimstore_jobs"."state" = 'pending')
                      AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                    AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
                  AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
                AND ("claimstore_jobs"."due" <= statement_timestamp()))
              AND (("claimstore_jobs"."kind" IN (
                    SELECT name
                    FROM claimstore_queues
                    WHERE table_name = 'claimstore_jobs'
                    AND scope = 'kind'
                    AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
            AND ("claimstore_jobs"."queue" = wanted.queue))
          AND (wanted.queue IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
        FOR UPDATE SKIP LOCKED
        LIMIT (
          SELECT $2)) AS first
      LIMIT 128) AS ready
    ORDER BY ready."priority" DESC, ready."due", ready."id"
    LIMIT (
      SELECT $3)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $4,
      "lease" = clock_timestamp() + $5,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT *
FROM won
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- claim_next: up to n rows, except these
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = $1))
      AND ($2 IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $3)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $4,
      "lease" = clock_timestamp() + $5,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $6)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT *
FROM won
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- claim_key: passing over a locked row
WITH picked AS MATERIALIZED (
  SELECT "claimstore_jobs"."id"
  FROM "claimstore_jobs"
  WHERE (((((((("claimstore_jobs"."state" = 'pending')
                AND ("claimstore_jobs"."fence" <= 9223372036853727231))
              AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
            AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
          AND ("claimstore_jobs"."due" <= statement_timestamp()))
        AND (("claimstore_jobs"."kind" IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
      AND ("claimstore_jobs"."id" = $1))
    AND ("claimstore_jobs"."queue" IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'queue'
        AND paused_at IS NOT NULL)) IS NOT TRUE)
  FOR UPDATE SKIP LOCKED)
UPDATE "claimstore_jobs"
SET "state" = 'running',
    "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
    "worker" = $2,
    "lease" = clock_timestamp() + $3,
    "claimed_at" = clock_timestamp()
FROM picked
WHERE "claimstore_jobs"."id" = picked."id"
AND "claimstore_jobs"."state" = 'pending'
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
"claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
"claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
"claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
"claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- claim_key: waiting for a locked row
WITH picked AS MATERIALIZED (
  SELECT "claimstore_jobs"."id"
  FROM "claimstore_jobs"
  WHERE (((((((("claimstore_jobs"."state" = 'pending')
                AND ("claimstore_jobs"."fence" <= 9223372036853727231))
              AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
            AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
          AND ("claimstore_jobs"."due" <= statement_timestamp()))
        AND (("claimstore_jobs"."kind" IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
      AND ("claimstore_jobs"."id" = $1))
    AND ("claimstore_jobs"."queue" IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'queue'
        AND paused_at IS NOT NULL)) IS NOT TRUE)
  FOR UPDATE)
UPDATE "claimstore_jobs"
SET "state" = 'running',
    "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
    "worker" = $2,
    "lease" = clock_timestamp() + $3,
    "claimed_at" = clock_timestamp()
FROM picked
WHERE "claimstore_jobs"."id" = picked."id"
AND "claimstore_jobs"."state" = 'pending'
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
"claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
"claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
"claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
"claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- observe
SELECT "claimstore_jobs"."state", "claimstore_jobs"."fence", clock_timestamp(),
"claimstore_jobs"."worker", "claimstore_jobs"."lease", "claimstore_jobs"."due", "claimstore_jobs"."failures",
"claimstore_jobs"."crashes", "claimstore_jobs"."interruptions", "claimstore_jobs"."max_failures",
"claimstore_jobs"."max_crashes", (("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND paused_at IS NOT NULL)) IS TRUE
  OR ("claimstore_jobs"."kind" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'kind'
      AND paused_at IS NOT NULL)) IS TRUE),
("claimstore_jobs"."queue" IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE
FROM "claimstore_jobs"
WHERE "claimstore_jobs"."id" = $1

-- next_due: one queue
SELECT "claimstore_jobs"."due" AS first_due
FROM "claimstore_jobs"
WHERE "claimstore_jobs"."state" = 'pending'
AND "claimstore_jobs"."fence" > -1
AND "claimstore_jobs"."fence" <= 9223372036853727231
AND "claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"
AND "claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"
AND ("claimstore_jobs"."kind" IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'kind'
    AND paused_at IS NOT NULL)) IS NOT TRUE
AND "claimstore_jobs"."queue" = $1
AND ($2 IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND paused_at IS NOT NULL)) IS NOT TRUE
AND "claimstore_jobs"."due" IS NOT NULL
ORDER BY "claimstore_jobs"."due"
LIMIT 1

-- next_due: three queues
SELECT min(first_due)
FROM unnest((
    SELECT $1)) AS wanted(queue)
CROSS JOIN LATERAL (
  SELECT "claimstore_jobs"."due" AS first_due
  FROM "claimstore_jobs"
  WHERE "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."fence" > -1
  AND "claimstore_jobs"."fence" <= 9223372036853727231
  AND "claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"
  AND "claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"
  AND ("claimstore_jobs"."kind" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'kind'
      AND paused_at IS NOT NULL)) IS NOT TRUE
  AND "claimstore_jobs"."queue" = wanted.queue
  AND (wanted.queue IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND paused_at IS NOT NULL)) IS NOT TRUE
  AND "claimstore_jobs"."due" IS NOT NULL
  ORDER BY "claimstore_jobs"."due"
  LIMIT 1) AS first

-- renew
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED)
UPDATE "claimstore_jobs"
SET "lease" = clock_timestamp() + $4
FROM mine
WHERE "claimstore_jobs"."id" = mine.row_key
AND "claimstore_jobs"."fence" = mine.fence
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = mine.worker
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- guard
SELECT 1
FROM "claimstore_jobs"
WHERE "claimstore_jobs"."id" = $1
AND "claimstore_jobs"."fence" = $2
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $3
FOR UPDATE OF "claimstore_jobs"

-- settle: complete
UPDATE "claimstore_jobs"
SET "state" = 'completed',
    "lease" = NULL,
    "finished_at" = clock_timestamp()
WHERE "claimstore_jobs"."id" = $1
AND "claimstore_jobs"."fence" = $2
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $3

-- settle: release
UPDATE "claimstore_jobs"
SET "state" = 'pending',
    "lease" = NULL,
    "worker" = NULL,
    "claimed_at" = NULL,
    "interruptions" = $1,
    "failures" = $2
WHERE "claimstore_jobs"."id" = $3
AND "claimstore_jobs"."fence" = $4
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $5

-- settle: snooze
UPDATE "claimstore_jobs"
SET "state" = 'pending',
    "lease" = NULL,
    "worker" = NULL,
    "claimed_at" = NULL,
    "due" = clock_timestamp() + $1,
    "interruptions" = $2,
    "failures" = $3
WHERE "claimstore_jobs"."id" = $4
AND "claimstore_jobs"."fence" = $5
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $6

-- settle: fail, with a back-off
UPDATE "claimstore_jobs"
SET "state" = 'pending',
    "lease" = NULL,
    "worker" = NULL,
    "claimed_at" = NULL,
    "due" = clock_timestamp() + $1,
    "interruptions" = $2,
    "failures" = $3,
    "last_error" = $4
WHERE "claimstore_jobs"."id" = $5
AND "claimstore_jobs"."fence" = $6
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $7

-- settle: fail, at once again
UPDATE "claimstore_jobs"
SET "state" = 'pending',
    "lease" = NULL,
    "worker" = NULL,
    "claimed_at" = NULL,
    "interruptions" = $1,
    "failures" = $2,
    "last_error" = $3
WHERE "claimstore_jobs"."id" = $4
AND "claimstore_jobs"."fence" = $5
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $6

-- settle: fail, for good
UPDATE "claimstore_jobs"
SET "state" = 'dead',
    "lease" = NULL,
    "finished_at" = clock_timestamp(),
    "failures" = $1,
    "last_error" = $2
WHERE "claimstore_jobs"."id" = $3
AND "claimstore_jobs"."fence" = $4
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $5

-- settle_many: all completed
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs")
UPDATE "claimstore_jobs"
SET "state" = 'completed',
    "lease" = NULL,
    "finished_at" = clock_timestamp()
FROM mine
WHERE "claimstore_jobs"."id" = mine.row_key
AND "claimstore_jobs"."fence" = mine.fence
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = mine.worker
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- settle_many: mixed
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5),
    (
      SELECT $6),
    (
      SELECT $7),
    (
      SELECT $8)) AS given(row_key, fence, worker, state, delay, failures, interruptions, error)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs")
UPDATE "claimstore_jobs"
SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
    "lease" = NULL,
    "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
    "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
    "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
    "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
    "failures" = mine.failures,
    "interruptions" = mine.interruptions,
    "last_error" = COALESCE(mine.error, "claimstore_jobs"."last_error")
FROM mine
WHERE "claimstore_jobs"."id" = mine.row_key
AND "claimstore_jobs"."fence" = mine.fence
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = mine.worker
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- settle: complete, and delete
DELETE
FROM "claimstore_jobs"
WHERE "claimstore_jobs"."id" = $1
AND "claimstore_jobs"."fence" = $2
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = $3

-- settle_many: all completed, and delete
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs") DELETE
FROM "claimstore_jobs"
WHERE ("claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."worker") IN (
  SELECT row_key, fence, worker
  FROM mine)
AND "claimstore_jobs"."state" = 'running'
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- settle_many: all completed, and delete, passing over locked rows
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED) DELETE
FROM "claimstore_jobs"
WHERE ("claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."worker") IN (
  SELECT row_key, fence, worker
  FROM mine)
AND "claimstore_jobs"."state" = 'running'
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- settle_many: mixed, passing over locked rows
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5),
    (
      SELECT $6),
    (
      SELECT $7),
    (
      SELECT $8)) AS given(row_key, fence, worker, state, delay, failures, interruptions, error)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED)
UPDATE "claimstore_jobs"
SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
    "lease" = NULL,
    "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
    "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
    "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
    "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
    "failures" = mine.failures,
    "interruptions" = mine.interruptions,
    "last_error" = COALESCE(mine.error, "claimstore_jobs"."last_error")
FROM mine
WHERE "claimstore_jobs"."id" = mine.row_key
AND "claimstore_jobs"."fence" = mine.fence
AND "claimstore_jobs"."state" = 'running'
AND "claimstore_jobs"."worker" = mine.worker
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- expiring: first page
SELECT "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease", "claimstore_jobs"."worker",
"claimstore_jobs"."idempotent", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
"claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes"
FROM "claimstore_jobs"
WHERE "claimstore_jobs"."lease" IS NOT NULL
AND "claimstore_jobs"."lease" < statement_timestamp() + $1
AND "claimstore_jobs"."state" = 'running'
ORDER BY "claimstore_jobs"."lease", "claimstore_jobs"."id"
LIMIT $2

-- expiring: next page
SELECT "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease", "claimstore_jobs"."worker",
"claimstore_jobs"."idempotent", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
"claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes"
FROM "claimstore_jobs"
WHERE "claimstore_jobs"."lease" IS NOT NULL
AND "claimstore_jobs"."lease" < statement_timestamp() + $1
AND "claimstore_jobs"."state" = 'running'
AND ("claimstore_jobs"."lease", "claimstore_jobs"."id") > ($2, $3)
ORDER BY "claimstore_jobs"."lease", "claimstore_jobs"."id"
LIMIT $4

-- recover
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5)) AS given(row_key, fence, state, delay, crashes)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND COALESCE("claimstore_jobs"."lease" < statement_timestamp() + $6, FALSE)
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED)
UPDATE "claimstore_jobs"
SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
    "lease" = NULL,
    "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
    "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
    "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
    "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
    "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
    "crashes" = mine.crashes,
    "last_error" = 'abandoned: the lease ran out'
FROM mine
WHERE "claimstore_jobs"."id" = mine.row_key
AND "claimstore_jobs"."fence" = mine.fence
AND "claimstore_jobs"."state" = 'running'
AND COALESCE("claimstore_jobs"."lease" < statement_timestamp() + $7, FALSE)
RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"

-- pause: a queue
INSERT INTO claimstore_queues (table_name, scope, name, paused_at, paused_by, reason) VALUES ('claimstore_jobs', 'queue', $1, clock_timestamp(), $2, $3) ON CONFLICT (table_name, scope, name) DO
UPDATE
SET paused_at = excluded.paused_at,
    paused_by = excluded.paused_by,
    reason = excluded.reason
WHERE claimstore_queues.paused_at IS NULL

-- pause: a kind
INSERT INTO claimstore_queues (table_name, scope, name, paused_at, paused_by, reason) VALUES ('claimstore_jobs', 'kind', $1, clock_timestamp(), $2, $3) ON CONFLICT (table_name, scope, name) DO
UPDATE
SET paused_at = excluded.paused_at,
    paused_by = excluded.paused_by,
    reason = excluded.reason
WHERE claimstore_queues.paused_at IS NULL

-- unpause: a queue
UPDATE claimstore_queues
SET paused_at = NULL,
    paused_by = NULL,
    reason = NULL
WHERE table_name = 'claimstore_jobs'
AND scope = 'queue'
AND name = $1
AND paused_at IS NOT NULL

-- keep_completed: no
INSERT INTO claimstore_queues (table_name, scope, name, keep_completed) VALUES ('claimstore_jobs', 'queue', $1, FALSE) ON CONFLICT (table_name, scope, name) DO
UPDATE
SET keep_completed = FALSE
WHERE claimstore_queues.keep_completed

-- keep_completed: yes
UPDATE claimstore_queues
SET keep_completed = TRUE
WHERE table_name = 'claimstore_jobs'
AND scope = 'queue'
AND name = $1
AND NOT keep_completed

-- queues
SELECT scope, name, paused_at, paused_by, reason, keep_completed
FROM claimstore_queues
WHERE table_name = 'claimstore_jobs'
AND (paused_at IS NOT NULL
  OR NOT keep_completed)

-- settle_and_claim: all completed; one row, one queue
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'completed',
      "lease" = NULL,
      "finished_at" = clock_timestamp()
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
  FROM "claimstore_jobs"
  WHERE (((((((("claimstore_jobs"."state" = 'pending')
                AND ("claimstore_jobs"."fence" <= 9223372036853727231))
              AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
            AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
          AND ("claimstore_jobs"."due" <= statement_timestamp()))
        AND (("claimstore_jobs"."kind" IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
      AND ("claimstore_jobs"."queue" = $4))
    AND ($5 IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'queue'
        AND paused_at IS NOT NULL)) IS NOT TRUE)
  ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $6,
      "lease" = clock_timestamp() + $7,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $8)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: all completed; one row, three queues
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'completed',
      "lease" = NULL,
      "finished_at" = clock_timestamp()
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT ready.*
  FROM unnest((
      SELECT $4)) AS wanted(queue)
  CROSS JOIN LATERAL (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = wanted.queue))
      AND (wanted.queue IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT 1) AS ready
  ORDER BY ready."priority" DESC, ready."due", ready."id"
  LIMIT 1),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $5,
      "lease" = clock_timestamp() + $6,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $7)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: all completed; up to n rows, one queue
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'completed',
      "lease" = NULL,
      "finished_at" = clock_timestamp()
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = $4))
      AND ($5 IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $6)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $7,
      "lease" = clock_timestamp() + $8,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $9)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- settle_and_claim: all completed; up to n rows, three queues
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'completed',
      "lease" = NULL,
      "finished_at" = clock_timestamp()
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT ready.*
    FROM unnest((
        SELECT $4)) AS wanted(queue)
    CROSS JOIN LATERAL (
      SELECT *
      FROM (
        SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
        FROM "claimstore_jobs"
        WHERE (((((((("claimstore_jobs"."state" = 'pending')
                      AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                    AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
                  AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
                AND ("claimstore_jobs"."due" <= statement_timestamp()))
              AND (("claimstore_jobs"."kind" IN (
                    SELECT name
                    FROM claimstore_queues
                    WHERE table_name = 'claimstore_jobs'
                    AND scope = 'kind'
                    AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
            AND ("claimstore_jobs"."queue" = wanted.queue))
          AND (wanted.queue IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
        FOR UPDATE SKIP LOCKED
        LIMIT (
          SELECT $5)) AS first
      LIMIT 128) AS ready
    ORDER BY ready."priority" DESC, ready."due", ready."id"
    LIMIT (
      SELECT $6)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $7,
      "lease" = clock_timestamp() + $8,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $9)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- settle_and_claim: mixed; one row, one queue
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5),
    (
      SELECT $6),
    (
      SELECT $7),
    (
      SELECT $8)) AS given(row_key, fence, worker, state, delay, failures, interruptions, error)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
      "lease" = NULL,
      "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
      "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
      "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
      "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
      "failures" = mine.failures,
      "interruptions" = mine.interruptions,
      "last_error" = COALESCE(mine.error, "claimstore_jobs"."last_error")
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
  FROM "claimstore_jobs"
  WHERE (((((((("claimstore_jobs"."state" = 'pending')
                AND ("claimstore_jobs"."fence" <= 9223372036853727231))
              AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
            AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
          AND ("claimstore_jobs"."due" <= statement_timestamp()))
        AND (("claimstore_jobs"."kind" IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
      AND ("claimstore_jobs"."queue" = $9))
    AND ($10 IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'queue'
        AND paused_at IS NOT NULL)) IS NOT TRUE)
  ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $11,
      "lease" = clock_timestamp() + $12,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $13)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: mixed; one row, three queues
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5),
    (
      SELECT $6),
    (
      SELECT $7),
    (
      SELECT $8)) AS given(row_key, fence, worker, state, delay, failures, interruptions, error)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
      "lease" = NULL,
      "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
      "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
      "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
      "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
      "failures" = mine.failures,
      "interruptions" = mine.interruptions,
      "last_error" = COALESCE(mine.error, "claimstore_jobs"."last_error")
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT ready.*
  FROM unnest((
      SELECT $9)) AS wanted(queue)
  CROSS JOIN LATERAL (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = wanted.queue))
      AND (wanted.queue IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT 1) AS ready
  ORDER BY ready."priority" DESC, ready."due", ready."id"
  LIMIT 1),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $10,
      "lease" = clock_timestamp() + $11,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $12)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: mixed; up to n rows, one queue
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5),
    (
      SELECT $6),
    (
      SELECT $7),
    (
      SELECT $8)) AS given(row_key, fence, worker, state, delay, failures, interruptions, error)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
      "lease" = NULL,
      "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
      "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
      "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
      "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
      "failures" = mine.failures,
      "interruptions" = mine.interruptions,
      "last_error" = COALESCE(mine.error, "claimstore_jobs"."last_error")
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = $9))
      AND ($10 IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $11)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $12,
      "lease" = clock_timestamp() + $13,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $14)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- settle_and_claim: mixed; up to n rows, three queues
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5),
    (
      SELECT $6),
    (
      SELECT $7),
    (
      SELECT $8)) AS given(row_key, fence, worker, state, delay, failures, interruptions, error)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (
  UPDATE "claimstore_jobs"
  SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
      "lease" = NULL,
      "worker" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."worker" END,
      "claimed_at" = CASE mine.state WHEN 0 THEN NULL ELSE "claimstore_jobs"."claimed_at" END,
      "due" = CASE WHEN mine.delay IS NULL THEN "claimstore_jobs"."due" ELSE clock_timestamp() + mine.delay * interval '1 microsecond' END,
      "finished_at" = CASE WHEN mine.state IN (2, 3, 4) THEN clock_timestamp() ELSE "claimstore_jobs"."finished_at" END,
      "failures" = mine.failures,
      "interruptions" = mine.interruptions,
      "last_error" = COALESCE(mine.error, "claimstore_jobs"."last_error")
  FROM mine
  WHERE "claimstore_jobs"."id" = mine.row_key
  AND "claimstore_jobs"."fence" = mine.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = mine.worker
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT ready.*
    FROM unnest((
        SELECT $9)) AS wanted(queue)
    CROSS JOIN LATERAL (
      SELECT *
      FROM (
        SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
        FROM "claimstore_jobs"
        WHERE (((((((("claimstore_jobs"."state" = 'pending')
                      AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                    AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
                  AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
                AND ("claimstore_jobs"."due" <= statement_timestamp()))
              AND (("claimstore_jobs"."kind" IN (
                    SELECT name
                    FROM claimstore_queues
                    WHERE table_name = 'claimstore_jobs'
                    AND scope = 'kind'
                    AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
            AND ("claimstore_jobs"."queue" = wanted.queue))
          AND (wanted.queue IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
        FOR UPDATE SKIP LOCKED
        LIMIT (
          SELECT $10)) AS first
      LIMIT 128) AS ready
    ORDER BY ready."priority" DESC, ready."due", ready."id"
    LIMIT (
      SELECT $11)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $12,
      "lease" = clock_timestamp() + $13,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $14)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- settle_and_claim: all completed, and delete; one row, one queue
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (DELETE
  FROM "claimstore_jobs"
  WHERE ("claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."worker") IN (
    SELECT row_key, fence, worker
    FROM mine)
  AND "claimstore_jobs"."state" = 'running'
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
  FROM "claimstore_jobs"
  WHERE (((((((("claimstore_jobs"."state" = 'pending')
                AND ("claimstore_jobs"."fence" <= 9223372036853727231))
              AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
            AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
          AND ("claimstore_jobs"."due" <= statement_timestamp()))
        AND (("claimstore_jobs"."kind" IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
      AND ("claimstore_jobs"."queue" = $4))
    AND ($5 IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'queue'
        AND paused_at IS NOT NULL)) IS NOT TRUE)
  ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $6,
      "lease" = clock_timestamp() + $7,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $8)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: all completed, and delete; one row, three queues
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (DELETE
  FROM "claimstore_jobs"
  WHERE ("claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."worker") IN (
    SELECT row_key, fence, worker
    FROM mine)
  AND "claimstore_jobs"."state" = 'running'
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT ready.*
  FROM unnest((
      SELECT $4)) AS wanted(queue)
  CROSS JOIN LATERAL (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = wanted.queue))
      AND (wanted.queue IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT 1) AS ready
  ORDER BY ready."priority" DESC, ready."due", ready."id"
  LIMIT 1),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $5,
      "lease" = clock_timestamp() + $6,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $7)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: all completed, and delete; up to n rows, one queue
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (DELETE
  FROM "claimstore_jobs"
  WHERE ("claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."worker") IN (
    SELECT row_key, fence, worker
    FROM mine)
  AND "claimstore_jobs"."state" = 'running'
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
    FROM "claimstore_jobs"
    WHERE (((((((("claimstore_jobs"."state" = 'pending')
                  AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
              AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
            AND ("claimstore_jobs"."due" <= statement_timestamp()))
          AND (("claimstore_jobs"."kind" IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'kind'
                AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
        AND ("claimstore_jobs"."queue" = $4))
      AND ($5 IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $6)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $7,
      "lease" = clock_timestamp() + $8,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $9)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2

-- settle_and_claim: all completed, and delete; up to n rows, three queues
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "claimstore_jobs", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "claimstore_jobs"."id" = given.row_key
  AND "claimstore_jobs"."fence" = given.fence
  AND "claimstore_jobs"."state" = 'running'
  AND "claimstore_jobs"."worker" = given.worker
  ORDER BY "claimstore_jobs"."id"
  FOR UPDATE OF "claimstore_jobs" SKIP LOCKED),
done AS (DELETE
  FROM "claimstore_jobs"
  WHERE ("claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."worker") IN (
    SELECT row_key, fence, worker
    FROM mine)
  AND "claimstore_jobs"."state" = 'running'
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."fence", "claimstore_jobs"."lease"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT ready.*
    FROM unnest((
        SELECT $4)) AS wanted(queue)
    CROSS JOIN LATERAL (
      SELECT *
      FROM (
        SELECT "claimstore_jobs"."id", "claimstore_jobs"."priority", "claimstore_jobs"."due"
        FROM "claimstore_jobs"
        WHERE (((((((("claimstore_jobs"."state" = 'pending')
                      AND ("claimstore_jobs"."fence" <= 9223372036853727231))
                    AND (("claimstore_jobs"."failures" < "claimstore_jobs"."max_failures"))::int <> 0)
                  AND (("claimstore_jobs"."crashes" < "claimstore_jobs"."max_crashes"))::int <> 0)
                AND ("claimstore_jobs"."due" <= statement_timestamp()))
              AND (("claimstore_jobs"."kind" IN (
                    SELECT name
                    FROM claimstore_queues
                    WHERE table_name = 'claimstore_jobs'
                    AND scope = 'kind'
                    AND paused_at IS NOT NULL)) IS NOT TRUE)::int <> 0)
            AND ("claimstore_jobs"."queue" = wanted.queue))
          AND (wanted.queue IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        ORDER BY "claimstore_jobs"."priority" DESC, "claimstore_jobs"."due" ASC, "claimstore_jobs"."id" ASC
        FOR UPDATE SKIP LOCKED
        LIMIT (
          SELECT $5)) AS first
      LIMIT 128) AS ready
    ORDER BY ready."priority" DESC, ready."due", ready."id"
    LIMIT (
      SELECT $6)) AS first
  LIMIT 128),
won AS (
  UPDATE "claimstore_jobs"
  SET "state" = 'running',
      "fence" = "claimstore_jobs"."fence" + 1 + floor(random() * 1048576)::bigint,
      "worker" = $7,
      "lease" = clock_timestamp() + $8,
      "claimed_at" = clock_timestamp()
  FROM picked
  WHERE "claimstore_jobs"."id" = picked."id"
  AND "claimstore_jobs"."state" = 'pending'
  AND "claimstore_jobs"."id" NOT IN (
    SELECT unnest((
        SELECT $9)))
  RETURNING "claimstore_jobs"."id", "claimstore_jobs"."queue", "claimstore_jobs"."kind", "claimstore_jobs"."payload",
  "claimstore_jobs"."priority", "claimstore_jobs"."due", "claimstore_jobs"."failures", "claimstore_jobs"."crashes",
  "claimstore_jobs"."interruptions", "claimstore_jobs"."created_at", "claimstore_jobs"."id", "claimstore_jobs"."fence",
  "claimstore_jobs"."lease", "claimstore_jobs"."failures", "claimstore_jobs"."crashes", "claimstore_jobs"."interruptions",
  "claimstore_jobs"."max_failures", "claimstore_jobs"."max_crashes", ("claimstore_jobs"."queue" IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND NOT keep_completed)) IS TRUE, "claimstore_jobs"."priority" AS claim_order_0, "claimstore_jobs"."due" AS claim_order_1,
  "claimstore_jobs"."id" AS claim_order_2)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1, won.claim_order_2
