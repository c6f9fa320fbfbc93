-- The delivery log: one row per request, written in the same batch as its records. The id begins with
-- the time, so the primary key orders the rows by age. Bodies are never stored.
--
--   attempt         the attempt of the Worker that inserted the row; only that attempt writes
--   received_day    the day of `received_at`: in the account's time zone for brands, in UTC for partners.
--                   Histories store the day and not the instant, so that a later change of the zone never
--                   moves a change to another day. The delivery id has the instant
--   yesterday, today  1 if the request has records of the previous day, or of the same day (UTC)
--   days            a JSON array of the days of the request's records
--   reused          1 if the Idempotency-Key was used for other records: the request is rejected
--   rejected        records that are invalid, or whose unknown reference the policy rejects
--   refused         equal to `rejected` if the whole request is rejected; 0 if it is lenient
--   errors          a JSON array of one object (src/ingest/delivery-errors.ts) with the errors of all refused
--                   records. An account may log 16 MiB of errors and dry runs a day (UTC)
--   created, written  new records that are not held; all records that were written
--   held, held_written  records that wait for their customer; those of them that were written
--   hold_refused    1 if records of unknown customers were rejected because the account has as many held
--                   records as it may have
--   listed, held_change  the records that the insert of this row adds to the total of its resource, and
--                   to its held records; 0 if a key repeats, since the records are counted then
--
-- The storage quota. A delivery counts in the storage of its account with the records that it writes. Its
-- new records are known when its row is inserted; a second trigger counts the others once they are written.
-- Unchanged and stale records are not counted.
--
--   written_bytes   an upper bound of the bytes by which all records of the request enlarge the database
--   record_bytes    an upper bound of the bytes of each of them
--   over_quota      the bytes that the account stores, if they reach its quota: the request is refused. A
--                   trigger deletes such a row, so it is null in every row that is stored
--
-- What the sender should know of single records: JSON arrays of positions in the request.
--
--   unknown_at, stale_at, moved  records with an unknown reference, stale records, and records whose
--                   indexed columns change
--   unknown_keys    [position, key …, reference] of the first 100 rejected records with an unknown
--                   reference
--   erased_at       records of erased customers
--   changed_events  events that have replaced one with another name or customer
--   verdicts        [position, verdict] of the records without `tracking_data` whose stored customer is not
--                   attributed
--   affiliated      a JSON object of positions: customers who got another affiliate, each with the first
--                   day of that affiliate, and 1 if it holds from the signup on, else 0
CREATE TABLE deliveries (
  account        TEXT NOT NULL,
  id             TEXT NOT NULL,
  attempt        INTEGER NOT NULL,
  received_at    INTEGER NOT NULL,
  resource       TEXT NOT NULL,
  form           TEXT NOT NULL CHECK (form IN ('object', 'array', 'data')),
  dry_run        INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
  lenient        INTEGER NOT NULL CHECK (lenient IN (0, 1)),
  received       INTEGER NOT NULL,
  errors_total   INTEGER NOT NULL,
  rejected       INTEGER NOT NULL,
  refused        INTEGER NOT NULL,
  held           INTEGER NOT NULL,
  stale          INTEGER NOT NULL,
  created        INTEGER NOT NULL,
  listed         INTEGER NOT NULL,
  written        INTEGER NOT NULL DEFAULT 0,
  held_written   INTEGER NOT NULL DEFAULT 0,
  errors         TEXT CHECK (json_valid(errors)),
  unknown_at     TEXT CHECK (json_valid(unknown_at)),
  unknown_keys   TEXT CHECK (json_valid(unknown_keys)),
  stale_at       TEXT CHECK (json_valid(stale_at)),
  moved          TEXT CHECK (json_valid(moved)),
  erased_at      TEXT CHECK (json_valid(erased_at)),
  verdicts       TEXT CHECK (json_valid(verdicts)),
  reused         INTEGER NOT NULL CHECK (reused IN (0, 1)),
  yesterday      INTEGER NOT NULL CHECK (yesterday IN (0, 1)),
  today          INTEGER NOT NULL CHECK (today IN (0, 1)),
  written_bytes  INTEGER NOT NULL DEFAULT 0,
  over_quota     INTEGER,
  days           TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(days)),
  held_change    INTEGER NOT NULL DEFAULT 0,
  hold_refused   INTEGER NOT NULL DEFAULT 0 CHECK (hold_refused IN (0, 1)),
  record_bytes   INTEGER,
  received_day   INTEGER CHECK (received_day BETWEEN -719528 AND 2932896),
  changed_events TEXT CHECK (json_valid(changed_events)),
  affiliated     TEXT CHECK (json_valid(affiliated)),
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- A delivery changes the days of its records. `written` grows in the batch that writes them, and only
-- if a record was written. Stored customers are only counted, so only new ones change a day.
CREATE TRIGGER day_totals_written AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0
  AND (new.resource <> 'customers' OR new.created > 0)
