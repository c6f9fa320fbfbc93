-- Finds refused deliveries: by what was wrong, and by the ids of refused records. Only a delivery with
-- errors has rows here. The day comes first, so that the oldest rows are deleted along the key.
--
--   day       the day (UTC) on which the delivery was received, as a number of days since 1970
--   term      `refused`; `code ` and the code of an error; `id ` and the id of a refused record, at
--             most 40 characters of it, as the log of deliveries keeps it
CREATE TABLE delivery_terms (
  account  TEXT NOT NULL,
  day      INTEGER NOT NULL,
  term     TEXT NOT NULL,
  delivery TEXT NOT NULL,
  PRIMARY KEY (account, day, term, delivery)
) STRICT, WITHOUT ROWID;

--   errors  a JSON array of one object (src/ingest/packed-errors.ts) with the errors of all refused
--           records; rows of earlier Workers have an array of the first 100 errors
--
-- The triggers add the terms of what the budget of the log has left of a delivery, and count their
-- bytes in it.
DROP TRIGGER deliveries_arrived;

CREATE TRIGGER deliveries_arrived AFTER INSERT ON deliveries WHEN new.dry_run = 0
BEGIN
  DELETE FROM deliveries
  WHERE account = new.account AND id = new.id
    AND (new.over_quota IS NOT NULL
      OR (new.errors_total > 0 AND (new.refused > 0 OR new.rejected = new.received)
        AND (SELECT sum(logged_bytes) FROM arrivals
          WHERE account = new.account AND hour >= new.received_at / 86400000 * 24
            AND hour < new.received_at / 86400000 * 24 + 24) >= 16777216));

  -- `unknown_keys` is not null where unknown references are rejected: later statements rely on it.
  UPDATE deliveries SET errors = NULL, unknown_keys = iif(unknown_keys IS NULL, NULL, '[]')
  WHERE account = new.account AND id = new.id AND new.errors_total > 0
    AND (SELECT sum(logged_bytes) FROM arrivals
      WHERE account = new.account AND hour >= new.received_at / 86400000 * 24
        AND hour < new.received_at / 86400000 * 24 + 24) >= 16777216;

  INSERT INTO delivery_terms (account, day, term, delivery)
  SELECT new.account, new.received_at / 86400000, term, new.id
  FROM (
    SELECT 'code ' || (value ->> 1) AS term
    FROM deliveries d, json_each(d.errors, '$[0].kinds')
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT 'id ' || (value ->> 2)
    FROM deliveries d, json_each(d.errors, '$[0].records')
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
      AND value ->> 2 IS NOT NULL
    UNION
    SELECT 'code ' || iif(d.resource <> 'customers', 'unknown_customer',
      iif(value ->> 2 IS NULL, 'length', 'unknown_affiliate'))
    FROM deliveries d, json_each(d.unknown_keys)
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT 'id ' || iif(d.resource = 'trading-activity', value ->> 2,
      iif(d.resource <> 'activities', value ->> 1,
        iif(value ->> 1 LIKE 'e %', substr(value ->> 1, 3), value ->> 2)))
    FROM deliveries d, json_each(d.unknown_keys)
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT value
    FROM deliveries d,
      json_each(iif(d.reused, '["refused", "code idempotency_key_reused"]', '["refused"]'))
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0
  )
  WHERE term IS NOT NULL
  ON CONFLICT (account, day, term, delivery) DO NOTHING;

  INSERT INTO arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday,
    today, logged_bytes, written_bytes)
  SELECT new.account, new.received_at / 3600000, new.resource, 1, new.received,
    iif(new.refused > 0, new.received, new.rejected), new.received_at,
    new.yesterday AND new.refused = 0 AND new.rejected < new.received,
    new.today AND new.refused = 0 AND new.rejected < new.received,
    iif(new.errors_total > 0, coalesce((
      SELECT 200 + octet_length(concat(errors, unknown_at, unknown_keys, stale_at, moved, erased_at,
        verdicts)) + octet_length(concat(errors -> '$[0].records', unknown_keys))
        + (octet_length(account) + 70) * (2 + min(40, coalesce(json_array_length(errors, '$[0].kinds'), 0))
          + coalesce(json_array_length(errors, '$[0].records'), 0)
          + coalesce(json_array_length(unknown_keys), 0))
      FROM deliveries WHERE account = new.account AND id = new.id), 0), 0),
    min(new.written_bytes, new.created * coalesce(new.record_bytes, new.written_bytes))
    + iif(new.errors_total > 0, 0, 200 + octet_length(concat(
      new.unknown_at, new.stale_at, new.moved, new.erased_at, new.verdicts)))
  WHERE new.over_quota IS NULL
  ON CONFLICT (account, hour, resource) DO UPDATE SET
    deliveries = deliveries + 1, received = received + new.received,
    refused = refused + iif(new.refused > 0, new.received, new.rejected),
    last_at = max(last_at, new.received_at),
    yesterday = max(yesterday, new.yesterday AND new.refused = 0 AND new.rejected < new.received),
    today = max(today, new.today AND new.refused = 0 AND new.rejected < new.received),
    logged_bytes = logged_bytes + iif(new.errors_total > 0, coalesce((
      SELECT 200 + octet_length(concat(errors, unknown_at, unknown_keys, stale_at, moved, erased_at,
        verdicts)) + octet_length(concat(errors -> '$[0].records', unknown_keys))
        + (octet_length(account) + 70) * (2 + min(40, coalesce(json_array_length(errors, '$[0].kinds'), 0))
          + coalesce(json_array_length(errors, '$[0].records'), 0)
          + coalesce(json_array_length(unknown_keys), 0))
      FROM deliveries WHERE account = new.account AND id = new.id), 0), 0),
    written_bytes = written_bytes
      + min(new.written_bytes, new.created * coalesce(new.record_bytes, new.written_bytes))
      + iif(new.errors_total > 0, 0, 200 + octet_length(concat(
        new.unknown_at, new.stale_at, new.moved, new.erased_at, new.verdicts)));
