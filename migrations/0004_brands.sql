-- What brands send. Their customers share the table of all customers; their activity has its own.

-- Brands alone:
--   regtime    as it was sent; `signup_date` is the same as an instant
--   extras     the additional fields: a map of names to JSON texts, so that two maps are merged by name
--   first_day  the day it was first received in the account's zone: its day while it says none itself
-- All verticals:
--   verdict    what `tracking_data` proves; null: there was none
--   link       the link it names, where its signature is good
ALTER TABLE customers ADD COLUMN regtime TEXT;
ALTER TABLE customers ADD COLUMN extras TEXT CHECK (json_valid(extras));
ALTER TABLE customers ADD COLUMN first_day TEXT CHECK (length(first_day) = 10);
ALTER TABLE customers ADD COLUMN verdict TEXT
  CHECK (verdict IN ('attributed', 'altered', 'foreign', 'unrecognised', 'conflict'));
ALTER TABLE customers ADD COLUMN link TEXT;

-- Activity of brands: one event, or one day of one customer.
--
--   id         what tells it from others: e {eventid}, d [eventname, customerid, day, Currency, product],
--              r {delivery} {index}, k {Idempotency-Key} {index}; h {SHA-256} of a long one
--   record     as it was sent, and is returned; the other columns are what it was understood to say
--   amount     `Value`
--   createtime an instant; null: none was sent
--   product    the product line after the map of the event's definition
--   kpis       a map of names to numbers, in the order of their names
--   details    the other members, in the order of their names, or their digest: only compared
CREATE TABLE events (
  account     TEXT NOT NULL,
  id          TEXT NOT NULL CHECK (id <> ''),
  eventname   TEXT NOT NULL CHECK (eventname <> ''),
  customer_id TEXT NOT NULL CHECK (customer_id <> ''),
  eventid     TEXT,
  createtime  TEXT,
  amount      REAL,
  currency    TEXT,
  product     TEXT,
  kpis        TEXT CHECK (json_valid(kpis)),
  details     TEXT,
  record      TEXT NOT NULL CHECK (json_valid(record)),
  day         TEXT NOT NULL CHECK (length(day) = 10),
  first_day   TEXT NOT NULL CHECK (length(first_day) = 10),
  held        INTEGER NOT NULL CHECK (held IN (0, 1)),
  delivery    TEXT NOT NULL,
  idx         INTEGER NOT NULL,
  revision    INTEGER NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_day ON events (account, day) WHERE held = 0;
CREATE INDEX events_customer ON events (account, customer_id) WHERE held = 0;
CREATE INDEX events_held ON events (account, customer_id) WHERE held = 1;

-- Requests that were made repeatable: the key, and the SHA-256 of the records it was first used for.
CREATE TABLE idempotency_keys (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  key      TEXT NOT NULL,
  digest   TEXT NOT NULL CHECK (length(digest) = 64),
  delivery TEXT NOT NULL,
  PRIMARY KEY (account, resource, key)
) STRICT, WITHOUT ROWID;

-- Customers whose personal data was erased, whether they are stored or not: none is kept again.
CREATE TABLE erasures (
  account     TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  erased_at   TEXT NOT NULL,
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;

-- How fresh each feed is, an hour a row: written in the batch of each delivery that is no dry run.
--
--   hour       hours since 1970
--   last_at    when the last delivery of that hour came, in milliseconds
--   yesterday, today  1 if a record of the day before, of the same day (UTC) was stored
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

--   reused     1 if its Idempotency-Key was used for other records: all is refused
--   erased_at  indexes of the records whose personal data must not be kept
--   verdicts   [index, verdict] of the customers that say nothing of where they came from, unless what
--              is stored of them is attributed
ALTER TABLE deliveries ADD COLUMN reused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN erased_at TEXT CHECK (json_valid(erased_at));
ALTER TABLE deliveries ADD COLUMN verdicts TEXT CHECK (json_valid(verdicts));
