-- The size of each database at the end of a day (days since 1970), in bytes: of the last 60 days. The forecast of
-- when a database is full, and the choice of a database for a new account, read it. Only `DB` has rows.
CREATE TABLE database_sizes (
  binding TEXT NOT NULL CHECK (binding <> ''),
  day     INTEGER NOT NULL,
  bytes   INTEGER NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (binding, day)
) STRICT, WITHOUT ROWID;

-- Counts the accounts of each database, and finds the databases with accounts.
CREATE INDEX accounts_binding ON accounts (binding);