END;

DROP TRIGGER deliveries_tried;

CREATE TRIGGER deliveries_tried AFTER INSERT ON deliveries
WHEN new.dry_run = 1 AND new.over_quota IS NOT -1
BEGIN
  INSERT INTO delivery_terms (account, day, term, delivery)
  SELECT new.account, new.received_at / 86400000, term, new.id
  FROM (
    SELECT 'code ' || (value ->> 1) AS term
    FROM deliveries d, json_each(d.errors, '$[0].kinds')
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT 'id ' || (value ->> 2)
    FROM deliveries d, json_each(d.errors, '$[0].records')
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
      AND value ->> 2 IS NOT NULL
    UNION
    SELECT 'code ' || iif(d.resource <> 'customers', 'unknown_customer',
      iif(value ->> 2 IS NULL, 'length', 'unknown_affiliate'))
    FROM deliveries d, json_each(d.unknown_keys)
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT 'id ' || iif(d.resource = 'trading-activity', value ->> 2,
      iif(d.resource <> 'activities', value ->> 1,
        iif(value ->> 1 LIKE 'e %', substr(value ->> 1, 3), value ->> 2)))
    FROM deliveries d, json_each(d.unknown_keys)
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT value
    FROM deliveries d,
      json_each(iif(d.reused, '["refused", "code idempotency_key_reused"]', '["refused"]'))
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0
  )
  WHERE term IS NOT NULL
    AND coalesce((SELECT sum(logged_bytes) FROM arrivals
      WHERE account = new.account AND hour >= new.received_at / 86400000 * 24
        AND hour < new.received_at / 86400000 * 24 + 24), 0) < 16777216
  ON CONFLICT (account, day, term, delivery) DO NOTHING;

  INSERT INTO arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday,
    today, logged_bytes)
  SELECT new.account, new.received_at / 3600000, 'dry-run', 0, 0, 0, new.received_at, 0, 0,
    200 + octet_length(concat(new.errors, new.unknown_at, new.unknown_keys, new.stale_at, new.moved,
      new.erased_at, new.verdicts)) + iif(new.errors_total > 0,
      octet_length(concat(new.errors -> '$[0].records', new.unknown_keys))
      + (octet_length(new.account) + 70) * (2
        + min(40, coalesce(json_array_length(new.errors, '$[0].kinds'), 0))
        + coalesce(json_array_length(new.errors, '$[0].records'), 0)
        + coalesce(json_array_length(new.unknown_keys), 0)), 0)
  WHERE coalesce((SELECT sum(logged_bytes) FROM arrivals
    WHERE account = new.account AND hour >= new.received_at / 86400000 * 24
      AND hour < new.received_at / 86400000 * 24 + 24), 0) < 16777216
  ON CONFLICT (account, hour, resource) DO UPDATE SET
    logged_bytes = logged_bytes + 200 + octet_length(concat(new.errors, new.unknown_at, new.unknown_keys, new.stale_at, new.moved,
      new.erased_at, new.verdicts)) + iif(new.errors_total > 0,
      octet_length(concat(new.errors -> '$[0].records', new.unknown_keys))
      + (octet_length(new.account) + 70) * (2
        + min(40, coalesce(json_array_length(new.errors, '$[0].kinds'), 0))
        + coalesce(json_array_length(new.errors, '$[0].records'), 0)
        + coalesce(json_array_length(new.unknown_keys), 0)), 0);
END;

-- The deliveries that are in the log already. Of these it has the first 100 errors.
INSERT INTO delivery_terms (account, day, term, delivery)
SELECT account, received_at / 86400000, 'refused', id FROM deliveries WHERE errors_total > 0
UNION
SELECT d.account, d.received_at / 86400000, 'code ' || (value ->> '$.code'), d.id
FROM deliveries d, json_each(d.errors)
WHERE d.reused = 0
UNION
SELECT d.account, d.received_at / 86400000, 'id ' || coalesce(value ->> '$.key.transaction_id',
  value ->> '$.key.eventid', value ->> '$.key.customer_id', value ->> '$.key.customerid',
  value ->> '$.key.customerId'), d.id
FROM deliveries d, json_each(d.errors)
WHERE d.reused = 0 AND value ->> '$.key' IS NOT NULL
UNION
SELECT d.account, d.received_at / 86400000, 'code ' || iif(d.resource <> 'customers',
  'unknown_customer', iif(value ->> 2 IS NULL, 'length', 'unknown_affiliate')), d.id
FROM deliveries d, json_each(d.unknown_keys)
WHERE d.reused = 0
UNION
SELECT account, day, term, id FROM (
  SELECT d.account, d.received_at / 86400000 AS day, d.id, 'id ' || iif(d.resource = 'trading-activity', value ->> 2,
    iif(d.resource <> 'activities', value ->> 1,
      iif(value ->> 1 LIKE 'e %', substr(value ->> 1, 3), value ->> 2))) AS term
  FROM deliveries d, json_each(d.unknown_keys)
  WHERE d.reused = 0
)
WHERE term IS NOT NULL;

-- The number of records of a kept day, so that reading it needs none of the totals; null in rows that a
-- Worker kept which did not know this column.
ALTER TABLE day_totals ADD COLUMN records INTEGER;

UPDATE day_totals SET records = (SELECT coalesce(sum(value ->> 1), 0) FROM json_each(totals))
WHERE totals IS NOT NULL;
