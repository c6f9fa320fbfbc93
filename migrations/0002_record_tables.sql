-- The tables are WITHOUT ROWID: a table is stored in the order of its primary key, and SQLite appends
-- the primary key to every index. Records with a day are stored by day and customer, so that the
-- records of a day lie next to each other, and a bulk of recent records changes few pages. A unique
-- index finds them by the key that the contract names. Each further index would cost one more write
-- per record; docs/storage.md has the figures.
--
--   delivery, idx  the request that last wrote the record, and the record's position in it
--   revision       1 when the record is created; each update adds 1
--   day, date      the day by which lists and totals find the record
--
-- A day is stored as the number of days since 1970-01-01, in the years 0000 to 9999. A point in time
-- (`…_date`) is stored as milliseconds since 1970. src/db/column-types.ts converts both.
--   held           1 while the customer is unknown: only `GET held` returns the record

CREATE TABLE affiliates (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  parent       TEXT,
  PRIMARY KEY (account, affiliate_id)
) STRICT, WITHOUT ROWID;

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
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX customers_day ON customers (account, day);

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

-- The number of records of an account by resource, without held records. Lists need no count.
CREATE TABLE totals (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  total    INTEGER NOT NULL,
  PRIMARY KEY (account, resource)
) STRICT, WITHOUT ROWID;
