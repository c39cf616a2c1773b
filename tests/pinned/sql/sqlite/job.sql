-- claim_next: one row, one queue
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
    FROM `claimstore_jobs`
    WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
              AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
            AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
          AND likely((`claimstore_jobs`.`due` <= ?)))
        AND (`claimstore_jobs`.`kind` IN (
            SELECT name
            FROM claimstore_queues
            WHERE table_name = 'claimstore_jobs'
            AND scope = 'kind'
            AND paused_at IS NOT NULL)) IS NOT TRUE)
      AND (`claimstore_jobs`.`queue` = (
          SELECT ?
          WHERE (? IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)))
    ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
    LIMIT 1))
AND `claimstore_jobs`.`state` = 'pending'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- claim_next: one row, three queues
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT *
    FROM (
      SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
      FROM `claimstore_jobs`
      WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`queue` = (
            SELECT ?
            WHERE (? IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'queue'
                AND paused_at IS NOT NULL)) IS NOT TRUE)))
      ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
      LIMIT 1)
    UNION ALL
    SELECT *
    FROM (
      SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
      FROM `claimstore_jobs`
      WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`queue` = (
            SELECT ?
            WHERE (? IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'queue'
                AND paused_at IS NOT NULL)) IS NOT TRUE)))
      ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
      LIMIT 1)
    UNION ALL
    SELECT *
    FROM (
      SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
      FROM `claimstore_jobs`
      WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`queue` = (
            SELECT ?
            WHERE (? IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'queue'
                AND paused_at IS NOT NULL)) IS NOT TRUE)))
      ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
      LIMIT 1)
    ORDER BY `priority` DESC, `due`, `id`
    LIMIT 1))
AND `claimstore_jobs`.`state` = 'pending'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- claim_next: up to n rows, one queue
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
    FROM `claimstore_jobs`
    WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
              AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
            AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
          AND likely((`claimstore_jobs`.`due` <= ?)))
        AND (`claimstore_jobs`.`kind` IN (
            SELECT name
            FROM claimstore_queues
            WHERE table_name = 'claimstore_jobs'
            AND scope = 'kind'
            AND paused_at IS NOT NULL)) IS NOT TRUE)
      AND (`claimstore_jobs`.`queue` = (
          SELECT ?
          WHERE (? IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)))
    ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
    LIMIT ?))
AND `claimstore_jobs`.`state` = 'pending'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE, `claimstore_jobs`.`priority` AS claim_order_0, `claimstore_jobs`.`due` AS claim_order_1,
`claimstore_jobs`.`id` AS claim_order_2

-- claim_next: up to n rows, three queues
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT *
    FROM (
      SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
      FROM `claimstore_jobs`
      WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`queue` = (
            SELECT ?
            WHERE (? IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'queue'
                AND paused_at IS NOT NULL)) IS NOT TRUE)))
      ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
      LIMIT ?)
    UNION ALL
    SELECT *
    FROM (
      SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
      FROM `claimstore_jobs`
      WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`queue` = (
            SELECT ?
            WHERE (? IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'queue'
                AND paused_at IS NOT NULL)) IS NOT TRUE)))
      ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
      LIMIT ?)
    UNION ALL
    SELECT *
    FROM (
      SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
      FROM `claimstore_jobs`
      WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`queue` = (
            SELECT ?
            WHERE (? IN (
                SELECT name
                FROM claimstore_queues
                WHERE table_name = 'claimstore_jobs'
                AND scope = 'queue'
                AND paused_at IS NOT NULL)) IS NOT TRUE)))
      ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
      LIMIT ?)
    ORDER BY `priority` DESC, `due`, `id`
    LIMIT ?))
AND `claimstore_jobs`.`state` = 'pending'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE, `claimstore_jobs`.`priority` AS claim_order_0, `claimstore_jobs`.`due` AS claim_order_1,
`claimstore_jobs`.`id` AS claim_order_2