BEGIN
  DELETE FROM day_totals
  WHERE account = new.account AND resource = new.resource
    AND day IN (SELECT value FROM json_each(new.days));
END;

CREATE TRIGGER deliveries_listed AFTER INSERT ON deliveries
WHEN new.dry_run = 0 AND new.refused = 0 AND (new.listed <> 0 OR new.held_change <> 0)
BEGIN
  INSERT INTO totals (account, resource, total, held)
  VALUES (new.account, new.resource, new.listed, new.held_change)
  ON CONFLICT (account, resource) DO UPDATE SET
    total = total + new.listed, held = held + new.held_change;
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

-- The triggers add the terms of what the budget of the log has left of a delivery, and count their
-- bytes in it.
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
    FROM deliveries d, json_each(d.errors, '$.kinds')
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT 'id ' || (value ->> 2)
    FROM deliveries d, json_each(d.errors, '$.records')
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
        verdicts)) + octet_length(concat(errors -> '$.records', unknown_keys))
        + (octet_length(account) + 70) * (2 + min(40, coalesce(json_array_length(errors, '$.kinds'), 0))
          + coalesce(json_array_length(errors, '$.records'), 0)
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
        verdicts)) + octet_length(concat(errors -> '$.records', unknown_keys))
        + (octet_length(account) + 70) * (2 + min(40, coalesce(json_array_length(errors, '$.kinds'), 0))
          + coalesce(json_array_length(errors, '$.records'), 0)
          + coalesce(json_array_length(unknown_keys), 0))
      FROM deliveries WHERE account = new.account AND id = new.id), 0), 0),
    written_bytes = written_bytes
      + min(new.written_bytes, new.created * coalesce(new.record_bytes, new.written_bytes))
      + iif(new.errors_total > 0, 0, 200 + octet_length(concat(
        new.unknown_at, new.stale_at, new.moved, new.erased_at, new.verdicts)));
END;

-- At the quota, a request is tried as a dry run to find out whether it would write anything. This row is
-- deleted in the same batch and is not counted: its `over_quota` is -1.
CREATE TRIGGER deliveries_tried AFTER INSERT ON deliveries
WHEN new.dry_run = 1 AND new.over_quota IS NOT -1
BEGIN
  INSERT INTO delivery_terms (account, day, term, delivery)
  SELECT new.account, new.received_at / 86400000, term, new.id
  FROM (
    SELECT 'code ' || (value ->> 1) AS term
    FROM deliveries d, json_each(d.errors, '$.kinds')
    WHERE d.account = new.account AND d.id = new.id AND new.errors_total > 0 AND new.reused = 0
    UNION
    SELECT 'id ' || (value ->> 2)
    FROM deliveries d, json_each(d.errors, '$.records')
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
      octet_length(concat(new.errors -> '$.records', new.unknown_keys))
      + (octet_length(new.account) + 70) * (2
        + min(40, coalesce(json_array_length(new.errors, '$.kinds'), 0))
        + coalesce(json_array_length(new.errors, '$.records'), 0)
        + coalesce(json_array_length(new.unknown_keys), 0)), 0)
  WHERE coalesce((SELECT sum(logged_bytes) FROM arrivals
    WHERE account = new.account AND hour >= new.received_at / 86400000 * 24
      AND hour < new.received_at / 86400000 * 24 + 24), 0) < 16777216
  ON CONFLICT (account, hour, resource) DO UPDATE SET
    logged_bytes = logged_bytes + 200 + octet_length(concat(new.errors, new.unknown_at, new.unknown_keys, new.stale_at, new.moved,
      new.erased_at, new.verdicts)) + iif(new.errors_total > 0,
      octet_length(concat(new.errors -> '$.records', new.unknown_keys))
      + (octet_length(new.account) + 70) * (2
        + min(40, coalesce(json_array_length(new.errors, '$.kinds'), 0))
        + coalesce(json_array_length(new.errors, '$.records'), 0)
        + coalesce(json_array_length(new.unknown_keys), 0)), 0);
END;

-- A delivery changes the days of its records, as for control totals.
CREATE TRIGGER changed_days_written AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0 AND new.resource <> 'customers'
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, d.value
  FROM kept_days k CROSS JOIN json_each(new.days) d
  WHERE k.account = new.account AND d.value BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

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
        SELECT value ->> 1 AS code FROM json_each(ifnull(new.errors, '{}'), '$.kinds')
        WHERE new.reused = 0
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

-- Idempotency keys, each with the SHA-256 of the records of its first use.
CREATE TABLE idempotency_keys (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  key      TEXT NOT NULL,
  digest   TEXT NOT NULL CHECK (length(digest) = 64),
  delivery TEXT NOT NULL,
  PRIMARY KEY (account, resource, key)
) STRICT, WITHOUT ROWID;

