-- A delivery counts in the storage of its account with the records that it writes. Its new records are
-- known when its row is inserted; a second trigger counts the others once they are written. Unchanged
-- and stale records are not counted.
--
--   written_bytes  an upper bound of the bytes by which all records of the request enlarge the database
--   record_bytes   an upper bound of the bytes of each of them; null if the Worker that inserted the row
--                  did not know this column
ALTER TABLE deliveries ADD COLUMN record_bytes INTEGER;

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

  INSERT INTO arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday,
    today, logged_bytes, written_bytes)
  SELECT new.account, new.received_at / 3600000, new.resource, 1, new.received,
    iif(new.refused > 0, new.received, new.rejected), new.received_at,
    new.yesterday AND new.refused = 0 AND new.rejected < new.received,
    new.today AND new.refused = 0 AND new.rejected < new.received,
    iif(new.errors_total > 0, coalesce((
      SELECT 200 + octet_length(concat(errors, unknown_at, unknown_keys, stale_at, moved, erased_at,
        verdicts)) FROM deliveries WHERE account = new.account AND id = new.id), 0), 0),
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
        verdicts)) FROM deliveries WHERE account = new.account AND id = new.id), 0), 0),
    written_bytes = written_bytes
      + min(new.written_bytes, new.created * coalesce(new.record_bytes, new.written_bytes))
      + iif(new.errors_total > 0, 0, 200 + octet_length(concat(
        new.unknown_at, new.stale_at, new.moved, new.erased_at, new.verdicts)));
END;

-- Costs a row only if a request updates records, or holds new ones.
CREATE TRIGGER deliveries_written AFTER UPDATE OF written ON deliveries
WHEN new.dry_run = 0 AND new.written > max(old.written, new.created)
  AND max(old.written, new.created) * coalesce(new.record_bytes, new.written_bytes) < new.written_bytes
BEGIN
  UPDATE arrivals SET written_bytes = written_bytes
    + min(new.written_bytes, new.written * coalesce(new.record_bytes, new.written_bytes))
    - max(old.written, new.created) * coalesce(new.record_bytes, new.written_bytes)
  WHERE account = new.account AND hour = new.received_at / 3600000 AND resource = new.resource;
END;

-- At the quota, a request is tried as a dry run to find out whether it would write anything. This row is
-- deleted in the same batch and is not counted: its `over_quota` is -1.
DROP TRIGGER deliveries_tried;

CREATE TRIGGER deliveries_tried AFTER INSERT ON deliveries
WHEN new.dry_run = 1 AND new.over_quota IS NOT -1
BEGIN
  INSERT INTO arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday,
    today, logged_bytes)
  SELECT new.account, new.received_at / 3600000, 'dry-run', 0, 0, 0, new.received_at, 0, 0,
    200 + octet_length(concat(new.errors, new.unknown_at, new.unknown_keys, new.stale_at, new.moved,
      new.erased_at, new.verdicts))
  WHERE coalesce((SELECT sum(logged_bytes) FROM arrivals
    WHERE account = new.account AND hour >= new.received_at / 86400000 * 24
      AND hour < new.received_at / 86400000 * 24 + 24), 0) < 16777216
  ON CONFLICT (account, hour, resource) DO UPDATE SET
    logged_bytes = logged_bytes + 200 + octet_length(concat(new.errors, new.unknown_at,
      new.unknown_keys, new.stale_at, new.moved, new.erased_at, new.verdicts));
END;
