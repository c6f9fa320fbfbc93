-- The delivery log: one row per request, written in the same batch as its records. The id begins with
-- the time, so the primary key orders the rows by age. Bodies are never stored.
--
--   attempt          the attempt of the Worker that inserted the row; only that attempt writes
--   rejected         records that are invalid, or whose unknown reference the policy rejects
--   refused          equal to `rejected` if the whole request is rejected; 0 if it is lenient
--   created, written  new records that are not held; all records that were written
--   held, held_written  records that wait for their customer; those of them that were written
--   listed           the number of records that the delivery adds to the total of its resource
--   unknown_at, stale_at, moved  JSON arrays of positions in the request: records with an unknown
--                    reference, stale records, and records whose indexed columns change
--   unknown_keys     [position, key …, reference] of the first 100 rejected records with an unknown
--                    reference
CREATE TABLE deliveries (
  account      TEXT NOT NULL,
  id           TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  received_at  INTEGER NOT NULL,
  resource     TEXT NOT NULL,
  form         TEXT NOT NULL CHECK (form IN ('object', 'array', 'data')),
  dry_run      INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
  lenient      INTEGER NOT NULL CHECK (lenient IN (0, 1)),
  received     INTEGER NOT NULL,
  errors_total INTEGER NOT NULL,
  rejected     INTEGER NOT NULL,
  refused      INTEGER NOT NULL,
  held         INTEGER NOT NULL,
  stale        INTEGER NOT NULL,
  created      INTEGER NOT NULL,
  listed       INTEGER NOT NULL,
  written      INTEGER NOT NULL DEFAULT 0,
  held_written INTEGER NOT NULL DEFAULT 0,
  errors       TEXT CHECK (json_valid(errors)),
  unknown_at   TEXT CHECK (json_valid(unknown_at)),
  unknown_keys TEXT CHECK (json_valid(unknown_keys)),
  stale_at     TEXT CHECK (json_valid(stale_at)),
  moved        TEXT CHECK (json_valid(moved)),
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;
