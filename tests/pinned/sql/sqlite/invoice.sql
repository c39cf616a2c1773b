-- claim_next: one row
UPDATE `invoices`
SET `status` = 'sending',
    `claim_fence` = `invoices`.`claim_fence` + 1 + (random() & 1048575),
    `claimed_by` = ?,
    `lease_until` = ?,
    `claimed_since` = ?
WHERE `invoices`.`invoice_number` IN (
  SELECT `invoice_number`
  FROM (
    SELECT `invoices`.`invoice_number`, `invoices`.`urgency`
    FROM `invoices`
    WHERE (((((`invoices`.`status` = 'new')
            OR (`invoices`.`status` = 'again'))
          AND (`invoices`.`claim_fence` <= 9223372036853727231))
        AND (`invoices`.`tries` < `invoices`.`most_tries`))
      AND likely(((`invoices`.`send_after` IS NULL)
          OR (`invoices`.`send_after` <= ?))))
    ORDER BY `invoices`.`urgency` DESC, `invoices`.`invoice_number` ASC
    LIMIT 1))
AND `invoices`.`status` IN ('new', 'again')
RETURNING `invoices`.`invoice_number`, `invoices`.`total`, `invoices`.`invoice_number`, `invoices`.`claim_fence`,
`invoices`.`lease_until`, `invoices`.`tries`, `invoices`.`most_tries`

-- claim_next: up to n rows
UPDATE `invoices`
SET `status` = 'sending',
    `claim_fence` = `invoices`.`claim_fence` + 1 + (random() & 1048575),
    `claimed_by` = ?,
    `lease_until` = ?,
    `claimed_since` = ?
WHERE `invoices`.`invoice_number` IN (
  SELECT `invoice_number`
  FROM (
    SELECT `invoices`.`invoice_number`, `invoices`.`urgency`
    FROM `invoices`
    WHERE (((((`invoices`.`status` = 'new')
            OR (`invoices`.`status` = 'again'))
          AND (`invoices`.`claim_fence` <= 9223372036853727231))
        AND (`invoices`.`tries` < `invoices`.`most_tries`))
      AND likely(((`invoices`.`send_after` IS NULL)
          OR (`invoices`.`send_after` <= ?))))
    ORDER BY `invoices`.`urgency` DESC, `invoices`.`invoice_number` ASC
    LIMIT ?))
AND `invoices`.`status` IN ('new', 'again')
RETURNING `invoices`.`invoice_number`, `invoices`.`total`, `invoices`.`invoice_number`, `invoices`.`claim_fence`,
`invoices`.`lease_until`, `invoices`.`tries`, `invoices`.`most_tries`, `invoices`.`urgency` AS claim_order_0,
`invoices`.`invoice_number` AS claim_order_1

-- claim_next: up to n rows, except these
UPDATE `invoices`
SET `status` = 'sending',
    `claim_fence` = `invoices`.`claim_fence` + 1 + (random() & 1048575),
    `claimed_by` = ?,
    `lease_until` = ?,
    `claimed_since` = ?
WHERE `invoices`.`invoice_number` IN (
  SELECT `invoice_number`
  FROM (
    SELECT `invoices`.`invoice_number`, `invoices`.`urgency`
    FROM `invoices`
    WHERE (((((`invoices`.`status` = 'new')
            OR (`invoices`.`status` = 'again'))
          AND (`invoices`.`claim_fence` <= 9223372036853727231))
        AND (`invoices`.`tries` < `invoices`.`most_tries`))
      AND likely(((`invoices`.`send_after` IS NULL)
          OR (`invoices`.`send_after` <= ?))))
    ORDER BY `invoices`.`urgency` DESC, `invoices`.`invoice_number` ASC
    LIMIT ?))
AND `invoices`.`status` IN ('new', 'again')
AND `invoices`.`invoice_number` NOT IN (
  SELECT json_extract(value, '$[0]')
  FROM json_each(?))
RETURNING `invoices`.`invoice_number`, `invoices`.`total`, `invoices`.`invoice_number`, `invoices`.`claim_fence`,
`invoices`.`lease_until`, `invoices`.`tries`, `invoices`.`most_tries`, `invoices`.`urgency` AS claim_order_0,
`invoices`.`invoice_number` AS claim_order_1

-- claim_key: passing over a locked row
UPDATE `invoices`
SET `status` = 'sending',
    `claim_fence` = `invoices`.`claim_fence` + 1 + (random() & 1048575),
    `claimed_by` = ?,
    `lease_until` = ?,
    `claimed_since` = ?
WHERE `invoices`.`invoice_number` IN (
  SELECT `invoice_number`
  FROM (
    SELECT `invoices`.`invoice_number`
    FROM `invoices`
    WHERE ((((((`invoices`.`status` = 'new')
              OR (`invoices`.`status` = 'again'))
            AND (`invoices`.`claim_fence` <= 9223372036853727231))
          AND (`invoices`.`tries` < `invoices`.`most_tries`))
        AND likely(((`invoices`.`send_after` IS NULL)
            OR (`invoices`.`send_after` <= ?))))
      AND (`invoices`.`invoice_number` = ?))))
