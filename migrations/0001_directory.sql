-- Accounts and clients. Read when a token is issued, never while records are received.

CREATE TABLE accounts (
  id                TEXT PRIMARY KEY CHECK (id <> ''),
  name              TEXT NOT NULL CHECK (name <> ''),
  vertical          TEXT NOT NULL CHECK (vertical IN ('prop-trading', 'forex', 'igaming')),
  mode              TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  time_zone         TEXT NOT NULL DEFAULT 'UTC',
  -- The D1 binding that keeps the account's records.
  binding           TEXT NOT NULL DEFAULT 'DB',
  unknown_customer  TEXT NOT NULL CHECK (unknown_customer IN ('reject', 'hold')),
  unknown_affiliate TEXT NOT NULL DEFAULT 'warn' CHECK (unknown_affiliate IN ('warn', 'reject')),
  disabled          INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at        TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Secrets are stored as digests only: SHA-256, in hex. During a rotation with overlap the previous
-- secret is valid until `previous_until` (milliseconds). `version` grows whenever a secret ends.
CREATE TABLE clients (
  client_id       TEXT PRIMARY KEY CHECK (client_id <> ''),
  account         TEXT NOT NULL REFERENCES accounts (id),
  secret_digest   TEXT NOT NULL CHECK (length(secret_digest) = 64),
  previous_digest TEXT CHECK (length(previous_digest) = 64),
  previous_until  INTEGER,
  version         INTEGER NOT NULL DEFAULT 1,
  revoked         INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
  created_at      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX clients_account ON clients (account);
