-- Months whose records have left the database for objects in R2. A row is one month of a resource of an
-- account; docs/storage.md explains how a month leaves and comes back.
--
--   first_day, last_day  the days of the month
--   state        `writing`: objects are written, and the records are used as ever
--                `sealed`: the objects are complete, and the records leave in steps
--                `archived`: no record is left
--                `restoring`: the records come back in steps
--                `ended`: the records are back, or the month was not archived after all; what was noted of
--                it is deleted in steps, and then this row
--   begun_at     when the state `writing` began, in milliseconds
--   totals_at    when the control totals of the month were last kept before that. While no day has newer
--                ones, and none lacks them, no record of the month has changed
--   erasures     the erasures of the account at that time
--   prefix       where the objects are in the bucket: no other month, and no other time that this month is
--                archived, has the same
--   records      how many records were archived; null while they are written
--   archived_at  when the month was sealed, in milliseconds
--   wanted_at    when somebody first needed the records, in milliseconds; null if nobody does. The month is
--                then restored. 0 if an erased customer has records in it, or its objects were never used: they
--                are deleted once it has ended
--   fault        the object that is damaged or missing, if the month could not be restored
CREATE TABLE archived_months (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  first_day   INTEGER NOT NULL CHECK (first_day BETWEEN -719528 AND 2932896),
  last_day    INTEGER NOT NULL CHECK (last_day BETWEEN -719528 AND 2932896),
  state       TEXT NOT NULL
    CHECK (state IN ('writing', 'sealed', 'archived', 'restoring', 'ended')),
  begun_at    INTEGER NOT NULL,
  totals_at   INTEGER NOT NULL,
  erasures    INTEGER NOT NULL,
  prefix      TEXT NOT NULL,
  records     INTEGER,
  archived_at INTEGER,
  wanted_at   INTEGER,
  fault       TEXT,
  PRIMARY KEY (account, resource, first_day)
) STRICT, WITHOUT ROWID;

-- The months on which there is work to do are found without a scan.
CREATE INDEX archived_months_due ON archived_months (account, resource, first_day)
  WHERE state <> 'archived' OR wanted_at IS NOT NULL;

-- The manifest: the objects of these months, each with the key `prefix`, `/` and `sha256`. Together
-- they have every record of the month, in the order of
-- the primary key of its table.
--
--   version     the version of the columns
--   days        a JSON array of the days, each with its number of records
--   groups      a JSON array of the row groups: the number of records, the first key and the last key
--   deliveries  a JSON array of the first and the last delivery that wrote one of these records
--   restored    1 once its records are back
CREATE TABLE archive_objects (
  account    TEXT NOT NULL,
  resource   TEXT NOT NULL,
  first_day  INTEGER NOT NULL,
  part       INTEGER NOT NULL,
  sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
  bytes      INTEGER NOT NULL,
  version    INTEGER NOT NULL,
  records    INTEGER NOT NULL,
  days       TEXT NOT NULL CHECK (json_valid(days)),
  groups     TEXT NOT NULL CHECK (json_valid(groups)),
  deliveries TEXT NOT NULL CHECK (json_valid(deliveries)),
  written_at INTEGER NOT NULL,
  restored   INTEGER NOT NULL DEFAULT 0 CHECK (restored IN (0, 1)),
  PRIMARY KEY (account, resource, first_day, part)
) STRICT, WITHOUT ROWID;

-- The ids of archived records whose key has no day, so that a record that is sent again is recognized even
-- if its day has changed. A row counts only while its month is sealed, archived or restoring.
CREATE TABLE archived_records (
  account   TEXT NOT NULL,
  resource  TEXT NOT NULL,
  id        TEXT NOT NULL,
  first_day INTEGER NOT NULL,
  PRIMARY KEY (account, resource, id)
) STRICT, WITHOUT ROWID;

-- The customers who have records in these months. As for ids, a row counts only with its month.
CREATE TABLE archived_customers (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  first_day   INTEGER NOT NULL,
  customer_id TEXT NOT NULL,
  PRIMARY KEY (account, resource, first_day, customer_id)
) STRICT, WITHOUT ROWID;

