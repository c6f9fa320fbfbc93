-- Histories by day.

-- The day of `received_at`: in the account's time zone for brands, in UTC for partners; null if the
-- Worker that wrote the row did not know this column. Histories store the day and not the instant, so
-- that a later change of the zone never moves a change to another day. The delivery id has the instant.
ALTER TABLE deliveries ADD COLUMN received_day INTEGER
  CHECK (received_day BETWEEN -719528 AND 2932896);

-- Changes of a customer's affiliate: one row for each day with a change, none while the first affiliate
-- holds. A customer without rows has the affiliate of `customers`. Otherwise the rows alone count.
--
--   day        the first day of the affiliate; the first day of the calendar if it holds from the beginning
--   affiliate_id  null if the customer is organic, or if the affiliate is that of the link
--   link       of brands: the link of the last verdict `attributed`
--   previous_… what held before the customer's first row
--   delivery   the last delivery that changed it on this day; null if the integrations team did
CREATE TABLE customer_affiliations (
  account               TEXT NOT NULL,
  customer_id           TEXT NOT NULL,
  day                   INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  affiliate_id          TEXT,
  link                  TEXT,
  previous_affiliate_id TEXT,
  previous_link         TEXT,
  delivery              TEXT,
  PRIMARY KEY (account, customer_id, day)
) STRICT, WITHOUT ROWID;

-- Changes of the fields that conditions of plans use: one row for each day with a change, with the
-- values before it. The values after a customer's last row are those of `customers`.
CREATE TABLE customer_fields (
  account              TEXT NOT NULL,
  customer_id          TEXT NOT NULL,
  day                  INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  country_code         TEXT,
  trading_account_type TEXT,
  challenge_type       TEXT,
  phase                TEXT,
  kyc_status_id        TEXT,
  sales_status_id      TEXT,
  account_size         REAL,
  link                 TEXT,
  delivery             TEXT NOT NULL,
  PRIMARY KEY (account, customer_id, day)
) STRICT, WITHOUT ROWID;

