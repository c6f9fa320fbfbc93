-- The delivery log: one row per request, written in the same batch as its records. The id begins with
-- the time, so the primary key orders the rows by age. Bodies are never stored.
--
--   attempt          the attempt of the Worker that inserted the row; only that attempt writes
--   rejected         records that are invalid, or whose unknown reference the policy rejects
--   refused          equal to `rejected` if the whole request is rejected; 0 if it is lenient
--   created, written  new records that are not held; all records that were written
--   held, held_written  records that wait for their customer; those of them that were written
--   listed           the number of records that the insert of this row adds to the total of its
--                    resource; 0 if a key repeats, since the records are counted then
--   unknown_at, stale_at, moved  JSON arrays of positions in the request: records with an unknown
--                    reference, stale records, and records whose indexed columns change
--   unknown_keys     [position, key …, reference] of the first 100 rejected records with an unknown
--                    reference
--   erased_at        a JSON array of positions: records of erased customers
--   verdicts         [position, verdict] of the records without `tracking_data` whose stored customer is
--                    not attributed
--   reused           1 if the Idempotency-Key was used for other records: the request is rejected
--   yesterday, today  1 if the request has records of the previous day, or of the same day (UTC)
CREATE TABLE deliveries (
  account      TEXT NOT NULL,
  id           TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  received_at  INTEGER NOT NULL,
  resource     TEXT NOT NULL,
  form         TEXT NOT NULL CHECK (form IN ('object', 'array', 'data')),
  dry_run      INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
  lenient      INTEGER NOT NULL CHECK (lenient IN (0, 1)),
  received     INTEGER NOT NULL,
  errors_total INTEGER NOT NULL,
  rejected     INTEGER NOT NULL,
  refused      INTEGER NOT NULL,
  held         INTEGER NOT NULL,
  stale        INTEGER NOT NULL,
  created      INTEGER NOT NULL,
  listed       INTEGER NOT NULL,
  written      INTEGER NOT NULL DEFAULT 0,
  held_written INTEGER NOT NULL DEFAULT 0,
  errors       TEXT CHECK (json_valid(errors)),
  unknown_at   TEXT CHECK (json_valid(unknown_at)),
  unknown_keys TEXT CHECK (json_valid(unknown_keys)),
  stale_at     TEXT CHECK (json_valid(stale_at)),
  moved        TEXT CHECK (json_valid(moved)),
  erased_at    TEXT CHECK (json_valid(erased_at)),
  verdicts     TEXT CHECK (json_valid(verdicts)),
  reused       INTEGER NOT NULL CHECK (reused IN (0, 1)),
  yesterday    INTEGER NOT NULL CHECK (yesterday IN (0, 1)),
  today        INTEGER NOT NULL CHECK (today IN (0, 1)),
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- The freshness of each feed, one row per hour. Each delivery but a dry run counts in it.
--
--   hour       hours since 1970
--   last_at    the time of the last delivery of that hour, in milliseconds
--   yesterday, today  1 if a record of the previous day, or of the same day (UTC), was stored
CREATE TABLE arrivals (
  account    TEXT NOT NULL,
  hour       INTEGER NOT NULL,
  resource   TEXT NOT NULL,
  deliveries INTEGER NOT NULL,
  received   INTEGER NOT NULL,
  refused    INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  yesterday  INTEGER NOT NULL CHECK (yesterday IN (0, 1)),
  today      INTEGER NOT NULL CHECK (today IN (0, 1)),
  PRIMARY KEY (account, hour, resource)
) STRICT, WITHOUT ROWID;

-- These triggers run in the statement that inserts the delivery: each statement of a batch costs time.
-- They name no `excluded` column, which `ALTER TABLE … RENAME` would turn into one of the stored row.
CREATE TRIGGER deliveries_arrived AFTER INSERT ON deliveries WHEN new.dry_run = 0
BEGIN
  INSERT INTO arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday, today)
  VALUES (new.account, new.received_at / 3600000, new.resource, 1, new.received,
    iif(new.refused > 0, new.received, new.rejected), new.received_at,
    new.yesterday AND new.refused = 0 AND new.rejected < new.received,
    new.today AND new.refused = 0 AND new.rejected < new.received)
  ON CONFLICT (account, hour, resource) DO UPDATE SET
    deliveries = deliveries + 1, received = received + new.received,
    refused = refused + iif(new.refused > 0, new.received, new.rejected),
    last_at = max(last_at, new.received_at),
    yesterday = max(yesterday, new.yesterday AND new.refused = 0 AND new.rejected < new.received),
    today = max(today, new.today AND new.refused = 0 AND new.rejected < new.received);
END;

CREATE TRIGGER deliveries_listed AFTER INSERT ON deliveries
WHEN new.dry_run = 0 AND new.refused = 0 AND new.listed <> 0
BEGIN
  INSERT INTO totals (account, resource, total) VALUES (new.account, new.resource, new.listed)
  ON CONFLICT (account, resource) DO UPDATE SET total = total + new.listed;
END;
