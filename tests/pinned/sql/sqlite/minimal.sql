-- claim_next: one row
UPDATE `minimal`
SET `state` = 'running',
    `fence` = `minimal`.`fence` + 1 + (random() & 1048575)
WHERE `minimal`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `minimal`.`id`
    FROM `minimal`
    WHERE ((`minimal`.`state` = 'pending')
      AND (`minimal`.`fence` <= 9223372036853727231))
    ORDER BY `minimal`.`id` ASC
    LIMIT 1))
AND `minimal`.`state` = 'pending'
RETURNING `minimal`.`id`, `minimal`.`id`, `minimal`.`fence`

-- claim_next: up to n rows
UPDATE `minimal`
SET `state` = 'running',
    `fence` = `minimal`.`fence` + 1 + (random() & 1048575)
WHERE `minimal`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `minimal`.`id`
    FROM `minimal`
    WHERE ((`minimal`.`state` = 'pending')
      AND (`minimal`.`fence` <= 9223372036853727231))
    ORDER BY `minimal`.`id` ASC
    LIMIT ?))
AND `minimal`.`state` = 'pending'
RETURNING `minimal`.`id`, `minimal`.`id`, `minimal`.`fence`, `minimal`.`id` AS claim_order_0

-- claim_next: up to n rows, except these
UPDATE `minimal`
SET `state` = 'running',
    `fence` = `minimal`.`fence` + 1 + (random() & 1048575)
WHERE `minimal`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `minimal`.`id`
    FROM `minimal`
    WHERE ((`minimal`.`state` = 'pending')
      AND (`minimal`.`fence` <= 9223372036853727231))
    ORDER BY `minimal`.`id` ASC
    LIMIT ?))
AND `minimal`.`state` = 'pending'
AND `minimal`.`id` NOT IN (
  SELECT json_extract(value, '$[0]')
  FROM json_each(?))
RETURNING `minimal`.`id`, `minimal`.`id`, `minimal`.`fence`, `minimal`.`id` AS claim_order_0

-- claim_key: passing over a locked row
UPDATE `minimal`
SET `state` = 'running',
    `fence` = `minimal`.`fence` + 1 + (random() & 1048575)
WHERE `minimal`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `minimal`.`id`
    FROM `minimal`
    WHERE (((`minimal`.`state` = 'pending')
        AND (`minimal`.`fence` <= 9223372036853727231))
      AND (`minimal`.`id` = ?))))
AND `minimal`.`state` = 'pending'
RETURNING `minimal`.`id`, `minimal`.`id`, `minimal`.`fence`

-- claim_key: waiting for a locked row
UPDATE `minimal`
SET `state` = 'running',
    `fence` = `minimal`.`fence` + 1 + (random() & 1048575)
WHERE `minimal`.`id` IN (
  SELECT `id`
  FROM (
    SELECT `minimal`.`id`
    FROM `minimal`
    WHERE (((`minimal`.`state` = 'pending')
        AND (`minimal`.`fence` <= 9223372036853727231))
      AND (`minimal`.`id` = ?))))
AND `minimal`.`state` = 'pending'
RETURNING `minimal`.`id`, `minimal`.`id`, `minimal`.`fence`

-- observe
SELECT `minimal`.`state`, `minimal`.`fence`, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
NULL, FALSE, FALSE
FROM `minimal`
WHERE `minimal`.`id` = ?

-- renew
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?)))
UPDATE `minimal`
SET `fence` = `minimal`.`fence`
FROM mine
WHERE `minimal`.`id` = mine.row_key
AND `minimal`.`fence` = mine.fence
AND `minimal`.`state` = 'running'
RETURNING `minimal`.`id`, `minimal`.`fence`

-- guard
UPDATE `minimal`
SET `fence` = `minimal`.`fence`
WHERE `minimal`.`id` = ?
AND `minimal`.`fence` = ?
AND `minimal`.`state` = 'running'

-- settle: complete
UPDATE `minimal`
SET `state` = 'completed'
WHERE `minimal`.`id` = ?
AND `minimal`.`fence` = ?
AND `minimal`.`state` = 'running'

-- settle: release
UPDATE `minimal`
SET `state` = 'pending'
WHERE `minimal`.`id` = ?
AND `minimal`.`fence` = ?
AND `minimal`.`state` = 'running'

-- settle: fail, at once again
UPDATE `minimal`
SET `state` = 'pending'
WHERE `minimal`.`id` = ?
AND `minimal`.`fence` = ?
AND `minimal`.`state` = 'running'

-- settle_many: all completed
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker
    FROM json_each(?)))
UPDATE `minimal`
SET `state` = 'completed'
FROM mine
WHERE `minimal`.`id` = mine.row_key
AND `minimal`.`fence` = mine.fence
AND `minimal`.`state` = 'running'
RETURNING `minimal`.`id`, `minimal`.`fence`

-- settle_many: mixed
WITH mine AS (
  SELECT *
  FROM (
    SELECT json_extract(value, '$[0]') AS row_key, json_extract(value, '$[1]') AS fence, json_extract(value, '$[2]') AS worker,
    json_extract(value, '$[3]') AS state, json_extract(value, '$[4]') AS delay, json_extract(value, '$[5]') AS failures,
    json_extract(value, '$[7]') AS interruptions, json_extract(value, '$[8]') AS error
    FROM json_each(?)))
UPDATE `minimal`
SET `state` = CASE mine.state WHEN 0 THEN 'pending' WHEN 2 THEN 'completed' END
FROM mine
WHERE `minimal`.`id` = mine.row_key
AND `minimal`.`fence` = mine.fence
AND `minimal`.`state` = 'running'
RETURNING `minimal`.`id`, `minimal`.`fence`