AND `invoices`.`status` IN ('new', 'again')
RETURNING `invoices`.`invoice_number`, `invoices`.`total`, `invoices`.`invoice_number`, `invoices`.`claim_fence`,
`invoices`.`lease_until`, `invoices`.`tries`, `invoices`.`most_tries`

-- claim_key: waiting for a locked row
UPDATE `invoices`
SET `status` = 'sending',
    `claim_fence` = `invoices`.`claim_fence` + 1 + (random() & 1048575),
    `claimed_by` = ?,
    `lease_until` = ?,
    `claimed_since` = ?
WHERE `invoices`.`invoice_number` IN (
  SELECT `invoice_number`
  FROM (
    SELECT `invoices`.`invoice_number`
    FROM `invoices`
    WHERE ((((((`invoices`.`status` = 'new')
              OR (`invoices`.`status` = 'again'))
            AND (`invoices`.`claim_fence` <= 9223372036853727231))
          AND (`invoices`.`tries` < `invoices`.`most_tries`))
        AND likely(((`invoices`.`send_after` IS NULL)
            OR (`invoices`.`send_after` <= ?))))
      AND (`invoices`.`invoice_number` = ?))))
AND `invoices`.`status` IN ('new', 'again')
RETURNING `invoices`.`invoice_number`, `invoices`.`total`, `invoices`.`invoice_number`, `invoices`.`claim_fence`,
`invoices`.`lease_until`, `invoices`.`tries`, `invoices`.`most_tries`

-- observe
SELECT `invoices`.`status`, `invoices`.`claim_fence`, NULL, `invoices`.`claimed_by`, `invoices`.`lease_until`,
`invoices`.`send_after`, `invoices`.`tries`, NULL, NULL, `invoices`.`most_tries`, NULL, FALSE,
FALSE
FROM `invoices`
WHERE `invoices`.`invoice_number` = ?

-- next_due
SELECT min(first_due) AS first_due
FROM (
  SELECT *
  FROM (
    SELECT ? AS first_due
    FROM `invoices`
    WHERE `invoices`.`status` IN ('new', 'again')
    AND `invoices`.`claim_fence` > -1
    AND `invoices`.`claim_fence` <= 9223372036853727231
    AND `invoices`.`tries` < `invoices`.`most_tries`
    AND `invoices`.`send_after` IS NULL
    LIMIT 1) AS at_once
  UNION ALL
  SELECT *
  FROM (
    SELECT `invoices`.`send_after` AS first_due
    FROM `invoices`
    WHERE `invoices`.`status` IN ('new', 'again')
    AND `invoices`.`claim_fence` > -1
    AND `invoices`.`claim_fence` <= 9223372036853727231
    AND `invoices`.`tries` < `invoices`.`most_tries`
    AND `invoices`.`send_after` IS NOT NULL
    ORDER BY `invoices`.`send_after`
    LIMIT 1) AS later) AS either

-- renew
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?)))
UPDATE `invoices`
SET `lease_until` = ?
FROM mine
WHERE `invoices`.`invoice_number` = mine.row_key
AND `invoices`.`claim_fence` = mine.fence
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = mine.worker
RETURNING `invoices`.`invoice_number`, `invoices`.`claim_fence`, `invoices`.`lease_until`

-- guard
UPDATE `invoices`
SET `claim_fence` = `invoices`.`claim_fence`
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle: complete
UPDATE `invoices`
SET `status` = 'sent',
    `lease_until` = NULL,
    `sent_at` = ?
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle: release
UPDATE `invoices`
SET `status` = 'new',
    `lease_until` = NULL,
    `claimed_by` = NULL,
    `claimed_since` = NULL,
    `tries` = ?
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle: snooze
UPDATE `invoices`
SET `status` = 'new',
    `lease_until` = NULL,
    `claimed_by` = NULL,
    `claimed_since` = NULL,
    `send_after` = ?,
    `tries` = ?
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle: fail, with a back-off
UPDATE `invoices`
SET `status` = 'new',
    `lease_until` = NULL,
    `claimed_by` = NULL,
    `claimed_since` = NULL,
    `send_after` = ?,
    `tries` = ?,
    `problem` = ?
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle: fail, at once again
UPDATE `invoices`
SET `status` = 'new',
    `lease_until` = NULL,
    `claimed_by` = NULL,
    `claimed_since` = NULL,
    `tries` = ?,
    `problem` = ?
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle: fail, for good
UPDATE `invoices`
SET `status` = 'won''t send',
    `lease_until` = NULL,
    `sent_at` = ?,
    `tries` = ?,
    `problem` = ?
