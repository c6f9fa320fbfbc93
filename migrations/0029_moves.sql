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
