-- claim_next: one row
WITH picked AS MATERIALIZED (
  SELECT "minimal"."id"
  FROM "minimal"
  WHERE (("minimal"."state" = 'pending')
    AND ("minimal"."fence" <= 9223372036853727231))
  ORDER BY "minimal"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1)
UPDATE "minimal"
SET "state" = 'running',
    "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
FROM picked
WHERE "minimal"."id" = picked."id"
AND "minimal"."state" = 'pending'
RETURNING "minimal"."id", "minimal"."id", "minimal"."fence"

-- claim_next: up to n rows
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "minimal"."id"
    FROM "minimal"
    WHERE (("minimal"."state" = 'pending')
      AND ("minimal"."fence" <= 9223372036853727231))
    ORDER BY "minimal"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $1)) AS first
  LIMIT 128),
won AS (
  UPDATE "minimal"
  SET "state" = 'running',
      "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
  FROM picked
  WHERE "minimal"."id" = picked."id"
  AND "minimal"."state" = 'pending'
  RETURNING "minimal"."id", "minimal"."id", "minimal"."fence", "minimal"."id" AS claim_order_0)
SELECT *
FROM won
ORDER BY won.claim_order_0

-- claim_next: up to n rows, except these
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "minimal"."id"
    FROM "minimal"
    WHERE (("minimal"."state" = 'pending')
      AND ("minimal"."fence" <= 9223372036853727231))
    ORDER BY "minimal"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $1)) AS first
  LIMIT 128),
won AS (
  UPDATE "minimal"
  SET "state" = 'running',
      "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
  FROM picked
  WHERE "minimal"."id" = picked."id"
  AND "minimal"."state" = 'pending'
  AND "minimal"."id" NOT IN (
    SELECT unnest((
        SELECT $2)))
  RETURNING "minimal"."id", "minimal"."id", "minimal"."fence", "minimal"."id" AS claim_order_0)
SELECT *
FROM won
ORDER BY won.claim_order_0

-- claim_key: passing over a locked row
WITH picked AS MATERIALIZED (
  SELECT "minimal"."id"
  FROM "minimal"
  WHERE ((("minimal"."state" = 'pending')
      AND ("minimal"."fence" <= 9223372036853727231))
    AND ("minimal"."id" = $1))
  FOR UPDATE SKIP LOCKED)
UPDATE "minimal"
SET "state" = 'running',
    "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
FROM picked
WHERE "minimal"."id" = picked."id"
AND "minimal"."state" = 'pending'
RETURNING "minimal"."id", "minimal"."id", "minimal"."fence"

-- claim_key: waiting for a locked row
WITH picked AS MATERIALIZED (
  SELECT "minimal"."id"
  FROM "minimal"
  WHERE ((("minimal"."state" = 'pending')
      AND ("minimal"."fence" <= 9223372036853727231))
    AND ("minimal"."id" = $1))
  FOR UPDATE)
UPDATE "minimal"
SET "state" = 'running',
    "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
FROM picked
WHERE "minimal"."id" = picked."id"
AND "minimal"."state" = 'pending'
RETURNING "minimal"."id", "minimal"."id", "minimal"."fence"

-- observe
SELECT "minimal"."state", "minimal"."fence", clock_timestamp(),
NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, FALSE, FALSE
FROM "minimal"
WHERE "minimal"."id" = $1

-- renew
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal" SKIP LOCKED)
UPDATE "minimal"
SET "fence" = "minimal"."fence"
FROM mine
WHERE "minimal"."id" = mine.row_key
AND "minimal"."fence" = mine.fence
AND "minimal"."state" = 'running'
RETURNING "minimal"."id", "minimal"."fence"

-- guard
SELECT 1
FROM "minimal"
WHERE "minimal"."id" = $1
AND "minimal"."fence" = $2
AND "minimal"."state" = 'running'
FOR UPDATE OF "minimal"

-- settle: complete
UPDATE "minimal"
SET "state" = 'completed'
WHERE "minimal"."id" = $1
AND "minimal"."fence" = $2
AND "minimal"."state" = 'running'

-- settle: release
UPDATE "minimal"
SET "state" = 'pending'
WHERE "minimal"."id" = $1
AND "minimal"."fence" = $2
AND "minimal"."state" = 'running'

-- settle: fail, at once again
UPDATE "minimal"
SET "state" = 'pending'
WHERE "minimal"."id" = $1
AND "minimal"."fence" = $2
AND "minimal"."state" = 'running'

-- settle_many: all completed
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal")
UPDATE "minimal"
SET "state" = 'completed'
FROM mine
WHERE "minimal"."id" = mine.row_key
AND "minimal"."fence" = mine.fence
AND "minimal"."state" = 'running'
RETURNING "minimal"."id", "minimal"."fence"

