-- What long reports have read of records, so that the same report does not read them again. A row exists
-- only while its sums equal the records: every change on which they may depend deletes it, in the same
-- transaction, by the triggers below.
--
--   part         a digest of the statement and its parameters
--   first_day, last_day  the days of the records on which the sums depend
--   by_customer  1 if they depend on the signup day, the fields or the affiliates of customers, too
--   rows         JSON: the names of the columns and the rows
--   kept_at      in milliseconds; a row is not read after a day
CREATE TABLE kept_reports (
  account     TEXT NOT NULL,
  part        TEXT NOT NULL,
  first_day   INTEGER NOT NULL,
  last_day    INTEGER NOT NULL,
  by_customer INTEGER NOT NULL CHECK (by_customer IN (0, 1)),
  rows        TEXT NOT NULL CHECK (json_type(rows) = 'object'),
  kept_at     INTEGER NOT NULL,
  PRIMARY KEY (account, part)
) STRICT, WITHOUT ROWID;

-- What has changed since the report that has the lease of an account began to read: 0 nothing, 1 records
-- of its days or what it groups them by, 2 a record may have moved from a day to another. Null: no report
-- reads.
ALTER TABLE totals_leases ADD COLUMN watch INTEGER CHECK (watch IN (0, 1, 2));
ALTER TABLE totals_leases ADD COLUMN watch_from INTEGER;
ALTER TABLE totals_leases ADD COLUMN watch_to INTEGER;

-- A delivery changes the days of its records, as for control totals (0009).
CREATE TRIGGER kept_reports_written AFTER UPDATE OF written ON deliveries
WHEN new.written > old.written AND new.dry_run = 0
  AND (new.resource <> 'customers' OR new.created > 0)
BEGIN
  DELETE FROM kept_reports
  WHERE account = new.account AND (new.days IS NULL
    OR EXISTS (SELECT 1 FROM json_each(new.days) WHERE value BETWEEN first_day AND last_day));
  UPDATE totals_leases SET watch = 1
  WHERE account = new.account AND watch = 0 AND (new.days IS NULL
    OR EXISTS (SELECT 1 FROM json_each(new.days) WHERE value BETWEEN watch_from AND watch_to));
END;

-- Records that move to another day or customer, or that are held or released.
CREATE TRIGGER kept_reports_transactions AFTER UPDATE OF day, held ON transactions
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 2 WHERE account = old.account AND watch < 2;
END;

CREATE TRIGGER kept_reports_activity AFTER UPDATE OF date, held ON activity
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 2 WHERE account = old.account AND watch < 2;
END;

CREATE TRIGGER kept_reports_events AFTER UPDATE OF day, held ON events
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 2 WHERE account = old.account AND watch < 2;
END;

-- An event that was sent without a time keeps the day of its first receipt, which the request that
-- sends it again does not know.
CREATE TRIGGER kept_reports_events_undated AFTER UPDATE OF revision ON events
WHEN new.createtime IS NULL
BEGIN
  DELETE FROM kept_reports
  WHERE account = new.account AND new.day BETWEEN first_day AND last_day;
  UPDATE totals_leases SET watch = 1 WHERE account = new.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_signups AFTER UPDATE OF day ON customers
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 2 WHERE account = old.account AND watch < 2;
END;

-- What reports group records by.
CREATE TRIGGER kept_reports_customers AFTER UPDATE OF affiliate_id, link, country_code,
  trading_account_type, challenge_type, phase, kyc_status_id, sales_status_id, account_size ON customers
WHEN (old.affiliate_id, old.link, old.country_code, old.trading_account_type, old.challenge_type,
    old.phase, old.kyc_status_id, old.sales_status_id, old.account_size)
  IS NOT (new.affiliate_id, new.link, new.country_code, new.trading_account_type, new.challenge_type,
    new.phase, new.kyc_status_id, new.sales_status_id, new.account_size)
BEGIN
  DELETE FROM kept_reports WHERE account = old.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_customer_affiliations_insert AFTER INSERT ON customer_affiliations
BEGIN
  DELETE FROM kept_reports WHERE account = new.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = new.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_customer_affiliations_update AFTER UPDATE ON customer_affiliations
BEGIN
  DELETE FROM kept_reports WHERE account = new.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = new.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_customer_affiliations_delete AFTER DELETE ON customer_affiliations
BEGIN
  DELETE FROM kept_reports WHERE account = old.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_customer_fields_insert AFTER INSERT ON customer_fields
BEGIN
  DELETE FROM kept_reports WHERE account = new.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = new.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_customer_fields_update AFTER UPDATE ON customer_fields
BEGIN
  DELETE FROM kept_reports WHERE account = new.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = new.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_customer_fields_delete AFTER DELETE ON customer_fields
BEGIN
  DELETE FROM kept_reports WHERE account = old.account AND by_customer = 1;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;

-- A reset deletes records.
CREATE TRIGGER kept_reports_customers_deleted AFTER DELETE ON customers
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_transactions_deleted AFTER DELETE ON transactions
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_activity_deleted AFTER DELETE ON activity
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;

CREATE TRIGGER kept_reports_events_deleted AFTER DELETE ON events
BEGIN
  DELETE FROM kept_reports WHERE account = old.account;
  UPDATE totals_leases SET watch = 1 WHERE account = old.account AND watch = 0;
END;
