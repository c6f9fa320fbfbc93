-- Affiliates as callers.

-- What affiliates may see of their customers, as JSON: only the members that differ from the defaults.
ALTER TABLE accounts ADD COLUMN affiliate_view TEXT NOT NULL DEFAULT '{}'
  CHECK (json_type(affiliate_view) = 'object');

-- The key of the pseudonyms under which affiliates see customers. It never changes, so that a pseudonym stays
-- the same. Null until an affiliate first reads.
ALTER TABLE accounts ADD COLUMN pseudonym_key TEXT CHECK (length(pseudonym_key) = 64);

-- Keys of affiliates, as digests only. From `ends_at` (milliseconds) on, a key is refused; null: no end.
-- `closed` tells whether the object of an ended key knows that it has ended.
CREATE TABLE affiliate_keys (
  digest       TEXT PRIMARY KEY CHECK (length(digest) = 64),
  id           TEXT NOT NULL UNIQUE,
  account      TEXT NOT NULL REFERENCES accounts (id),
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  name         TEXT NOT NULL CHECK (name <> ''),
  scope        TEXT NOT NULL CHECK (scope IN ('read', 'read links')),
  ends_at      INTEGER,
  created_at   TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  closed       INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliate_keys_affiliate ON affiliate_keys (account, affiliate_id);
CREATE INDEX affiliate_keys_ends ON affiliate_keys (ends_at) WHERE ends_at IS NOT NULL;