-- claim_next: up to n rows, except these
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`priority`, `claimstore_jobs`.`due`
    FROM `claimstore_jobs`
    WHERE (((((((`claimstore_jobs`.`state` = 'pending')
                AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
              AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
            AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
          AND likely((`claimstore_jobs`.`due` <= ?)))
        AND (`claimstore_jobs`.`kind` IN (
            SELECT name
            FROM claimstore_queues
            WHERE table_name = 'claimstore_jobs'
            AND scope = 'kind'
            AND paused_at IS NOT NULL)) IS NOT TRUE)
      AND (`claimstore_jobs`.`queue` = (
          SELECT ?
          WHERE (? IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'queue'
              AND paused_at IS NOT NULL)) IS NOT TRUE)))
    ORDER BY `claimstore_jobs`.`priority` DESC, `claimstore_jobs`.`due` ASC, `claimstore_jobs`.`id` ASC
    LIMIT ?))
AND `claimstore_jobs`.`state` = 'pending'
AND `claimstore_jobs`.`id` NOT IN (
  SELECT json_extract(value, '$[0]')
  FROM json_each(?))
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE, `claimstore_jobs`.`priority` AS claim_order_0, `claimstore_jobs`.`due` AS claim_order_1,
`claimstore_jobs`.`id` AS claim_order_2

-- claim_key: passing over a locked row
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `claimstore_jobs`.`id`
    FROM `claimstore_jobs`
    WHERE ((((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`id` = ?))
      AND (`claimstore_jobs`.`queue` IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)))
AND `claimstore_jobs`.`state` = 'pending'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- claim_key: waiting for a locked row
UPDATE `claimstore_jobs`
SET `state` = 'running',
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `worker` = ?,
    `lease` = ?,
    `claimed_at` = ?
WHERE `claimstore_jobs`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `claimstore_jobs`.`id`
    FROM `claimstore_jobs`
    WHERE ((((((((`claimstore_jobs`.`state` = 'pending')
                  AND (`claimstore_jobs`.`fence` <= 9223372036853727231))
                AND (`claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`))
              AND (`claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`))
            AND likely((`claimstore_jobs`.`due` <= ?)))
          AND (`claimstore_jobs`.`kind` IN (
              SELECT name
              FROM claimstore_queues
              WHERE table_name = 'claimstore_jobs'
              AND scope = 'kind'
              AND paused_at IS NOT NULL)) IS NOT TRUE)
        AND (`claimstore_jobs`.`id` = ?))
      AND (`claimstore_jobs`.`queue` IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)))
AND `claimstore_jobs`.`state` = 'pending'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`queue`, `claimstore_jobs`.`kind`, `claimstore_jobs`.`payload`,
`claimstore_jobs`.`priority`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`created_at`, `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`, (`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE

-- observe
SELECT `claimstore_jobs`.`state`, `claimstore_jobs`.`fence`, NULL, `claimstore_jobs`.`worker`,
`claimstore_jobs`.`lease`, `claimstore_jobs`.`due`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`,
`claimstore_jobs`.`interruptions`, `claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`,
((`claimstore_jobs`.`queue` IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND paused_at IS NOT NULL)) IS TRUE
  OR (`claimstore_jobs`.`kind` IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'kind'
      AND paused_at IS NOT NULL)) IS TRUE),
(`claimstore_jobs`.`queue` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'queue'
    AND NOT keep_completed)) IS TRUE
FROM `claimstore_jobs`
WHERE `claimstore_jobs`.`id` = ?

-- next_due: one queue
SELECT `claimstore_jobs`.`due` AS first_due
FROM `claimstore_jobs`
WHERE `claimstore_jobs`.`state` = 'pending'
AND `claimstore_jobs`.`fence` > -1
AND `claimstore_jobs`.`fence` <= 9223372036853727231
AND `claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`
AND `claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`
AND (`claimstore_jobs`.`kind` IN (
    SELECT name
    FROM claimstore_queues
    WHERE table_name = 'claimstore_jobs'
    AND scope = 'kind'
    AND paused_at IS NOT NULL)) IS NOT TRUE
AND `claimstore_jobs`.`queue` = (
  SELECT ?
  WHERE (? IN (
      SELECT name
      FROM claimstore_queues
      WHERE table_name = 'claimstore_jobs'
      AND scope = 'queue'
      AND paused_at IS NOT NULL)) IS NOT TRUE)