-- Objects that no month needs any more, by the beginning of their keys. They are deleted later: a database
-- that is restored to an earlier time may name them.
CREATE TABLE retired_archives (
  account   TEXT NOT NULL,
  prefix    TEXT NOT NULL,
  delete_at INTEGER NOT NULL,
  PRIMARY KEY (account, prefix)
) STRICT, WITHOUT ROWID;

CREATE INDEX retired_archives_due ON retired_archives (delete_at);

CREATE TRIGGER archived_months_retired AFTER DELETE ON archived_months
BEGIN
  INSERT INTO retired_archives (account, prefix, delete_at)
  VALUES (old.account, old.prefix, unixepoch() * 1000 + 2592000000)
  ON CONFLICT DO NOTHING;
END;

-- A record that leaves for R2 changes nothing: the control totals, the kept facts and the evaluations of
-- its day still hold. Every other deletion of a record runs these triggers as before.
DROP TRIGGER day_totals_transactions_deleted;
DROP TRIGGER changed_days_transactions_deleted;
DROP TRIGGER fraud_days_transactions_deleted;
DROP TRIGGER day_totals_activity_deleted;
DROP TRIGGER changed_days_activity_deleted;
DROP TRIGGER fraud_days_activity_deleted;
DROP TRIGGER day_totals_events_deleted;
DROP TRIGGER changed_days_events_deleted;
DROP TRIGGER fraud_days_events_deleted;

CREATE TRIGGER day_totals_transactions_deleted AFTER DELETE ON transactions
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'transactions' AND state = 'sealed'
    AND old.day BETWEEN first_day AND last_day)
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'transactions' AND day = old.day;
END;

CREATE TRIGGER changed_days_transactions_deleted AFTER DELETE ON transactions
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'transactions' AND state = 'sealed'
    AND old.day BETWEEN first_day AND last_day)
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, old.day FROM kept_days k
  WHERE k.account = old.account AND old.day BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER fraud_days_transactions_deleted AFTER DELETE ON transactions
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'transactions' AND state = 'sealed'
    AND old.day BETWEEN first_day AND last_day)
BEGIN
  UPDATE fraud_progress SET changed_from = old.day
  WHERE account = old.account
    AND old.day < ifnull(changed_from, max(through, ifnull(last, through)) + 1);
END;

CREATE TRIGGER day_totals_activity_deleted AFTER DELETE ON activity
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'trading-activity' AND state = 'sealed'
    AND old.date BETWEEN first_day AND last_day)
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'trading-activity' AND day = old.date;
END;

CREATE TRIGGER changed_days_activity_deleted AFTER DELETE ON activity
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'trading-activity' AND state = 'sealed'
    AND old.date BETWEEN first_day AND last_day)
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, old.date FROM kept_days k
  WHERE k.account = old.account AND old.date BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER fraud_days_activity_deleted AFTER DELETE ON activity
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'trading-activity' AND state = 'sealed'
    AND old.date BETWEEN first_day AND last_day)
BEGIN
  UPDATE fraud_progress SET changed_from = old.date
  WHERE account = old.account
    AND old.date < ifnull(changed_from, max(through, ifnull(last, through)) + 1);
END;

CREATE TRIGGER day_totals_events_deleted AFTER DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'activities' AND state = 'sealed'
    AND old.day BETWEEN first_day AND last_day)
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'activities' AND day = old.day;
END;

CREATE TRIGGER changed_days_events_deleted AFTER DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'activities' AND state = 'sealed'
    AND old.day BETWEEN first_day AND last_day)
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, old.day FROM kept_days k
  WHERE k.account = old.account AND old.day BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER fraud_days_events_deleted AFTER DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM archived_months
  WHERE account = old.account AND resource = 'activities' AND state = 'sealed'
    AND old.day BETWEEN first_day AND last_day)
BEGIN
  UPDATE fraud_progress SET changed_from = old.day
  WHERE account = old.account
    AND old.day < ifnull(changed_from, max(through, ifnull(last, through)) + 1);
END;
