-- What arrived: one row a request, written in the same batch as its records. The id begins with the
-- time, so that the key lists them by age; bodies are never kept.
--
--   attempt          which of our own tries wrote the row: totals are counted by that one alone
--   rejected         records that are wrong, or refer to what is unknown and may not be held
--   refused          the same where all is refused with them; 0 where the good ones are stored
--   created, written records that are new and in no way held; all that were written
--   held, held_written  records that wait for their customer; those of them that were written
--   listed           by how many records the resource's list grew
--   unknown_at, stale_at, moved  indexes of the records that refer to what is unknown, are stale, or
--                    whose indexed columns change
--   unknown_keys     [index, key …, reference] of the first hundred of them that are rejected
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
