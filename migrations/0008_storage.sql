-- Doors of accounts that move between databases, or have moved: docs/storage.md. Nothing of an account is written to
-- this database while its door is not open; an account without a row has an open one.
--
--   move   the last move that changed the door
--   state  `leaving`: the account lives here, and is copied to another database
--          `copying`: it lives in another database, and is copied here
--          `gone`: it does not live here; rows that are left may be deleted
--          `open`: it lives here
CREATE TABLE doors (
  account TEXT PRIMARY KEY,
  move    TEXT NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('leaving', 'copying', 'gone', 'open'))
) STRICT, WITHOUT ROWID;

-- The files of an account's export, in the database of its records. A file has the records of one resource and
-- calendar month, or a part of them. Its object in R2 is named by its SHA-256.
--
--   month        `2026-10`; '' of resources that are exported as a whole
--   part         from 1; -1, -2 … while the files of a month are written: no list has them
--   id           `exp_` and the begin of the digest
--   records      the number of rows
--   sign         what the month consisted of when it was written; a month with the same one is not read again
--   sums         control totals: the sum of each column of decimals, as JSON
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
  sign           TEXT NOT NULL,
  sums           TEXT NOT NULL CHECK (json_type(sums) = 'object'),
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
--   position, since_position  from where this run and that one read marks of changed days
--   form      what was exported and how: another form is exported anew
CREATE TABLE export_runs (
  account  TEXT PRIMARY KEY,
  run      TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  ended_at INTEGER,
  since    INTEGER,
  position INTEGER NOT NULL,
  since_position INTEGER,
  form     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