AND `claimstore_jobs`.`due` IS NOT NULL
ORDER BY `claimstore_jobs`.`due`
LIMIT 1

-- next_due: three queues
SELECT min(first_due)
FROM (
  SELECT *
  FROM (
    SELECT `claimstore_jobs`.`due` AS first_due
    FROM `claimstore_jobs`
    WHERE `claimstore_jobs`.`state` = 'pending'
    AND `claimstore_jobs`.`fence` > -1
    AND `claimstore_jobs`.`fence` <= 9223372036853727231
    AND `claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`
    AND `claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`
    AND (`claimstore_jobs`.`kind` IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'kind'
        AND paused_at IS NOT NULL)) IS NOT TRUE
    AND `claimstore_jobs`.`queue` = (
      SELECT ?
      WHERE (? IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    AND `claimstore_jobs`.`due` IS NOT NULL
    ORDER BY `claimstore_jobs`.`due`
    LIMIT 1)
  UNION ALL
  SELECT *
  FROM (
    SELECT `claimstore_jobs`.`due` AS first_due
    FROM `claimstore_jobs`
    WHERE `claimstore_jobs`.`state` = 'pending'
    AND `claimstore_jobs`.`fence` > -1
    AND `claimstore_jobs`.`fence` <= 9223372036853727231
    AND `claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`
    AND `claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`
    AND (`claimstore_jobs`.`kind` IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'kind'
        AND paused_at IS NOT NULL)) IS NOT TRUE
    AND `claimstore_jobs`.`queue` = (
      SELECT ?
      WHERE (? IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    AND `claimstore_jobs`.`due` IS NOT NULL
    ORDER BY `claimstore_jobs`.`due`
    LIMIT 1)
  UNION ALL
  SELECT *
  FROM (
    SELECT `claimstore_jobs`.`due` AS first_due
    FROM `claimstore_jobs`
    WHERE `claimstore_jobs`.`state` = 'pending'
    AND `claimstore_jobs`.`fence` > -1
    AND `claimstore_jobs`.`fence` <= 9223372036853727231
    AND `claimstore_jobs`.`failures` < `claimstore_jobs`.`max_failures`
    AND `claimstore_jobs`.`crashes` < `claimstore_jobs`.`max_crashes`
    AND (`claimstore_jobs`.`kind` IN (
        SELECT name
        FROM claimstore_queues
        WHERE table_name = 'claimstore_jobs'
        AND scope = 'kind'
        AND paused_at IS NOT NULL)) IS NOT TRUE
    AND `claimstore_jobs`.`queue` = (
      SELECT ?
      WHERE (? IN (
          SELECT name
          FROM claimstore_queues
          WHERE table_name = 'claimstore_jobs'
          AND scope = 'queue'
          AND paused_at IS NOT NULL)) IS NOT TRUE)
    AND `claimstore_jobs`.`due` IS NOT NULL
    ORDER BY `claimstore_jobs`.`due`
    LIMIT 1)) AS first

-- renew
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?)))
UPDATE `claimstore_jobs`
SET `lease` = ?
FROM mine
WHERE `claimstore_jobs`.`id` = mine.row_key
AND `claimstore_jobs`.`fence` = mine.fence
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = mine.worker
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- guard
UPDATE `claimstore_jobs`
SET `fence` = `claimstore_jobs`.`fence`
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle: complete
UPDATE `claimstore_jobs`
SET `state` = 'completed',
    `lease` = NULL,
    `finished_at` = ?
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle: release
UPDATE `claimstore_jobs`
SET `state` = 'pending',
    `lease` = NULL,
    `worker` = NULL,
    `claimed_at` = NULL,
    `interruptions` = ?,
    `failures` = ?
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle: snooze
UPDATE `claimstore_jobs`
SET `state` = 'pending',
    `lease` = NULL,
    `worker` = NULL,
    `claimed_at` = NULL,
    `due` = ?,
    `interruptions` = ?,
    `failures` = ?
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle: fail, with a back-off
UPDATE `claimstore_jobs`
SET `state` = 'pending',
    `lease` = NULL,
    `worker` = NULL,
    `claimed_at` = NULL,
    `due` = ?,
    `interruptions` = ?,
    `failures` = ?,
    `last_error` = ?
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle: fail, at once again
UPDATE `claimstore_jobs`
SET `state` = 'pending',
    `lease` = NULL,
    `worker` = NULL,
    `claimed_at` = NULL,
    `interruptions` = ?,
    `failures` = ?,
    `last_error` = ?
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle: fail, for good
UPDATE `claimstore_jobs`
SET `state` = 'dead',
    `lease` = NULL,
    `finished_at` = ?,
    `failures` = ?,
    `last_error` = ?
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle_many: all completed
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?)))
UPDATE `claimstore_jobs`
SET `state` = 'completed',
    `lease` = NULL,
    `finished_at` = ?
