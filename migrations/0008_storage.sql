-- What an account may store. `storage_quota` is in bytes; no delivery stores records beyond it.
ALTER TABLE accounts ADD COLUMN storage_quota INTEGER NOT NULL DEFAULT 4294967296
  CHECK (storage_quota >= 0);

--   written_bytes  an upper bound of the bytes by which the records of the request enlarge the database
--   over_quota     the bytes that the account stores, if they reach its quota: the request is refused.
--                  A trigger deletes such a row, so it is null in every row that is stored
ALTER TABLE deliveries ADD COLUMN written_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN over_quota INTEGER;

--   logged_bytes   the bytes of the rows of `deliveries` with errors, and of those of dry runs, whose
--                  resource is `dry-run` here
--   written_bytes  the sum of `written_bytes` of the deliveries, and the bytes of their other rows
ALTER TABLE arrivals ADD COLUMN logged_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE arrivals ADD COLUMN written_bytes INTEGER NOT NULL DEFAULT 0;

-- What an account stores: `bytes`, and what `arrivals` counts from `until_hour` on. A cron adds the
-- counts of past hours to `bytes`, and replaces `bytes` when it has measured the rows. Since the counts
-- of the hour of a measurement are in its result, `bytes` can be negative.
--
--   measured_at     when the rows were last measured, in milliseconds; null if they never were
--   measured_bytes  the result, which later counts are compared with
--   measuring       the state of a measurement that is not complete: a JSON object with `since_hour`,
--                   `counted` (by `arrivals` in that hour before the measurement), `table`, `after` (the
--                   key of the last measured row) and `bytes`
CREATE TABLE storage (
  account        TEXT PRIMARY KEY,
  bytes          INTEGER NOT NULL,
  until_hour     INTEGER NOT NULL,
  measured_at    INTEGER,
  measured_bytes INTEGER,
  measuring      TEXT CHECK (json_valid(measuring))
) STRICT, WITHOUT ROWID;

-- `arrivals` does not count what accounts stored before this migration, so the cron measures them.
INSERT INTO storage (account, bytes, until_hour, measuring)
SELECT DISTINCT account, 0, unixepoch() / 3600,
  json_object('since_hour', unixepoch() / 3600, 'counted', 0, 'table', 'customers', 'after', NULL,
    'bytes', 0)
FROM totals;

-- An account may log 16 MiB of errors and refused requests a day (UTC). Beyond that, a request that
-- stores nothing leaves no row, and one that stores something loses its errors. The row that RETURNING
-- returns is the row as it was inserted. The statements depend on each other's effects, so they are
-- one trigger: SQLite does not define the order of several.
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
    iif(new.errors_total > 0, new.written_bytes, new.written_bytes + 200 + octet_length(concat(
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
    written_bytes = written_bytes + iif(new.errors_total > 0, new.written_bytes,
      new.written_bytes + 200 + octet_length(concat(
        new.unknown_at, new.stale_at, new.moved, new.erased_at, new.verdicts)));
END;

-- The rows of dry runs count in the same budget. A statement after the dry run deletes the row if the
-- budget is spent: until then it is needed.
CREATE TRIGGER deliveries_tried AFTER INSERT ON deliveries WHEN new.dry_run = 1
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
