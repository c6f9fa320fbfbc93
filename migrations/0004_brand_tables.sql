-- Records of brands. Customers of brands are stored in `customers`; activities have their own table.

-- Brands only:
--   regtime    the value as sent; `signup_date` has the same time as an instant
--   extras     the additional fields: a map of names to JSON texts, so that maps are merged by name
--   first_day  the day of the first receipt in the account's time zone; used as `day` if none is sent
-- All verticals:
--   verdict    the result of verifying `tracking_data`; null if none was sent
--   link       the link in `tracking_data`, if its signature is valid
ALTER TABLE customers ADD COLUMN regtime TEXT;
ALTER TABLE customers ADD COLUMN extras TEXT CHECK (json_valid(extras));
ALTER TABLE customers ADD COLUMN first_day INTEGER CHECK (first_day BETWEEN -719528 AND 2932896);
ALTER TABLE customers ADD COLUMN verdict TEXT
  CHECK (verdict IN ('attributed', 'altered', 'foreign', 'unrecognised', 'conflict'));
ALTER TABLE customers ADD COLUMN link TEXT;

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

-- Idempotency keys, each with the SHA-256 of the records of its first use.
CREATE TABLE idempotency_keys (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  key      TEXT NOT NULL,
  digest   TEXT NOT NULL CHECK (length(digest) = 64),
  delivery TEXT NOT NULL,
  PRIMARY KEY (account, resource, key)
) STRICT, WITHOUT ROWID;

-- Customers whose personal data was erased, stored or not. Personal data sent later is not kept.
CREATE TABLE erasures (
  account     TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  erased_at   TEXT NOT NULL,
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;
