-- Settings of the integrations team. Accounts, credentials, definitions and links are only in the
-- database `DB`. Affiliates, clicks and the audit log are also in the database of an account's
-- records.

-- Each change that affects live tokens raises `version`. `pushed` is the version that the objects of
-- all tokens have received.
ALTER TABLE accounts ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN pushed INTEGER NOT NULL DEFAULT 1;

CREATE INDEX accounts_unpushed ON accounts (id) WHERE pushed < version;

-- Previous secrets of clients, each valid until `ends_at` (milliseconds). Several can be valid at the
-- same time. `previous_digest` and `previous_until` of `clients` are no longer read.
CREATE TABLE client_secrets (
  digest    TEXT PRIMARY KEY CHECK (length(digest) = 64),
  client_id TEXT NOT NULL REFERENCES clients (client_id),
  ends_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX client_secrets_client ON client_secrets (client_id);

-- Brand Tokens, as digests only. From `ends_at` (milliseconds) on, a token is refused; null: no end.
CREATE TABLE brand_tokens (
  digest     TEXT PRIMARY KEY CHECK (length(digest) = 64),
  id         TEXT NOT NULL UNIQUE,
  account    TEXT NOT NULL REFERENCES accounts (id),
  ends_at    INTEGER,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX brand_tokens_account ON brand_tokens (account);

CREATE TABLE event_definitions (
  account     TEXT NOT NULL REFERENCES accounts (id),
  eventname   TEXT NOT NULL CHECK (eventname <> ''),
  granularity TEXT NOT NULL CHECK (granularity IN ('event', 'day')),
  eventid     TEXT NOT NULL CHECK (eventid IN ('required', 'used', 'ignored')),
  kpis        TEXT NOT NULL CHECK (json_type(kpis) = 'array'),
  product     TEXT CHECK (json_type(product) = 'object'),
  currency    TEXT CHECK (length(currency) = 3),
  PRIMARY KEY (account, eventname)
) STRICT, WITHOUT ROWID;

-- The values that a partner uses for transaction statuses, and labels of KYC and sales statuses.
CREATE TABLE vocabulary (
  account TEXT NOT NULL REFERENCES accounts (id),
  field   TEXT NOT NULL CHECK (field IN ('status', 'kyc_status_id', 'sales_status_id')),
  word    TEXT NOT NULL CHECK (word <> ''),
  means   TEXT NOT NULL CHECK (means <> ''),
  PRIMARY KEY (account, field, word)
) STRICT, WITHOUT ROWID;

-- Tracking links. The affiliate of a link never changes, because `tracking_data` contains it signed.
CREATE TABLE links (
  link_id      TEXT PRIMARY KEY CHECK (length(link_id) = 8),
  account      TEXT NOT NULL REFERENCES accounts (id),
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  name         TEXT,
  landing_page TEXT NOT NULL,
  disabled     INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX links_account ON links (account, link_id);

CREATE TABLE clicks (
  account    TEXT NOT NULL,
  day        INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  link_id    TEXT NOT NULL,
  click_id   TEXT NOT NULL,
  clicked_at INTEGER NOT NULL,
  PRIMARY KEY (account, day, link_id, click_id)
) STRICT, WITHOUT ROWID;

-- Changes with their actor and time; the id begins with the time. No secrets, no personal data.
CREATE TABLE audit_log (
  id      TEXT PRIMARY KEY,
  at      TEXT NOT NULL,
  actor   TEXT NOT NULL,
  action  TEXT NOT NULL,
  account TEXT,
  details TEXT NOT NULL CHECK (json_valid(details))
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_log_account ON audit_log (account, id);

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN
  SELECT raise(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
BEGIN
  SELECT raise(ABORT, 'the audit log is append-only');
END;

-- `INSERT OR REPLACE` deletes a row without firing the delete trigger. Such an insert is ignored.
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = new.id)
BEGIN
  SELECT raise(IGNORE);
END;
