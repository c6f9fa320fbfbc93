-- The tables are WITHOUT ROWID: a table is stored in the order of its primary key, and SQLite appends
-- the primary key to every index. Records with a day are stored by day and customer, so that the
-- records of a day lie next to each other, and a bulk of recent records changes few pages. A unique
-- index finds them by the key that the contract names. Each further index would cost one more write
-- per record; docs/storage.md has the figures.
--
--   delivery, idx  the request that last wrote the record, and the record's position in it
--   revision       1 when the record is created; each update adds 1
--   day, date      the day by which lists and totals find the record
--   held           1 while the customer is unknown: only `GET held` returns the record
--
-- A day is stored as the number of days since 1970-01-01, in the years 0000 to 9999. A point in time
-- (`…_date`) is stored as milliseconds since 1970. src/platform/db/column-types.ts converts both.

-- Customers of every vertical.
--
-- Brands only:
--   regtime    the value as sent; `signup_date` has the same time as an instant
--   extras     the additional fields: a map of names to JSON texts, so that maps are merged by name
--   first_day  the day of the first receipt in the account's time zone; used as `day` if none is sent
-- All verticals:
--   verdict    the result of verifying `tracking_data`; null if none was sent
--   link       the link in `tracking_data`, if its signature is valid
--
-- When a customer was first heard of. Control totals and lists do not depend on it.
--
--   first_seen_at   in milliseconds: when the first delivery with the customer was received or, for brands,
--                   the earliest time of the events that waited for the customer; null if that event had
--                   no time
--   first_seen_day  the day of that event; null if no event waited that was earlier
CREATE TABLE customers (
  account              TEXT NOT NULL,
  customer_id          TEXT NOT NULL CHECK (customer_id <> ''),
  signup_date          INTEGER,
  last_modified_date   INTEGER,
  affiliate_id         TEXT,
  tracking_data        TEXT,
  lang_id              TEXT,
  country_code         TEXT,
  kyc_status_id        TEXT,
  sales_status_id      TEXT,
  challenge_type       TEXT,
  phase                TEXT,
  account_size         REAL CHECK (account_size >= 0),
  trading_account_type TEXT,
  leverage             TEXT,
  first_name           TEXT,
  last_name            TEXT,
  email                TEXT,
  day                  INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  delivery             TEXT NOT NULL,
  idx                  INTEGER NOT NULL,
  revision             INTEGER NOT NULL CHECK (revision >= 1),
  regtime              TEXT,
  extras               TEXT CHECK (json_valid(extras)),
  first_day            INTEGER CHECK (first_day BETWEEN -719528 AND 2932896),
  verdict              TEXT
    CHECK (verdict IN ('attributed', 'altered', 'foreign', 'unrecognised', 'conflict')),
  link                 TEXT,
  first_seen_at        INTEGER,
  first_seen_day       INTEGER CHECK (first_seen_day BETWEEN -719528 AND 2932896),
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX customers_day ON customers (account, day);

-- A brand's customer who loses the attribution keeps the affiliate, which is no longer stored. The statement that
-- stores another affiliate stores its first day, too: src/ingest/db/write-sql.ts.
CREATE TRIGGER customers_unattributed AFTER UPDATE OF link ON customers
WHEN new.first_day IS NOT NULL AND new.link IS NULL AND old.link IS NOT NULL
BEGIN
  INSERT INTO customer_affiliations (account, customer_id, day, link, delivery)
  SELECT old.account, old.customer_id, -719528, old.link, new.delivery
  WHERE NOT EXISTS (
    SELECT 1 FROM customer_affiliations
    WHERE account = old.account AND customer_id = old.customer_id);
END;

CREATE TABLE transactions (
  account             TEXT NOT NULL,
  transaction_id      TEXT NOT NULL CHECK (transaction_id <> ''),
  customer_id         TEXT NOT NULL CHECK (customer_id <> ''),
  transaction_type    TEXT NOT NULL,
  amount_currency     REAL NOT NULL,
  currency            TEXT NOT NULL CHECK (length(currency) = 3),
  transaction_date    INTEGER NOT NULL,
  status              TEXT NOT NULL CHECK (status <> ''),
  amount_usd          REAL,
  transaction_subtype TEXT,
  note                TEXT,
  day                 INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  held                INTEGER NOT NULL CHECK (held IN (0, 1)),
  delivery            TEXT NOT NULL,
  idx                 INTEGER NOT NULL,
  revision            INTEGER NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (account, day, customer_id, transaction_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX transactions_key ON transactions (account, transaction_id);

CREATE INDEX transactions_held ON transactions (account, customer_id) WHERE held = 1;

CREATE TABLE activity (
  account      TEXT NOT NULL,
  date         INTEGER NOT NULL CHECK (date BETWEEN -719528 AND 2932896),
  customer_id  TEXT NOT NULL CHECK (customer_id <> ''),
  instrument   TEXT NOT NULL CHECK (instrument <> ''),
  currency     TEXT NOT NULL CHECK (length(currency) = 3),
  lots_traded  REAL NOT NULL CHECK (lots_traded >= 0),
  pnl          REAL,
  drawdown     REAL CHECK (drawdown >= 0),
  max_drawdown REAL CHECK (max_drawdown >= 0),
  volume_usd   REAL CHECK (volume_usd >= 0),
  spread_cost  REAL CHECK (spread_cost >= 0),
  commission   REAL CHECK (commission >= 0),
  held         INTEGER NOT NULL CHECK (held IN (0, 1)),
  delivery     TEXT NOT NULL,
  idx          INTEGER NOT NULL,
  revision     INTEGER NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (account, date, customer_id, instrument, currency)
) STRICT, WITHOUT ROWID;

CREATE INDEX activity_held ON activity (account, customer_id) WHERE held = 1;

-- Activities of brands: one event, or one day of one customer.
--
--   id         the identity: e {eventid}, d [eventname, customerid, day, Currency, product],
--              r {delivery} {index}, k {Idempotency-Key} {index}; h {SHA-256} of a long identity
--   record     the record as sent; lists return it. The other columns are parsed from it.
--   amount     `Value`
--   createtime an instant; null if none was sent
--   product    the product line, after the product map of the event's definition
--   kpis       a map of names to numbers, ordered by name
--   details    the other members, ordered by name, or their digest; only compared
CREATE TABLE events (
  account     TEXT NOT NULL,
  id          TEXT NOT NULL CHECK (id <> ''),
  eventname   TEXT NOT NULL CHECK (eventname <> ''),
  customer_id TEXT NOT NULL CHECK (customer_id <> ''),
  eventid     TEXT,
  createtime  INTEGER,
  amount      REAL,
  currency    TEXT,
  product     TEXT,
  kpis        TEXT CHECK (json_valid(kpis)),
  details     TEXT,
  record      TEXT NOT NULL CHECK (json_valid(record)),
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  first_day   INTEGER NOT NULL CHECK (first_day BETWEEN -719528 AND 2932896),
  held        INTEGER NOT NULL CHECK (held IN (0, 1)),
  delivery    TEXT NOT NULL,
  idx         INTEGER NOT NULL,
  revision    INTEGER NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (account, day, customer_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX events_key ON events (account, id);

CREATE INDEX events_held ON events (account, customer_id) WHERE held = 1;

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
-- values before it. The values after a customer's last row are those of `customers`. The first value of each field holds
-- from the beginning, so that a change from null alone is no row unless there are rows. The link of a brand's customer is
-- in `customer_affiliations`. A day is one in the account's time zone for brands, in UTC for partners: a later change of
-- the zone never moves a change to another day.
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

-- Customers whose personal data was erased, stored or not. Personal data sent later is not kept.
--
-- An erasure also removes personal members from the stored activities of a brand's customer, in
-- bounded steps. Activities of the days before `next_day` are done, and of that day those up to the id
-- `after_id`. Both are null when all are done.
CREATE TABLE erasures (
  account     TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  erased_at   TEXT NOT NULL,
  next_day    INTEGER DEFAULT -719528,
  after_id    TEXT DEFAULT '',
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX erasures_pending ON erasures (account, customer_id) WHERE next_day IS NOT NULL;

-- The customers whom an affiliate has or ever had: so an affiliate who asks is answered from the records of their
-- own customers, however many others the account has. A superset: `customers` and `customer_affiliations` decide
-- on which days a customer was whose.
--
--   owner  the affiliate or, for a customer of a brand without one, the link
--
-- A row is never changed or removed but with the account's records. An index of `customers` would be written again
-- with every update of a customer, since updates set these columns even if they stay the same.
CREATE TABLE customer_owners (
  account     TEXT NOT NULL,
  owner       TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  PRIMARY KEY (account, owner, customer_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER customer_owners_first AFTER INSERT ON customers
WHEN new.affiliate_id IS NOT NULL OR (new.first_day IS NOT NULL AND new.link IS NOT NULL)
BEGIN
  INSERT INTO customer_owners (account, owner, customer_id)
  VALUES (new.account, ifnull(new.affiliate_id, new.link), new.customer_id)
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER customer_owners_changed AFTER UPDATE OF affiliate_id, link ON customers
WHEN (old.affiliate_id IS NOT new.affiliate_id OR old.link IS NOT new.link)
  AND (new.affiliate_id IS NOT NULL OR (new.first_day IS NOT NULL AND new.link IS NOT NULL))
BEGIN
  INSERT INTO customer_owners (account, owner, customer_id)
  VALUES (new.account, ifnull(new.affiliate_id, new.link), new.customer_id)
  ON CONFLICT DO NOTHING;
END;

-- What the team corrects.
CREATE TRIGGER customer_owners_corrected AFTER INSERT ON customer_affiliations
BEGIN
  INSERT INTO customer_owners (account, owner, customer_id)
  SELECT new.account, value, new.customer_id FROM json_each(json_array(
    ifnull(new.affiliate_id, new.link), ifnull(new.previous_affiliate_id, new.previous_link)))
  WHERE value IS NOT NULL
  ON CONFLICT DO NOTHING;
END;
