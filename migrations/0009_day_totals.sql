-- Control totals that are kept, so that `GET totals` does not sum unchanged days again. A row exists
-- only while its sums equal the records of its day: every change of the records deletes it, in the
-- same transaction, by the triggers below. A day without a row is summed when it is next read.
--
--   form         the groups and sums of the resource; rows of another form are not read
--   totals       a JSON array of groups (src/db/records/day-sums.ts); null while the day is summed
--   computation  the computation that sums the day; null once the totals are kept
--   checked_at   when the totals were last kept, or compared with the records, in milliseconds
CREATE TABLE day_totals (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  form        TEXT NOT NULL,
  totals      TEXT CHECK (json_valid(totals)),
  computation TEXT CHECK ((computation IS NULL) <> (totals IS NULL)),
  checked_at  INTEGER NOT NULL,
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

-- A JSON array of the days of the request's records; null if the Worker that wrote the row did not
-- know this column.
ALTER TABLE deliveries ADD COLUMN days TEXT CHECK (json_valid(days));

-- A delivery changes the days of its records. `written` grows in the batch that writes them, and only
-- if a record was written. Stored customers are only counted, so only new ones change a day.
CREATE TRIGGER day_totals_written AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0 AND new.days IS NOT NULL
  AND (new.resource <> 'customers' OR new.created > 0)
BEGIN
  DELETE FROM day_totals
  WHERE account = new.account AND resource = new.resource
    AND day IN (SELECT value FROM json_each(new.days));
END;

CREATE TRIGGER day_totals_written_unknown AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0 AND new.days IS NULL
BEGIN
  DELETE FROM day_totals WHERE account = new.account AND resource = new.resource;
END;

-- Records that move to another day, or that are held or released. Only the statements that do this
-- set these columns, so that ordinary writes run no trigger for each record.
CREATE TRIGGER day_totals_customers AFTER UPDATE OF day ON customers
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'customers' AND day IN (old.day, new.day);
END;

CREATE TRIGGER day_totals_transactions AFTER UPDATE OF day, held ON transactions
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'transactions' AND day IN (old.day, new.day);
END;

CREATE TRIGGER day_totals_activity AFTER UPDATE OF date, held ON activity
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'trading-activity' AND day IN (old.date, new.date);
END;

CREATE TRIGGER day_totals_events AFTER UPDATE OF day, held ON events
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'activities' AND day IN (old.day, new.day);
END;

-- An event that was sent without a time keeps the day of its first receipt, which the request that
-- sends it again does not know.
CREATE TRIGGER day_totals_events_undated AFTER UPDATE OF revision ON events
WHEN new.createtime IS NULL
BEGIN
  DELETE FROM day_totals
  WHERE account = new.account AND resource = 'activities' AND day = new.day;
END;

CREATE TRIGGER day_totals_customers_deleted AFTER DELETE ON customers
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'customers' AND day = old.day;
END;

CREATE TRIGGER day_totals_transactions_deleted AFTER DELETE ON transactions
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'transactions' AND day = old.day;
END;

CREATE TRIGGER day_totals_activity_deleted AFTER DELETE ON activity
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'trading-activity' AND day = old.date;
END;

CREATE TRIGGER day_totals_events_deleted AFTER DELETE ON events
BEGIN
  DELETE FROM day_totals
  WHERE account = old.account AND resource = 'activities' AND day = old.day;
END;