FROM mine
WHERE `claimstore_jobs`.`id` = mine.row_key
AND `claimstore_jobs`.`fence` = mine.fence
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = mine.worker
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- settle_many: mixed
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker,
    json_extract(value, '$[3]') AS state, json_extract(value, '$[4]') AS delay, json_extract(value, '$[5]') AS failures,
    json_extract(value, '$[7]') AS interruptions, json_extract(value, '$[8]') AS error
    FROM json_each(?)))
UPDATE `claimstore_jobs`
SET `state` = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
    `lease` = NULL,
    `worker` = CASE mine.state WHEN 0 THEN NULL ELSE `claimstore_jobs`.`worker` END,
    `claimed_at` = CASE mine.state WHEN 0 THEN NULL ELSE `claimstore_jobs`.`claimed_at` END,
    `due` = CASE WHEN mine.delay IS NULL THEN `claimstore_jobs`.`due` ELSE mine.delay END,
    `finished_at` = CASE WHEN mine.state IN (2, 3, 4) THEN ? ELSE `claimstore_jobs`.`finished_at` END,
    `failures` = mine.failures,
    `interruptions` = mine.interruptions,
    `last_error` = COALESCE(mine.error, `claimstore_jobs`.`last_error`)
FROM mine
WHERE `claimstore_jobs`.`id` = mine.row_key
AND `claimstore_jobs`.`fence` = mine.fence
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = mine.worker
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- settle: complete, and delete
DELETE
FROM `claimstore_jobs`
WHERE `claimstore_jobs`.`id` = ?
AND `claimstore_jobs`.`fence` = ?
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = ?

-- settle_many: all completed, and delete
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?))) DELETE
FROM `claimstore_jobs`
WHERE (`claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`worker`) IN (
  SELECT row_key, fence, worker
  FROM mine)
AND `claimstore_jobs`.`state` = 'running'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- settle_many: all completed, and delete, passing over locked rows
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?))) DELETE
FROM `claimstore_jobs`
WHERE (`claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`worker`) IN (
  SELECT row_key, fence, worker
  FROM mine)
AND `claimstore_jobs`.`state` = 'running'
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- settle_many: mixed, passing over locked rows
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker,
    json_extract(value, '$[3]') AS state, json_extract(value, '$[4]') AS delay, json_extract(value, '$[5]') AS failures,
    json_extract(value, '$[7]') AS interruptions, json_extract(value, '$[8]') AS error
    FROM json_each(?)))
UPDATE `claimstore_jobs`
SET `state` = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
    `lease` = NULL,
    `worker` = CASE mine.state WHEN 0 THEN NULL ELSE `claimstore_jobs`.`worker` END,
    `claimed_at` = CASE mine.state WHEN 0 THEN NULL ELSE `claimstore_jobs`.`claimed_at` END,
    `due` = CASE WHEN mine.delay IS NULL THEN `claimstore_jobs`.`due` ELSE mine.delay END,
    `finished_at` = CASE WHEN mine.state IN (2, 3, 4) THEN ? ELSE `claimstore_jobs`.`finished_at` END,
    `failures` = mine.failures,
    `interruptions` = mine.interruptions,
    `last_error` = COALESCE(mine.error, `claimstore_jobs`.`last_error`)