-- settle_many: mixed
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
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
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal")
UPDATE "minimal"
SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' END
FROM mine
WHERE "minimal"."id" = mine.row_key
AND "minimal"."fence" = mine.fence
AND "minimal"."state" = 'running'
RETURNING "minimal"."id", "minimal"."fence"

-- settle_and_claim: all completed; one row
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal" SKIP LOCKED),
done AS (
  UPDATE "minimal"
  SET "state" = 'completed'
  FROM mine
  WHERE "minimal"."id" = mine.row_key
  AND "minimal"."fence" = mine.fence
  AND "minimal"."state" = 'running'
  RETURNING "minimal"."id", "minimal"."fence"),
picked AS MATERIALIZED (
  SELECT "minimal"."id"
  FROM "minimal"
  WHERE (("minimal"."state" = 'pending')
    AND ("minimal"."fence" <= 9223372036853727231))
  ORDER BY "minimal"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "minimal"
  SET "state" = 'running',
      "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
  FROM picked
  WHERE "minimal"."id" = picked."id"
  AND "minimal"."state" = 'pending'
  AND "minimal"."id" NOT IN (
    SELECT unnest((
        SELECT $4)))
  RETURNING "minimal"."id", "minimal"."id", "minimal"."fence")
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: all completed; up to n rows
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal" SKIP LOCKED),
done AS (
  UPDATE "minimal"
  SET "state" = 'completed'
  FROM mine
  WHERE "minimal"."id" = mine.row_key
  AND "minimal"."fence" = mine.fence
  AND "minimal"."state" = 'running'
  RETURNING "minimal"."id", "minimal"."fence"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "minimal"."id"
    FROM "minimal"
    WHERE (("minimal"."state" = 'pending')
      AND ("minimal"."fence" <= 9223372036853727231))
    ORDER BY "minimal"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $4)) AS first
  LIMIT 128),
won AS (
  UPDATE "minimal"
  SET "state" = 'running',
      "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
  FROM picked
  WHERE "minimal"."id" = picked."id"
  AND "minimal"."state" = 'pending'
  AND "minimal"."id" NOT IN (
    SELECT unnest((
        SELECT $5)))
  RETURNING "minimal"."id", "minimal"."id", "minimal"."fence", "minimal"."id" AS claim_order_0)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0

-- settle_and_claim: mixed; one row
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
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
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal" SKIP LOCKED),
done AS (
  UPDATE "minimal"
  SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' END
  FROM mine
  WHERE "minimal"."id" = mine.row_key
  AND "minimal"."fence" = mine.fence
  AND "minimal"."state" = 'running'
  RETURNING "minimal"."id", "minimal"."fence"),
picked AS MATERIALIZED (
  SELECT "minimal"."id"
  FROM "minimal"
  WHERE (("minimal"."state" = 'pending')
    AND ("minimal"."fence" <= 9223372036853727231))
  ORDER BY "minimal"."id" ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "minimal"
  SET "state" = 'running',
      "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
  FROM picked
  WHERE "minimal"."id" = picked."id"
  AND "minimal"."state" = 'pending'
  AND "minimal"."id" NOT IN (
    SELECT unnest((
        SELECT $9)))
  RETURNING "minimal"."id", "minimal"."id", "minimal"."fence")
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: mixed; up to n rows
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "minimal", unnest((
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
  WHERE "minimal"."id" = given.row_key
  AND "minimal"."fence" = given.fence
  AND "minimal"."state" = 'running'
  ORDER BY "minimal"."id"
  FOR UPDATE OF "minimal" SKIP LOCKED),
done AS (
  UPDATE "minimal"
  SET "state" = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' END
  FROM mine
  WHERE "minimal"."id" = mine.row_key
  AND "minimal"."fence" = mine.fence
  AND "minimal"."state" = 'running'
  RETURNING "minimal"."id", "minimal"."fence"),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "minimal"."id"
    FROM "minimal"
    WHERE (("minimal"."state" = 'pending')
      AND ("minimal"."fence" <= 9223372036853727231))
    ORDER BY "minimal"."id" ASC
    FOR UPDATE SKIP LOCKED
    LIMIT (
      SELECT $9)) AS first
  LIMIT 128),
won AS (
  UPDATE "minimal"
  SET "state" = 'running',
      "fence" = "minimal"."fence" + 1 + floor(random() * 1048576)::bigint
  FROM picked
  WHERE "minimal"."id" = picked."id"
  AND "minimal"."state" = 'pending'
  AND "minimal"."id" NOT IN (
    SELECT unnest((
        SELECT $10)))
  RETURNING "minimal"."id", "minimal"."id", "minimal"."fence", "minimal"."id" AS claim_order_0)
SELECT won.*, done."fence", done."id"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0
