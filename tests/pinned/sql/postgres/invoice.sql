-- claim_next: one row
WITH picked AS MATERIALIZED (
  SELECT "invoices"."invoice_number", "invoices"."urgency"
  FROM "invoices"
  WHERE ((((("invoices"."status" = 'new')
          OR ("invoices"."status" = 'again'))
        AND ("invoices"."claim_fence" <= 9223372036853727231))
      AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
    AND (("invoices"."send_after" IS NULL)
      OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
  ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
  FOR NO KEY UPDATE SKIP LOCKED
  LIMIT 1)
UPDATE "invoices"
SET "status" = 'sending',
    "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
    "claimed_by" = $1,
    "lease_until" = (extract(epoch FROM clock_timestamp() + $2) * 1000000)::bigint,
    "claimed_since" = clock_timestamp()
FROM picked
WHERE "invoices"."invoice_number" = picked."invoice_number"
AND "invoices"."status" IN ('new', 'again')
RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
"invoices"."tries", "invoices"."most_tries"

-- claim_next: up to n rows
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "invoices"."invoice_number", "invoices"."urgency"
    FROM "invoices"
    WHERE ((((("invoices"."status" = 'new')
            OR ("invoices"."status" = 'again'))
          AND ("invoices"."claim_fence" <= 9223372036853727231))
        AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
      AND (("invoices"."send_after" IS NULL)
        OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
    ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
    FOR NO KEY UPDATE SKIP LOCKED
    LIMIT (
      SELECT $1)) AS first
  LIMIT 128),
won AS (
  UPDATE "invoices"
  SET "status" = 'sending',
      "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
      "claimed_by" = $2,
      "lease_until" = (extract(epoch FROM clock_timestamp() + $3) * 1000000)::bigint,
      "claimed_since" = clock_timestamp()
  FROM picked
  WHERE "invoices"."invoice_number" = picked."invoice_number"
  AND "invoices"."status" IN ('new', 'again')
  RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
  ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
  "invoices"."tries", "invoices"."most_tries", "invoices"."urgency" AS claim_order_0, "invoices"."invoice_number" AS claim_order_1)
SELECT *
FROM won
ORDER BY won.claim_order_0 DESC, won.claim_order_1

-- claim_next: up to n rows, except these
WITH picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "invoices"."invoice_number", "invoices"."urgency"
    FROM "invoices"
    WHERE ((((("invoices"."status" = 'new')
            OR ("invoices"."status" = 'again'))
          AND ("invoices"."claim_fence" <= 9223372036853727231))
        AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
      AND (("invoices"."send_after" IS NULL)
        OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
    ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
    FOR NO KEY UPDATE SKIP LOCKED
    LIMIT (
      SELECT $1)) AS first
  LIMIT 128),
won AS (
  UPDATE "invoices"
  SET "status" = 'sending',
      "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
      "claimed_by" = $2,
      "lease_until" = (extract(epoch FROM clock_timestamp() + $3) * 1000000)::bigint,
      "claimed_since" = clock_timestamp()
  FROM picked
  WHERE "invoices"."invoice_number" = picked."invoice_number"
  AND "invoices"."status" IN ('new', 'again')
  AND "invoices"."invoice_number" NOT IN (
    SELECT unnest((
        SELECT $4)))
  RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
  ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
  "invoices"."tries", "invoices"."most_tries", "invoices"."urgency" AS claim_order_0, "invoices"."invoice_number" AS claim_order_1)
SELECT *
FROM won
ORDER BY won.claim_order_0 DESC, won.claim_order_1

-- claim_key: passing over a locked row
WITH picked AS MATERIALIZED (
  SELECT "invoices"."invoice_number"
  FROM "invoices"
  WHERE (((((("invoices"."status" = 'new')
            OR ("invoices"."status" = 'again'))
          AND ("invoices"."claim_fence" <= 9223372036853727231))
        AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
      AND (("invoices"."send_after" IS NULL)
        OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
    AND ("invoices"."invoice_number" = $1))
  FOR NO KEY UPDATE SKIP LOCKED)
UPDATE "invoices"
SET "status" = 'sending',
    "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
    "claimed_by" = $2,
    "lease_until" = (extract(epoch FROM clock_timestamp() + $3) * 1000000)::bigint,
    "claimed_since" = clock_timestamp()
FROM picked
WHERE "invoices"."invoice_number" = picked."invoice_number"
AND "invoices"."status" IN ('new', 'again')
RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
"invoices"."tries", "invoices"."most_tries"

-- claim_key: waiting for a locked row
WITH picked AS MATERIALIZED (
  SELECT "invoices"."invoice_number"
  FROM "invoices"
  WHERE (((((("invoices"."status" = 'new')
            OR ("invoices"."status" = 'again'))
          AND ("invoices"."claim_fence" <= 9223372036853727231))
        AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
      AND (("invoices"."send_after" IS NULL)
        OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
    AND ("invoices"."invoice_number" = $1))
  FOR NO KEY UPDATE)
UPDATE "invoices"
SET "status" = 'sending',
    "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
    "claimed_by" = $2,
    "lease_until" = (extract(epoch FROM clock_timestamp() + $3) * 1000000)::bigint,
    "claimed_since" = clock_timestamp()
FROM picked
WHERE "invoices"."invoice_number" = picked."invoice_number"
AND "invoices"."status" IN ('new', 'again')
RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
"invoices"."tries", "invoices"."most_tries"

-- observe
SELECT "invoices"."status", "invoices"."claim_fence", clock_timestamp(),
"invoices"."claimed_by", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
("invoices"."send_after" AT TIME ZONE 'UTC'),
"invoices"."tries", NULL, NULL, "invoices"."most_tries", NULL, FALSE, FALSE
FROM "invoices"
WHERE "invoices"."invoice_number" = $1

-- next_due
SELECT min(first_due) AS first_due
FROM (
  SELECT *
  FROM (
    SELECT (((statement_timestamp()) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') AS first_due
    FROM "invoices"
    WHERE "invoices"."status" IN ('new', 'again')
    AND "invoices"."claim_fence" > -1
    AND "invoices"."claim_fence" <= 9223372036853727231
    AND "invoices"."tries" < "invoices"."most_tries"
    AND "invoices"."send_after" IS NULL
    LIMIT 1) AS at_once
  UNION ALL
  SELECT *
  FROM (
    SELECT ("invoices"."send_after" AT TIME ZONE 'UTC') AS first_due
    FROM "invoices"
    WHERE "invoices"."status" IN ('new', 'again')
    AND "invoices"."claim_fence" > -1
    AND "invoices"."claim_fence" <= 9223372036853727231
    AND "invoices"."tries" < "invoices"."most_tries"
    AND "invoices"."send_after" IS NOT NULL
    ORDER BY "invoices"."send_after"
    LIMIT 1) AS later) AS either

-- renew
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices" SKIP LOCKED)
UPDATE "invoices"
SET "lease_until" = (extract(epoch FROM clock_timestamp() + $4) * 1000000)::bigint
FROM mine
WHERE "invoices"."invoice_number" = mine.row_key
AND "invoices"."claim_fence" = mine.fence
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = mine.worker
RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')

-- guard
SELECT 1
FROM "invoices"
WHERE "invoices"."invoice_number" = $1
AND "invoices"."claim_fence" = $2
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $3
FOR NO KEY UPDATE OF "invoices"

-- settle: complete
UPDATE "invoices"
SET "status" = 'sent',
    "lease_until" = NULL,
    "sent_at" = clock_timestamp()
WHERE "invoices"."invoice_number" = $1
AND "invoices"."claim_fence" = $2
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $3

-- settle: release
UPDATE "invoices"
SET "status" = 'new',
    "lease_until" = NULL,
    "claimed_by" = NULL,
    "claimed_since" = NULL,
    "tries" = $1
WHERE "invoices"."invoice_number" = $2
AND "invoices"."claim_fence" = $3
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $4

-- settle: snooze
UPDATE "invoices"
SET "status" = 'new',
    "lease_until" = NULL,
    "claimed_by" = NULL,
    "claimed_since" = NULL,
    "send_after" = ((clock_timestamp() + $1) AT TIME ZONE 'UTC'),
    "tries" = $2
WHERE "invoices"."invoice_number" = $3
AND "invoices"."claim_fence" = $4
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $5

-- settle: fail, with a back-off
UPDATE "invoices"
SET "status" = 'new',
    "lease_until" = NULL,
    "claimed_by" = NULL,
    "claimed_since" = NULL,
    "send_after" = ((clock_timestamp() + $1) AT TIME ZONE 'UTC'),
    "tries" = $2,
    "problem" = $3
WHERE "invoices"."invoice_number" = $4
AND "invoices"."claim_fence" = $5
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $6

-- settle: fail, at once again
UPDATE "invoices"
SET "status" = 'new',
    "lease_until" = NULL,
    "claimed_by" = NULL,
    "claimed_since" = NULL,
    "tries" = $1,
    "problem" = $2
WHERE "invoices"."invoice_number" = $3
AND "invoices"."claim_fence" = $4
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $5

-- settle: fail, for good
UPDATE "invoices"
SET "status" = 'won''t send',
    "lease_until" = NULL,
    "sent_at" = clock_timestamp(),
    "tries" = $1,
    "problem" = $2
WHERE "invoices"."invoice_number" = $3
AND "invoices"."claim_fence" = $4
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = $5

-- settle_many: all completed
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices")
UPDATE "invoices"
SET "status" = 'sent',
    "lease_until" = NULL,
    "sent_at" = clock_timestamp()
FROM mine
WHERE "invoices"."invoice_number" = mine.row_key
AND "invoices"."claim_fence" = mine.fence
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = mine.worker
RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')

-- settle_many: mixed
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
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
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices")
UPDATE "invoices"
SET "status" = CASE mine.state WHEN 0 THEN 'new' WHEN 2 THEN 'sent' WHEN 3 THEN 'won''t send' END,
    "lease_until" = NULL,
    "claimed_by" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_by" END,
    "claimed_since" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_since" END,
    "send_after" = CASE WHEN mine.delay IS NULL THEN "invoices"."send_after" ELSE ((clock_timestamp() + mine.delay * interval '1 microsecond') AT TIME ZONE 'UTC') END,
    "sent_at" = CASE WHEN mine.state IN (2, 3) THEN clock_timestamp() ELSE "invoices"."sent_at" END,
    "tries" = mine.failures,
    "problem" = COALESCE(mine.error, "invoices"."problem")
FROM mine
WHERE "invoices"."invoice_number" = mine.row_key
AND "invoices"."claim_fence" = mine.fence
AND "invoices"."status" = 'sending'
AND "invoices"."claimed_by" = mine.worker
RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')

-- expiring: first page
SELECT "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
"invoices"."claimed_by", NULL, "invoices"."tries", NULL, NULL, "invoices"."most_tries", NULL
FROM "invoices"
WHERE "invoices"."lease_until" IS NOT NULL
AND "invoices"."lease_until" < (extract(epoch FROM statement_timestamp() + $1) * 1000000)::bigint
AND "invoices"."status" = 'sending'
ORDER BY "invoices"."lease_until", "invoices"."invoice_number"
LIMIT $2

-- expiring: next page
SELECT "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
"invoices"."claimed_by", NULL, "invoices"."tries", NULL, NULL, "invoices"."most_tries", NULL
FROM "invoices"
WHERE "invoices"."lease_until" IS NOT NULL
AND "invoices"."lease_until" < (extract(epoch FROM statement_timestamp() + $1) * 1000000)::bigint
AND "invoices"."status" = 'sending'
AND ("invoices"."lease_until", "invoices"."invoice_number") > ((extract(epoch FROM $2) * 1000000)::bigint, $3)
ORDER BY "invoices"."lease_until", "invoices"."invoice_number"
LIMIT $4

-- recover
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3),
    (
      SELECT $4),
    (
      SELECT $5)) AS given(row_key, fence, state, delay, crashes)
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND COALESCE("invoices"."lease_until" < (extract(epoch FROM statement_timestamp() + $6) * 1000000)::bigint, FALSE)
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices" SKIP LOCKED)
UPDATE "invoices"
SET "status" = CASE mine.state WHEN 0 THEN 'new' WHEN 2 THEN 'sent' WHEN 3 THEN 'won''t send' END,
    "lease_until" = NULL,
    "claimed_by" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_by" END,
    "claimed_since" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_since" END,
    "send_after" = CASE WHEN mine.delay IS NULL THEN "invoices"."send_after" ELSE ((clock_timestamp() + mine.delay * interval '1 microsecond') AT TIME ZONE 'UTC') END,
    "sent_at" = CASE WHEN mine.state IN (2, 3) THEN clock_timestamp() ELSE "invoices"."sent_at" END,
    "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
    "problem" = 'abandoned: the lease ran out'
FROM mine
WHERE "invoices"."invoice_number" = mine.row_key
AND "invoices"."claim_fence" = mine.fence
AND "invoices"."status" = 'sending'
AND COALESCE("invoices"."lease_until" < (extract(epoch FROM statement_timestamp() + $7) * 1000000)::bigint, FALSE)
RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')

-- settle_and_claim: all completed; one row
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices" SKIP LOCKED),
done AS (
  UPDATE "invoices"
  SET "status" = 'sent',
      "lease_until" = NULL,
      "sent_at" = clock_timestamp()
  FROM mine
  WHERE "invoices"."invoice_number" = mine.row_key
  AND "invoices"."claim_fence" = mine.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = mine.worker
  RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')),
picked AS MATERIALIZED (
  SELECT "invoices"."invoice_number", "invoices"."urgency"
  FROM "invoices"
  WHERE ((((("invoices"."status" = 'new')
          OR ("invoices"."status" = 'again'))
        AND ("invoices"."claim_fence" <= 9223372036853727231))
      AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
    AND (("invoices"."send_after" IS NULL)
      OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
  ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
  FOR NO KEY UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "invoices"
  SET "status" = 'sending',
      "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
      "claimed_by" = $4,
      "lease_until" = (extract(epoch FROM clock_timestamp() + $5) * 1000000)::bigint,
      "claimed_since" = clock_timestamp()
  FROM picked
  WHERE "invoices"."invoice_number" = picked."invoice_number"
  AND "invoices"."status" IN ('new', 'again')
  AND "invoices"."invoice_number" NOT IN (
    SELECT unnest((
        SELECT $6)))
  RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
  ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
  "invoices"."tries", "invoices"."most_tries")
SELECT won.*, done."claim_fence", done."invoice_number"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: all completed; up to n rows
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
      SELECT $1),
    (
      SELECT $2),
    (
      SELECT $3)) AS given(row_key, fence, worker)
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices" SKIP LOCKED),
done AS (
  UPDATE "invoices"
  SET "status" = 'sent',
      "lease_until" = NULL,
      "sent_at" = clock_timestamp()
  FROM mine
  WHERE "invoices"."invoice_number" = mine.row_key
  AND "invoices"."claim_fence" = mine.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = mine.worker
  RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "invoices"."invoice_number", "invoices"."urgency"
    FROM "invoices"
    WHERE ((((("invoices"."status" = 'new')
            OR ("invoices"."status" = 'again'))
          AND ("invoices"."claim_fence" <= 9223372036853727231))
        AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
      AND (("invoices"."send_after" IS NULL)
        OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
    ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
    FOR NO KEY UPDATE SKIP LOCKED
    LIMIT (
      SELECT $4)) AS first
  LIMIT 128),
won AS (
  UPDATE "invoices"
  SET "status" = 'sending',
      "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
      "claimed_by" = $5,
      "lease_until" = (extract(epoch FROM clock_timestamp() + $6) * 1000000)::bigint,
      "claimed_since" = clock_timestamp()
  FROM picked
  WHERE "invoices"."invoice_number" = picked."invoice_number"
  AND "invoices"."status" IN ('new', 'again')
  AND "invoices"."invoice_number" NOT IN (
    SELECT unnest((
        SELECT $7)))
  RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
  ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
  "invoices"."tries", "invoices"."most_tries", "invoices"."urgency" AS claim_order_0, "invoices"."invoice_number" AS claim_order_1)
SELECT won.*, done."claim_fence", done."invoice_number"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1

-- settle_and_claim: mixed; one row
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
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
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices" SKIP LOCKED),
done AS (
  UPDATE "invoices"
  SET "status" = CASE mine.state WHEN 0 THEN 'new' WHEN 2 THEN 'sent' WHEN 3 THEN 'won''t send' END,
      "lease_until" = NULL,
      "claimed_by" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_by" END,
      "claimed_since" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_since" END,
      "send_after" = CASE WHEN mine.delay IS NULL THEN "invoices"."send_after" ELSE ((clock_timestamp() + mine.delay * interval '1 microsecond') AT TIME ZONE 'UTC') END,
      "sent_at" = CASE WHEN mine.state IN (2, 3) THEN clock_timestamp() ELSE "invoices"."sent_at" END,
      "tries" = mine.failures,
      "problem" = COALESCE(mine.error, "invoices"."problem")
  FROM mine
  WHERE "invoices"."invoice_number" = mine.row_key
  AND "invoices"."claim_fence" = mine.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = mine.worker
  RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')),
picked AS MATERIALIZED (
  SELECT "invoices"."invoice_number", "invoices"."urgency"
  FROM "invoices"
  WHERE ((((("invoices"."status" = 'new')
          OR ("invoices"."status" = 'again'))
        AND ("invoices"."claim_fence" <= 9223372036853727231))
      AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
    AND (("invoices"."send_after" IS NULL)
      OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
  ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
  FOR NO KEY UPDATE SKIP LOCKED
  LIMIT 1),
won AS (
  UPDATE "invoices"
  SET "status" = 'sending',
      "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
      "claimed_by" = $9,
      "lease_until" = (extract(epoch FROM clock_timestamp() + $10) * 1000000)::bigint,
      "claimed_since" = clock_timestamp()
  FROM picked
  WHERE "invoices"."invoice_number" = picked."invoice_number"
  AND "invoices"."status" IN ('new', 'again')
  AND "invoices"."invoice_number" NOT IN (
    SELECT unnest((
        SELECT $11)))
  RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
  ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
  "invoices"."tries", "invoices"."most_tries")
SELECT won.*, done."claim_fence", done."invoice_number"
FROM won
FULL JOIN done ON FALSE

-- settle_and_claim: mixed; up to n rows
WITH mine AS MATERIALIZED (
  SELECT given.*
  FROM "invoices", unnest((
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
  WHERE "invoices"."invoice_number" = given.row_key
  AND "invoices"."claim_fence" = given.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = given.worker
  ORDER BY "invoices"."invoice_number"
  FOR NO KEY UPDATE OF "invoices" SKIP LOCKED),
done AS (
  UPDATE "invoices"
  SET "status" = CASE mine.state WHEN 0 THEN 'new' WHEN 2 THEN 'sent' WHEN 3 THEN 'won''t send' END,
      "lease_until" = NULL,
      "claimed_by" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_by" END,
      "claimed_since" = CASE mine.state WHEN 0 THEN NULL ELSE "invoices"."claimed_since" END,
      "send_after" = CASE WHEN mine.delay IS NULL THEN "invoices"."send_after" ELSE ((clock_timestamp() + mine.delay * interval '1 microsecond') AT TIME ZONE 'UTC') END,
      "sent_at" = CASE WHEN mine.state IN (2, 3) THEN clock_timestamp() ELSE "invoices"."sent_at" END,
      "tries" = mine.failures,
      "problem" = COALESCE(mine.error, "invoices"."problem")
  FROM mine
  WHERE "invoices"."invoice_number" = mine.row_key
  AND "invoices"."claim_fence" = mine.fence
  AND "invoices"."status" = 'sending'
  AND "invoices"."claimed_by" = mine.worker
  RETURNING "invoices"."invoice_number", "invoices"."claim_fence", ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond')),
picked AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT "invoices"."invoice_number", "invoices"."urgency"
    FROM "invoices"
    WHERE ((((("invoices"."status" = 'new')
            OR ("invoices"."status" = 'again'))
          AND ("invoices"."claim_fence" <= 9223372036853727231))
        AND (("invoices"."tries" < "invoices"."most_tries"))::int <> 0)
      AND (("invoices"."send_after" IS NULL)
        OR ("invoices"."send_after" <= ((statement_timestamp()) AT TIME ZONE 'UTC'))))
    ORDER BY "invoices"."urgency" DESC, "invoices"."invoice_number" ASC
    FOR NO KEY UPDATE SKIP LOCKED
    LIMIT (
      SELECT $9)) AS first
  LIMIT 128),
won AS (
  UPDATE "invoices"
  SET "status" = 'sending',
      "claim_fence" = "invoices"."claim_fence" + 1 + floor(random() * 1048576)::bigint,
      "claimed_by" = $10,
      "lease_until" = (extract(epoch FROM clock_timestamp() + $11) * 1000000)::bigint,
      "claimed_since" = clock_timestamp()
  FROM picked
  WHERE "invoices"."invoice_number" = picked."invoice_number"
  AND "invoices"."status" IN ('new', 'again')
  AND "invoices"."invoice_number" NOT IN (
    SELECT unnest((
        SELECT $12)))
  RETURNING "invoices"."invoice_number", "invoices"."total", "invoices"."invoice_number", "invoices"."claim_fence",
  ('epoch'::timestamptz + "invoices"."lease_until" / 1000000 * interval '1 second' + "invoices"."lease_until" % 1000000 * interval '1 microsecond'),
  "invoices"."tries", "invoices"."most_tries", "invoices"."urgency" AS claim_order_0, "invoices"."invoice_number" AS claim_order_1)
SELECT won.*, done."claim_fence", done."invoice_number"
FROM won
FULL JOIN done ON FALSE
ORDER BY won.claim_order_0 DESC, won.claim_order_1
