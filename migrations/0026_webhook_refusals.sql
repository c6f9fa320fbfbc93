-- An account causes `delivery.refused` with each wrong request, and each endpoint has a row for it and for
-- each attempt. So an account has at most 1000 of these events a day: the log of deliveries has the rest.

-- The refused deliveries of an account that a webhook wants, of the last day (UTC) with one.
--
--   day  a number of days since 1970
CREATE TABLE webhook_refusals (
  account TEXT NOT NULL PRIMARY KEY,
  day     INTEGER NOT NULL,
  events  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

DROP TRIGGER webhook_delivery_refused;

CREATE TRIGGER webhook_delivery_refused AFTER INSERT ON deliveries
WHEN iif(new.dry_run = 0 AND (new.rejected > 0 OR new.reused = 1) AND new.over_quota IS NULL,
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('delivery.refused', '*')), 0)
BEGIN
  INSERT INTO webhook_refusals (account, day, events)
  VALUES (new.account, new.received_at / 86400000, 1)
  ON CONFLICT (account) DO UPDATE SET
    events = iif(excluded.day > day, 1, events + 1), day = max(day, excluded.day);

  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'delivery.refused', new.id, now, json_object(
      'delivery_id', new.id, 'resource', new.resource, 'received', new.received,
      'refused', iif(new.refused > 0 OR new.reused = 1, new.received, new.rejected),
      'errors_total', new.errors_total,
      'codes', json((SELECT json_group_array(code) FROM (
        SELECT value ->> 1 AS code FROM json_each(ifnull(new.errors, '[]'), '$[0].kinds')
        WHERE new.reused = 0
        UNION
        -- Earlier Workers write an array of errors.
        SELECT value ->> 'code' FROM json_each(ifnull(new.errors, '[]'))
        WHERE new.reused = 0 AND value ->> 'code' IS NOT NULL
        UNION
        -- The codes of references, which the log does not store.
        SELECT iif(new.resource <> 'customers', 'unknown_customer',
          iif(new.unknown_keys ->> '$[0][#-1]' IS NULL, 'length', 'unknown_affiliate'))
        WHERE json_array_length(new.unknown_keys) > 0 AND new.reused = 0
        UNION
        SELECT 'idempotency_key_reused' WHERE new.reused = 1
        ORDER BY 1 LIMIT 20))))
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE (SELECT events FROM webhook_refusals WHERE account = new.account) <= 1000
  ON CONFLICT (account, type, about) DO NOTHING;
END;