-- Customers who earn nothing from `day` on, such as for fraud. The first day of the calendar: never.
CREATE TABLE customer_refusals (
  account     TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  reason      TEXT NOT NULL,
  refused_at  TEXT NOT NULL,
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;

-- The parents of affiliates by day. An affiliate without rows has the parent of `affiliates` from the
-- beginning; one with rows has no parent before the first of them.
CREATE TABLE affiliate_parents (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  day          INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  parent       TEXT,
  PRIMARY KEY (account, affiliate_id, day)
) STRICT, WITHOUT ROWID;

-- The day of a change is the day on which its delivery was received, and never before that of the last
-- change: a delivery may be received before midnight, and stored after one that came later.
--
-- A change of the link counts for brands only, which have a `first_day`.
CREATE TRIGGER customers_affiliation AFTER UPDATE OF affiliate_id, link ON customers
WHEN old.affiliate_id IS NOT new.affiliate_id
  OR (new.first_day IS NOT NULL AND old.link IS NOT new.link)
BEGIN
  -- A brand's customer who loses the attribution keeps the affiliate, which is no longer stored.
  INSERT INTO customer_affiliations (account, customer_id, day, link, delivery)
  SELECT old.account, old.customer_id, -719528, old.link, new.delivery
  WHERE new.first_day IS NOT NULL AND new.link IS NULL AND NOT EXISTS (
    SELECT 1 FROM customer_affiliations
    WHERE account = old.account AND customer_id = old.customer_id);

  -- The first affiliate holds from the beginning, whenever it became known.
  INSERT INTO customer_affiliations (account, customer_id, day, affiliate_id, link,
    previous_affiliate_id, previous_link, delivery)
  SELECT old.account, old.customer_id,
    max(received.day, coalesce(
      (SELECT max(day) FROM customer_affiliations
        WHERE account = old.account AND customer_id = old.customer_id), received.day)),
    new.affiliate_id, iif(new.first_day IS NULL, NULL, new.link),
    old.affiliate_id, iif(new.first_day IS NULL, NULL, old.link), new.delivery
  FROM (SELECT coalesce(
    (SELECT coalesce(received_day, received_at / 86400000) FROM deliveries
      WHERE account = new.account AND id = new.delivery), unixepoch() / 86400) AS day) received
  WHERE (new.first_day IS NULL OR new.link IS NOT NULL)
    AND (old.affiliate_id IS NOT NULL
      OR (new.first_day IS NOT NULL AND old.link IS NOT NULL)
      OR EXISTS (SELECT 1 FROM customer_affiliations
        WHERE account = old.account AND customer_id = old.customer_id))
  ON CONFLICT (account, customer_id, day) DO UPDATE SET affiliate_id = new.affiliate_id,
    link = iif(new.first_day IS NULL, NULL, new.link), delivery = new.delivery;
END;

-- The first value of each field holds from the beginning, so that a change from null alone is no row
-- unless there are rows. The link of a brand's customer is in `customer_affiliations`.
CREATE TRIGGER customers_fields AFTER UPDATE OF country_code, trading_account_type, challenge_type,
  phase, kyc_status_id, sales_status_id, account_size, link ON customers
WHEN (old.country_code, old.trading_account_type, old.challenge_type, old.phase, old.kyc_status_id,
    old.sales_status_id, old.account_size, iif(new.first_day IS NULL, old.link, NULL))
  IS NOT (new.country_code, new.trading_account_type, new.challenge_type, new.phase,
    new.kyc_status_id, new.sales_status_id, new.account_size,
    iif(new.first_day IS NULL, new.link, NULL))
BEGIN
  INSERT INTO customer_fields (account, customer_id, day, country_code, trading_account_type,
    challenge_type, phase, kyc_status_id, sales_status_id, account_size, link, delivery)
  SELECT old.account, old.customer_id,
    max(received.day, coalesce(
      (SELECT max(day) FROM customer_fields
        WHERE account = old.account AND customer_id = old.customer_id), received.day)),
    old.country_code, old.trading_account_type, old.challenge_type, old.phase, old.kyc_status_id,
    old.sales_status_id, old.account_size, iif(new.first_day IS NULL, old.link, NULL), new.delivery
  FROM (SELECT coalesce(
    (SELECT coalesce(received_day, received_at / 86400000) FROM deliveries
      WHERE account = new.account AND id = new.delivery), unixepoch() / 86400) AS day) received
  WHERE (old.country_code IS NOT NULL AND old.country_code IS NOT new.country_code)
    OR (old.trading_account_type IS NOT NULL
      AND old.trading_account_type IS NOT new.trading_account_type)
    OR (old.challenge_type IS NOT NULL AND old.challenge_type IS NOT new.challenge_type)
    OR (old.phase IS NOT NULL AND old.phase IS NOT new.phase)
    OR (old.kyc_status_id IS NOT NULL AND old.kyc_status_id IS NOT new.kyc_status_id)
    OR (old.sales_status_id IS NOT NULL AND old.sales_status_id IS NOT new.sales_status_id)
    OR (old.account_size IS NOT NULL AND old.account_size IS NOT new.account_size)
    OR (new.first_day IS NULL AND old.link IS NOT NULL AND old.link IS NOT new.link)
    OR EXISTS (SELECT 1 FROM customer_fields
      WHERE account = old.account AND customer_id = old.customer_id)
  -- A later change of the same day keeps the values of before the day. A field that had never had a value
  -- gets its first one, which holds from the beginning.
  ON CONFLICT (account, customer_id, day) DO UPDATE SET delivery = new.delivery,
    country_code = coalesce(country_code, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.country_code IS NOT NULL),
      NULL, old.country_code)),
    trading_account_type = coalesce(trading_account_type, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.trading_account_type IS NOT NULL),
      NULL, old.trading_account_type)),
    challenge_type = coalesce(challenge_type, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.challenge_type IS NOT NULL),
      NULL, old.challenge_type)),
    phase = coalesce(phase, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.phase IS NOT NULL),
      NULL, old.phase)),
    kyc_status_id = coalesce(kyc_status_id, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.kyc_status_id IS NOT NULL),
      NULL, old.kyc_status_id)),
    sales_status_id = coalesce(sales_status_id, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.sales_status_id IS NOT NULL),
      NULL, old.sales_status_id)),
    account_size = coalesce(account_size, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.account_size IS NOT NULL),
      NULL, old.account_size)),
    link = coalesce(link, iif(EXISTS (SELECT 1 FROM customer_fields f
      WHERE f.account = old.account AND f.customer_id = old.customer_id AND f.link IS NOT NULL),
      NULL, iif(new.first_day IS NULL, old.link, NULL)));
END;
