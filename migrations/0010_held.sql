-- Held records are counted, and released in steps.
--
--   held       the number of held records of the account and resource
--   releasing  the id of the last delivery of customers that left some of their held records to be
--              released after its response; null if there are none
ALTER TABLE totals ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN releasing TEXT;

-- A release that is not finished is found without a scan.
CREATE INDEX totals_releasing ON totals (account, resource) WHERE releasing IS NOT NULL;

INSERT INTO totals (account, resource, total, held)
SELECT account, 'transactions', 0, count(*) FROM transactions WHERE held = 1 GROUP BY account
ON CONFLICT (account, resource) DO UPDATE SET held = excluded.held;
INSERT INTO totals (account, resource, total, held)
SELECT account, 'trading-activity', 0, count(*) FROM activity WHERE held = 1 GROUP BY account
ON CONFLICT (account, resource) DO UPDATE SET held = excluded.held;
INSERT INTO totals (account, resource, total, held)
SELECT account, 'activities', 0, count(*) FROM events WHERE held = 1 GROUP BY account
ON CONFLICT (account, resource) DO UPDATE SET held = excluded.held;

-- The log of deliveries:
--   held_change   the number of records that the insert of this row adds to the held records of its
--                 resource; 0 if a key repeats, since the records are counted then
--   hold_refused  1 if records of unknown customers were rejected because the account has as many
--                 held records as it may have
ALTER TABLE deliveries ADD COLUMN held_change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN hold_refused INTEGER NOT NULL DEFAULT 0 CHECK (hold_refused IN (0, 1));

DROP TRIGGER deliveries_listed;
CREATE TRIGGER deliveries_listed AFTER INSERT ON deliveries
WHEN new.dry_run = 0 AND new.refused = 0 AND (new.listed <> 0 OR new.held_change <> 0)
BEGIN
  INSERT INTO totals (account, resource, total, held)
  VALUES (new.account, new.resource, new.listed, new.held_change)
  ON CONFLICT (account, resource) DO UPDATE SET
    total = total + new.listed, held = held + new.held_change;
END;

-- Test accounts whose records are being deleted. They accept no deliveries until that is done.
CREATE TABLE resets (
  account    TEXT PRIMARY KEY,
  started_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