WHERE `invoices`.`invoice_number` = ?
AND `invoices`.`claim_fence` = ?
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = ?

-- settle_many: all completed
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?)))
UPDATE `invoices`
SET `status` = 'sent',
    `lease_until` = NULL,
    `sent_at` = ?
FROM mine
WHERE `invoices`.`invoice_number` = mine.row_key
AND `invoices`.`claim_fence` = mine.fence
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = mine.worker
RETURNING `invoices`.`invoice_number`, `invoices`.`claim_fence`, `invoices`.`lease_until`

-- settle_many: mixed
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker,
    json_extract(value, '$[3]') AS state, json_extract(value, '$[4]') AS delay, json_extract(value, '$[5]') AS failures,
    json_extract(value, '$[7]') AS interruptions, json_extract(value, '$[8]') AS error
    FROM json_each(?)))
UPDATE `invoices`
SET `status` = CASE mine.state WHEN 0 THEN 'new' WHEN 2 THEN 'sent' WHEN 3 THEN 'won''t send' END,
    `lease_until` = NULL,
    `claimed_by` = CASE mine.state WHEN 0 THEN NULL ELSE `invoices`.`claimed_by` END,
    `claimed_since` = CASE mine.state WHEN 0 THEN NULL ELSE `invoices`.`claimed_since` END,
    `send_after` = CASE WHEN mine.delay IS NULL THEN `invoices`.`send_after` ELSE strftime('%Y-%m-%d %H:%M:%f', mine.delay / 1000000.0, 'unixepoch') || '000' END,
    `sent_at` = CASE WHEN mine.state IN (2, 3) THEN ? ELSE `invoices`.`sent_at` END,
    `tries` = mine.failures,
    `problem` = COALESCE(mine.error, `invoices`.`problem`)
FROM mine
WHERE `invoices`.`invoice_number` = mine.row_key
AND `invoices`.`claim_fence` = mine.fence
AND `invoices`.`status` = 'sending'
AND `invoices`.`claimed_by` = mine.worker
RETURNING `invoices`.`invoice_number`, `invoices`.`claim_fence`, `invoices`.`lease_until`

-- expiring: first page
SELECT `invoices`.`invoice_number`, `invoices`.`claim_fence`, `invoices`.`lease_until`, `invoices`.`claimed_by`,
NULL, `invoices`.`tries`, NULL, NULL, `invoices`.`most_tries`, NULL
FROM `invoices`
WHERE `invoices`.`lease_until` IS NOT NULL
AND `invoices`.`lease_until` < ?
AND `invoices`.`status` = 'sending'
ORDER BY `invoices`.`lease_until`, `invoices`.`invoice_number`
LIMIT ?

-- expiring: next page
SELECT `invoices`.`invoice_number`, `invoices`.`claim_fence`, `invoices`.`lease_until`, `invoices`.`claimed_by`,
NULL, `invoices`.`tries`, NULL, NULL, `invoices`.`most_tries`, NULL
FROM `invoices`
WHERE `invoices`.`lease_until` IS NOT NULL
AND `invoices`.`lease_until` < ?
AND `invoices`.`status` = 'sending'
AND (`invoices`.`lease_until`, `invoices`.`invoice_number`) > (?, ?)
ORDER BY `invoices`.`lease_until`, `invoices`.`invoice_number`
LIMIT ?

-- recover
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[3]') AS state,
    json_extract(value, '$[4]') AS delay, json_extract(value, '$[6]') AS crashes
    FROM json_each(?)))
UPDATE `invoices`
SET `status` = CASE mine.state WHEN 0 THEN 'new' WHEN 2 THEN 'sent' WHEN 3 THEN 'won''t send' END,
    `lease_until` = NULL,
    `claimed_by` = CASE mine.state WHEN 0 THEN NULL ELSE `invoices`.`claimed_by` END,
    `claimed_since` = CASE mine.state WHEN 0 THEN NULL ELSE `invoices`.`claimed_since` END,
    `send_after` = CASE WHEN mine.delay IS NULL THEN `invoices`.`send_after` ELSE strftime('%Y-%m-%d %H:%M:%f', mine.delay / 1000000.0, 'unixepoch') || '000' END,
    `sent_at` = CASE WHEN mine.state IN (2, 3) THEN ? ELSE `invoices`.`sent_at` END,
    `claim_fence` = `invoices`.`claim_fence` + 1 + (random() & 1048575),
    `problem` = 'abandoned: the lease ran out'
FROM mine
WHERE `invoices`.`invoice_number` = mine.row_key
AND `invoices`.`claim_fence` = mine.fence
AND `invoices`.`status` = 'sending'
AND COALESCE(`invoices`.`lease_until` < ?, FALSE)
RETURNING `invoices`.`invoice_number`, `invoices`.`claim_fence`, `invoices`.`lease_until`
