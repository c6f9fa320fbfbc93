-- Moves of accounts between databases: docs/storage.md. While `move_sources` has rows, triggers on the tables of
-- records note in `move_changes` what changes of these accounts, or refuse it. A move creates them.

-- Accounts that move from this database to another one, or have moved.
CREATE TABLE move_sources (
  account   TEXT PRIMARY KEY,
  -- The pause in which each write of the account is refused; null while they are accepted. A pause is named by
  -- the time at which it began, in milliseconds.
  closed_at INTEGER
) STRICT, WITHOUT ROWID;

-- Rows of these accounts that were inserted, changed or deleted, and not copied since.
CREATE TABLE move_changes (
  account      TEXT NOT NULL,
  source_table TEXT NOT NULL,
  -- The primary key without the account, as a JSON array.
  key          TEXT NOT NULL,
  -- A random text: a change during the copy of a row is another note.
  note         TEXT NOT NULL,
  PRIMARY KEY (account, source_table, key, note)
) STRICT, WITHOUT ROWID;

-- Accounts of which this database gets a copy, and the step that may write it.
CREATE TABLE move_copies (
  account TEXT PRIMARY KEY,
  writer  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The files of an account's export, in the database of its records. A file has the records of one resource and
-- calendar month, or a part of them. Its object in R2 is named by its SHA-256.
--
--   month        `2026-10`; '' of resources that are exported as a whole
--   part         from 1; -1, -2 … while the files of a month are written: no list has them
--   id           `exp_` and the begin of the digest
--   records      the number of rows
--   days         the number of days of the month with records; 0 of other resources
--   sign         what the month consisted of when it was written; a month with the same one is not read again
--   sums         control totals: the sum of each column of decimals, as JSON
--   first_delivery, last_delivery   the deliveries that wrote its records; null of other resources
--   version      the version of the columns
--   written_at   in milliseconds
--   replaced_at  when other files took its place, in milliseconds; its object is deleted a day later
CREATE TABLE exports (
  account        TEXT NOT NULL,
  resource       TEXT NOT NULL,
  month          TEXT NOT NULL,
  part           INTEGER NOT NULL CHECK (part <> 0),
  id             TEXT NOT NULL,
  sha256         TEXT NOT NULL CHECK (length(sha256) = 64),
  bytes          INTEGER NOT NULL CHECK (bytes > 0),
  records        INTEGER NOT NULL CHECK (records > 0),
  days           INTEGER NOT NULL,
  sign           TEXT NOT NULL,
  sums           TEXT NOT NULL CHECK (json_type(sums) = 'object'),
  first_delivery TEXT,
  last_delivery  TEXT,
  version        INTEGER NOT NULL,
  written_at     INTEGER NOT NULL,
  replaced_at    INTEGER,
  PRIMARY KEY (account, resource, month, part, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX exports_id ON exports (account, id);

CREATE INDEX exports_replaced ON exports (account, replaced_at) WHERE replaced_at IS NOT NULL;

-- How far the export of an account is.
--
--   run       the run that goes on, or was the last; messages of others do nothing
--   begun_at  when it began, in milliseconds
--   ended_at  when it ended, in milliseconds; null while it goes on
--   since     when the last run began that has ended, in milliseconds; null if none has
--   whole_at  when the last run began that read every month, in milliseconds; null if none has
--   form      what was exported and how: another form is exported anew
CREATE TABLE export_runs (
  account  TEXT PRIMARY KEY,
  run      TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  ended_at INTEGER,
  since    INTEGER,
  whole_at INTEGER,
  form     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Months whose records have left the database for objects in R2. A row is one month of a resource of an
-- account; docs/storage.md explains how a month leaves and comes back.
--
--   first_day, last_day  the days of the month
--   state        `writing`: objects are written, and the records are used as ever
--                `sealed`: the objects are complete, and the records leave in steps
--                `archived`: no record is left
--                `restoring`: the records come back in steps
--                `ended`: the records are back, or the month was not archived after all; what was noted of
--                it is deleted in steps, and then this row
--   begun_at     when the state `writing` began, in milliseconds
--   totals_at    when the control totals of the month were last kept before that. While no day has newer
--                ones, and none lacks them, no record of the month has changed
--   erasures     the erasures of the account at that time
--   prefix       where the objects are in the bucket: no other month, and no other time that this month is
--                archived, has the same
--   records      how many records were archived; null while they are written
--   archived_at  when the month was sealed, in milliseconds
--   wanted_at    when somebody first needed the records, in milliseconds; null if nobody does. The month is
--                then restored. 0 if an erased customer has records in it, or its objects were never used: they
--                are deleted once it has ended
--   fault        the object that is damaged or missing, if the month could not be restored
CREATE TABLE archived_months (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  first_day   INTEGER NOT NULL CHECK (first_day BETWEEN -719528 AND 2932896),
  last_day    INTEGER NOT NULL CHECK (last_day BETWEEN -719528 AND 2932896),
  state       TEXT NOT NULL
    CHECK (state IN ('writing', 'sealed', 'archived', 'restoring', 'ended')),
  begun_at    INTEGER NOT NULL,
  totals_at   INTEGER NOT NULL,
  erasures    INTEGER NOT NULL,
  prefix      TEXT NOT NULL,
  records     INTEGER,
  archived_at INTEGER,
  wanted_at   INTEGER,
  fault       TEXT,
  PRIMARY KEY (account, resource, first_day)
) STRICT, WITHOUT ROWID;

-- The months on which there is work to do are found without a scan.
CREATE INDEX archived_months_due ON archived_months (account, resource, first_day)
  WHERE state <> 'archived' OR wanted_at IS NOT NULL;

-- The manifest: the objects of these months, each with the key `prefix`, `/` and `sha256`. Together
-- they have every record of the month, in the order of
-- the primary key of its table.
--
--   version     the version of the columns
--   days        a JSON array of the days, each with its number of records
--   groups      a JSON array of the row groups: the number of records, the first key and the last key
--   deliveries  a JSON array of the first and the last delivery that wrote one of these records
--   restored    1 once its records are back
--
-- What is kept of archived records beside their objects.
--
--   totals    the control totals of an object as JSON: the form of the totals of days, and their groups. Null if
--             they are too large
--   deposits  the last day of the customer's deposits in the month, as a JSON object by status; null if they have
--             none. So nobody's first deposit needs the month
CREATE TABLE archive_objects (
  account    TEXT NOT NULL,
  resource   TEXT NOT NULL,
  first_day  INTEGER NOT NULL,
  part       INTEGER NOT NULL,
  sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
  bytes      INTEGER NOT NULL,
  version    INTEGER NOT NULL,
  records    INTEGER NOT NULL,
  days       TEXT NOT NULL CHECK (json_valid(days)),
  groups     TEXT NOT NULL CHECK (json_valid(groups)),
  deliveries TEXT NOT NULL CHECK (json_valid(deliveries)),
  written_at INTEGER NOT NULL,
  restored   INTEGER NOT NULL DEFAULT 0 CHECK (restored IN (0, 1)),
  totals TEXT CHECK (totals IS NULL OR json_valid(totals)),
  PRIMARY KEY (account, resource, first_day, part)
) STRICT, WITHOUT ROWID;

-- The ids of archived records whose key has no day, so that a record that is sent again is recognized even
-- if its day has changed. A row counts only while its month is sealed, archived or restoring.
--
-- Where the records of archived months are in their objects, so that lists and single records are read from
-- there. Null in rows that an earlier version wrote: the records of such a month are restored when they are needed.
--
--   part, row_group  the object of the record, and the row group in it, counted from 0
CREATE TABLE archived_records (
  account   TEXT NOT NULL,
  resource  TEXT NOT NULL,
  id        TEXT NOT NULL,
  first_day INTEGER NOT NULL,
  part INTEGER,
  row_group INTEGER,
  PRIMARY KEY (account, resource, id)
) STRICT, WITHOUT ROWID;

-- The customers who have records in these months. As for ids, a row counts only with its month.
--
--   records  how many records the customer has, by object and day, as a JSON object of JSON objects: the days are
--            counted from the first day of the month, which is 0
CREATE TABLE archived_customers (
  account     TEXT NOT NULL,
  resource    TEXT NOT NULL,
  first_day   INTEGER NOT NULL,
  customer_id TEXT NOT NULL,
  deposits TEXT CHECK (deposits IS NULL OR json_valid(deposits)),
  records TEXT CHECK (json_valid(records)),
  PRIMARY KEY (account, resource, first_day, customer_id)
) STRICT, WITHOUT ROWID;

-- Objects that no month needs any more, by the beginning of their keys. They are deleted later: a database
-- that is restored to an earlier time may name them.
CREATE TABLE retired_archives (
  account   TEXT NOT NULL,
  prefix    TEXT NOT NULL,
  delete_at INTEGER NOT NULL,
  PRIMARY KEY (account, prefix)
) STRICT, WITHOUT ROWID;

CREATE INDEX retired_archives_due ON retired_archives (delete_at);

CREATE TRIGGER archived_months_retired AFTER DELETE ON archived_months
BEGIN
  INSERT INTO retired_archives (account, prefix, delete_at)
  VALUES (old.account, old.prefix, unixepoch() * 1000 + 2592000000)
  ON CONFLICT DO NOTHING;
END;