-- The freshness of each feed, one row per hour. Each delivery but a dry run counts in it.
--
--   hour       hours since 1970
--   last_at    the time of the last delivery of that hour, in milliseconds
--   yesterday, today  1 if a record of the previous day, or of the same day (UTC), was stored
--
--   logged_bytes   the bytes of the rows of `deliveries` with errors, and of those of dry runs, whose
--                  resource is `dry-run` here
--   written_bytes  the sum of `written_bytes` of the deliveries, and the bytes of their other rows
CREATE TABLE arrivals (
  account       TEXT NOT NULL,
  hour          INTEGER NOT NULL,
  resource      TEXT NOT NULL,
  deliveries    INTEGER NOT NULL,
  received      INTEGER NOT NULL,
  refused       INTEGER NOT NULL,
  last_at       INTEGER NOT NULL,
  yesterday     INTEGER NOT NULL CHECK (yesterday IN (0, 1)),
  today         INTEGER NOT NULL CHECK (today IN (0, 1)),
  logged_bytes  INTEGER NOT NULL DEFAULT 0,
  written_bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, hour, resource)
) STRICT, WITHOUT ROWID;

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

-- The number of records of an account by resource, without held records. Lists need no count.
--
-- Held records are counted, and released in steps.
--
--   held       the number of held records of the account and resource
--   releasing  the id of the last delivery of customers that left some of their held records to be
--              released after its response; null if there are none
--
-- When held records were last released after the response to a delivery of customers, in milliseconds:
-- statements that a run has computed before may have changed.
CREATE TABLE totals (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  total       INTEGER NOT NULL,
  held        INTEGER NOT NULL DEFAULT 0,
  releasing   TEXT,
  released_at INTEGER,
  PRIMARY KEY (account, resource)
) STRICT, WITHOUT ROWID;

-- A release that is not finished is found without a scan.
CREATE INDEX totals_releasing ON totals (account, resource) WHERE releasing IS NOT NULL;

-- Control totals that are kept, so that `GET totals` does not sum unchanged days again. A row exists
-- only while its sums equal the records of its day: every change of the records deletes it, in the
-- same transaction, by the triggers below. A day without a row is summed when it is next read.
--
--   form         the groups and sums of the resource; rows of another form are not read
--   totals       a JSON array of groups (src/db/records/totals.ts); null while the day is summed
--   computation  the computation that sums the day; null once the totals are kept
--   checked_at   when the totals were last kept, or compared with the records, in milliseconds
--   records      the number of records of a kept day, so that reading it needs none of the totals
CREATE TABLE day_totals (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  form        TEXT NOT NULL,
  totals      TEXT CHECK (json_valid(totals)),
  computation TEXT CHECK ((computation IS NULL) <> (totals IS NULL)),
  checked_at  INTEGER NOT NULL,
  records     INTEGER,
  PRIMARY KEY (account, resource, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX day_totals_checked ON day_totals (checked_at) WHERE computation IS NULL;

-- The computation of an account's totals. While it runs, no other one starts before `until`, in case
-- it crashed. Each millisecond of the database's time adds ten to `paid_at`, the time at which the
-- account has paid for what it used. The next computation starts at most a set time before that. Times
-- are in milliseconds.
CREATE TABLE totals_leases (
  account     TEXT PRIMARY KEY,
  computation TEXT NOT NULL,
  running     INTEGER NOT NULL CHECK (running IN (0, 1)),
  until       INTEGER NOT NULL,
  paid_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Test accounts whose records are being deleted. They accept no deliveries until that is done.
CREATE TABLE resets (
  account    TEXT PRIMARY KEY,
  started_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER resets_began AFTER INSERT ON resets
BEGIN
  INSERT INTO delivery_conditions (account, resetting) VALUES (new.account, 1)
  ON CONFLICT (account) DO UPDATE SET resetting = 1;
END;

CREATE TRIGGER resets_ended AFTER DELETE ON resets
BEGIN
  DELETE FROM delivery_conditions WHERE account = old.account AND book_zone IS NULL;
  UPDATE delivery_conditions SET resetting = 0 WHERE account = old.account;
END;

-- What the deliveries of an account must meet; accounts without a row accept all. One row answers both
-- questions, so that a delivery looks up one key.
--
--   resetting  1 while the account is being reset: no delivery is accepted
--   book_zone  if not null, a delivery whose days were computed in another zone is not accepted: the
--              zone has changed, and a token still had the previous one
CREATE TABLE delivery_conditions (
  account   TEXT PRIMARY KEY,
  resetting INTEGER NOT NULL CHECK (resetting IN (0, 1)),
  book_zone TEXT
) STRICT, WITHOUT ROWID;
