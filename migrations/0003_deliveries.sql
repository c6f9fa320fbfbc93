-- The delivery log: one row per request, written in the same batch as its records. The id begins with
-- the time, so the primary key orders the rows by age. Bodies are never stored.
--
--   status, summary  as the answer had them
--   attempt          which attempt of the request has stored the row, from 0: its decision is the one that holds
--   days             a JSON array of the days of the records that were written, and of those from which they moved
--   errors           a JSON array of the first errors (src/ingest/errors.ts). An account may log 16 MiB of errors and
--                    dry runs a day (UTC)
CREATE TABLE deliveries (
  account        TEXT NOT NULL,
  id             TEXT NOT NULL,
  resource       TEXT NOT NULL,
  dry_run        INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
  status         INTEGER NOT NULL CHECK (status IN (200, 201, 207, 422)),
  summary        TEXT NOT NULL CHECK (json_valid(summary)),
  errors_total   INTEGER NOT NULL,
  attempt        INTEGER NOT NULL,
  days           TEXT NOT NULL CHECK (json_valid(days)),
  errors         TEXT CHECK (json_valid(errors)),
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- Finds refused deliveries.
CREATE INDEX deliveries_refused ON deliveries (account, id) WHERE errors_total > 0;

-- What has changed in closed periods, for the causes of corrections: src/ingest/db/late-changes.ts. It is kept for 400
-- days: a later approval settles what an earlier one left.
--
--   at                when its batch was sent, in milliseconds
--   seq               the number of the account then, as in `changed`
--   customer_id, day  where the record lies or, if it moved, where it lay: that is a row of its own
--   id                instrument and currency of trading activity, as a JSON array; '' of a customer
--   kind              the type of a transaction, the name of an event, what changed of a customer, else ''
--   before, after     the figures that a cause says, as JSON
CREATE TABLE late_changes (
  account     TEXT NOT NULL,
  at          INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  resource    TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  id          TEXT NOT NULL,
  kind        TEXT NOT NULL,
  delivery    TEXT NOT NULL,
  before      TEXT,
  after       TEXT,
  PRIMARY KEY (account, at, resource, customer_id, day, id)
) STRICT, WITHOUT ROWID;

-- What has changed behind a position.
CREATE INDEX late_changes_seq ON late_changes (account, seq);

CREATE INDEX late_changes_customer ON late_changes (account, customer_id, seq, day);

-- Idempotency keys, each with the SHA-256 of the records of its first use.
CREATE TABLE idempotency_keys (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  key      TEXT NOT NULL,
  digest   TEXT NOT NULL CHECK (length(digest) = 64),
  delivery TEXT NOT NULL,
  PRIMARY KEY (account, resource, key)
) STRICT, WITHOUT ROWID;

-- The freshness of each feed, one row per hour. Each delivery but a dry run counts in it.
--
--   hour       hours since 1970
--   rejected, not_stored   the sums of these members of `summary`
--   last_at    the time of the last delivery of that hour, in milliseconds
--   logged_bytes   the bytes of the rows of `deliveries` with errors, and of those of dry runs, whose
--                  resource is `dry-run` here
CREATE TABLE arrivals (
  account       TEXT NOT NULL,
  hour          INTEGER NOT NULL,
  resource      TEXT NOT NULL,
  received      INTEGER NOT NULL,
  rejected      INTEGER NOT NULL DEFAULT 0,
  not_stored    INTEGER NOT NULL DEFAULT 0,
  last_at       INTEGER NOT NULL,
  logged_bytes  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, hour, resource)
) STRICT, WITHOUT ROWID;

-- The number of records of an account by resource, without held records. Lists need no count.
--
--   held   the number of held records of the account and resource
--   bytes  about how many bytes all of them added to the database
CREATE TABLE totals (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  total       INTEGER NOT NULL,
  held        INTEGER NOT NULL DEFAULT 0,
  bytes       INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, resource)
) STRICT, WITHOUT ROWID;

-- Days of which records have changed: src/ingest/db/changed.ts. A row of no resource has the number of the account.
--
--   seq  the number of the account when the day last changed
CREATE TABLE changed (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  day      INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  seq      INTEGER NOT NULL,
  PRIMARY KEY (account, resource, day)
) STRICT, WITHOUT ROWID;

-- Test accounts whose records are being deleted. They accept no deliveries until that is done.
CREATE TABLE resets (
  account    TEXT PRIMARY KEY,
  started_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
