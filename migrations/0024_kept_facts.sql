-- Facts of past days that runs keep, so that a computation does not read the records of these days again.
-- They are copies: a computation without them comes to the same bytes.

-- The days whose facts an account keeps: one row for each calendar year
-- with records, up to a day of it.
--
--   generation   the run that began to keep the facts; facts of another generation are not read
--   form         what was read of each record; facts of another form are not read
--   summed_from  the first day of which sums were read; records are read one by one from the first day on
--   begun_at     when that run began, in milliseconds: it is lost if it does not end within a day
--   ready        1 once the run has ended: until then computations read the records themselves
--   mean         the mean number of facts of a customer, to read as many customers at once as fit
CREATE TABLE kept_days (
  account     TEXT NOT NULL,
  first_day   INTEGER NOT NULL CHECK (first_day BETWEEN -719528 AND 2932896),
  last_day    INTEGER NOT NULL CHECK (last_day >= first_day),
  generation  TEXT NOT NULL,
  form        TEXT NOT NULL,
  summed_from INTEGER NOT NULL,
  begun_at    INTEGER NOT NULL,
  ready       INTEGER NOT NULL CHECK (ready IN (0, 1)),
  mean        REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (account, first_day)
) STRICT, WITHOUT ROWID;

-- The facts of a customer on these days. A customer without a row is read from the records.
--
--   facts  their number
--   rows   a JSON object: for each kind of facts an array of rows; ids, times, words and amounts alone
CREATE TABLE kept_facts (
  account     TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  first_day   INTEGER NOT NULL,
  generation  TEXT NOT NULL,
  facts       INTEGER NOT NULL,
  rows        TEXT NOT NULL CHECK (json_type(rows) = 'object'),
  PRIMARY KEY (account, customer_id, first_day)
) STRICT, WITHOUT ROWID;

-- The kept days of which a record has changed since their facts began to be kept: computations read the
-- records of these days. Every change of a record adds its days, in the same transaction, by the triggers
-- below.
CREATE TABLE changed_days (
  account    TEXT NOT NULL,
  first_day  INTEGER NOT NULL,
  generation TEXT NOT NULL,
  day        INTEGER NOT NULL,
  PRIMARY KEY (account, first_day, generation, day)
) STRICT, WITHOUT ROWID;

-- Kept days that are deleted or kept anew take their changed days with them.
CREATE TRIGGER kept_days_deleted AFTER DELETE ON kept_days
BEGIN
  DELETE FROM changed_days WHERE account = old.account AND first_day = old.first_day;
END;

CREATE TRIGGER kept_days_replaced AFTER UPDATE OF generation ON kept_days
WHEN old.generation <> new.generation
BEGIN
  DELETE FROM changed_days
  WHERE account = old.account AND first_day = old.first_day AND generation <> new.generation;
END;

-- A delivery changes the days of its records, as for control totals (0009).
CREATE TRIGGER changed_days_written AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0 AND new.resource <> 'customers'
  AND new.days IS NOT NULL
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, d.value
  FROM kept_days k CROSS JOIN json_each(new.days) d
  WHERE k.account = new.account AND d.value BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER changed_days_unknown AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0 AND new.resource <> 'customers'
  AND new.days IS NULL
BEGIN
  DELETE FROM kept_days WHERE account = new.account;
END;

-- Records that move to another day, or that are held or released.
CREATE TRIGGER changed_days_transactions AFTER UPDATE OF day, held ON transactions
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, d.value
  FROM kept_days k CROSS JOIN json_each(json_array(old.day, new.day)) d
  WHERE k.account = old.account AND d.value BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER changed_days_activity AFTER UPDATE OF date, held ON activity
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, d.value
  FROM kept_days k CROSS JOIN json_each(json_array(old.date, new.date)) d
  WHERE k.account = old.account AND d.value BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER changed_days_events AFTER UPDATE OF day, held ON events
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, d.value
  FROM kept_days k CROSS JOIN json_each(json_array(old.day, new.day)) d
  WHERE k.account = old.account AND d.value BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

-- An event that was sent without a time keeps the day of its first receipt, which the request that
-- sends it again does not know.
CREATE TRIGGER changed_days_events_undated AFTER UPDATE OF revision ON events
WHEN new.createtime IS NULL
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, new.day FROM kept_days k
  WHERE k.account = new.account AND new.day BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER changed_days_transactions_deleted AFTER DELETE ON transactions
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, old.day FROM kept_days k
  WHERE k.account = old.account AND old.day BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER changed_days_activity_deleted AFTER DELETE ON activity
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, old.date FROM kept_days k
  WHERE k.account = old.account AND old.date BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER changed_days_events_deleted AFTER DELETE ON events
BEGIN
  INSERT INTO changed_days (account, first_day, generation, day)
  SELECT k.account, k.first_day, k.generation, old.day FROM kept_days k
  WHERE k.account = old.account AND old.day BETWEEN k.first_day AND k.last_day
  ON CONFLICT DO NOTHING;
END;