FROM mine
WHERE `claimstore_jobs`.`id` = mine.row_key
AND `claimstore_jobs`.`fence` = mine.fence
AND `claimstore_jobs`.`state` = 'running'
AND `claimstore_jobs`.`worker` = mine.worker
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- expiring: first page
SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`, `claimstore_jobs`.`worker`,
`claimstore_jobs`.`idempotent`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`
FROM `claimstore_jobs`
WHERE `claimstore_jobs`.`lease` IS NOT NULL
AND `claimstore_jobs`.`lease` < ?
AND `claimstore_jobs`.`state` = 'running'
ORDER BY `claimstore_jobs`.`lease`, `claimstore_jobs`.`id`
LIMIT ?

-- expiring: next page
SELECT `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`, `claimstore_jobs`.`worker`,
`claimstore_jobs`.`idempotent`, `claimstore_jobs`.`failures`, `claimstore_jobs`.`crashes`, `claimstore_jobs`.`interruptions`,
`claimstore_jobs`.`max_failures`, `claimstore_jobs`.`max_crashes`
FROM `claimstore_jobs`
WHERE `claimstore_jobs`.`lease` IS NOT NULL
AND `claimstore_jobs`.`lease` < ?
AND `claimstore_jobs`.`state` = 'running'
AND (`claimstore_jobs`.`lease`, `claimstore_jobs`.`id`) > (?, ?)
ORDER BY `claimstore_jobs`.`lease`, `claimstore_jobs`.`id`
LIMIT ?

-- recover
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[3]') AS state,
    json_extract(value, '$[4]') AS delay, json_extract(value, '$[6]') AS crashes
    FROM json_each(?)))
UPDATE `claimstore_jobs`
SET `state` = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' WHEN 3 THEN 'dead' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'uncertain' END,
    `lease` = NULL,
    `worker` = CASE mine.state WHEN 0 THEN NULL ELSE `claimstore_jobs`.`worker` END,
    `claimed_at` = CASE mine.state WHEN 0 THEN NULL ELSE `claimstore_jobs`.`claimed_at` END,
    `due` = CASE WHEN mine.delay IS NULL THEN `claimstore_jobs`.`due` ELSE mine.delay END,
    `finished_at` = CASE WHEN mine.state IN (2, 3, 4) THEN ? ELSE `claimstore_jobs`.`finished_at` END,
    `fence` = `claimstore_jobs`.`fence` + 1 + (random() & 1048575),
    `crashes` = mine.crashes,
    `last_error` = 'abandoned: the lease ran out'
FROM mine
WHERE `claimstore_jobs`.`id` = mine.row_key
AND `claimstore_jobs`.`fence` = mine.fence
AND `claimstore_jobs`.`state` = 'running'
AND COALESCE(`claimstore_jobs`.`lease` < ?, FALSE)
RETURNING `claimstore_jobs`.`id`, `claimstore_jobs`.`fence`, `claimstore_jobs`.`lease`

-- pause: a queue
INSERT INTO claimstore_queues (table_name, scope, name, paused_at, paused_by, reason) VALUES ('claimstore_jobs', 'queue', ?, ?, ?, ?) ON CONFLICT (table_name, scope, name) DO
UPDATE
SET paused_at = excluded.paused_at,
    paused_by = excluded.paused_by,
    reason = excluded.reason
WHERE claimstore_queues.paused_at IS NULL

-- pause: a kind
INSERT INTO claimstore_queues (table_name, scope, name, paused_at, paused_by, reason) VALUES ('claimstore_jobs', 'kind', ?, ?, ?, ?) ON CONFLICT (table_name, scope, name) DO
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
AND name = ?
AND paused_at IS NOT NULL

-- keep_completed: no
INSERT INTO claimstore_queues (table_name, scope, name, keep_completed) VALUES ('claimstore_jobs', 'queue', ?, FALSE) ON CONFLICT (table_name, scope, name) DO
UPDATE
SET keep_completed = FALSE
WHERE claimstore_queues.keep_completed

-- keep_completed: yes
UPDATE claimstore_queues
SET keep_completed = TRUE
WHERE table_name = 'claimstore_jobs'
AND scope = 'queue'
AND name = ?
AND NOT keep_completed

-- queues
SELECT scope, name, paused_at, paused_by, reason, keep_completed
FROM claimstore_queues
WHERE table_name = 'claimstore_jobs'
AND (paused_at IS NOT NULL
  OR NOT keep_completed)
