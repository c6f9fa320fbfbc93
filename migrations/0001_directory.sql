-- Accounts and clients. Read when a token is issued, never while records are received.
--
-- Settings of the integrations team. Accounts, credentials, definitions and links are only in the
-- database `DB`. Affiliates, plans, clicks and the audit log are also in the database of an account's
-- records.

-- Partner firms and brands. Each change that affects live tokens raises `version`; `pushed` is the version
-- that the objects of all tokens have received.
--
--   binding        the D1 binding that keeps its records
--   storage_quota  in bytes; no delivery stores records beyond it
--   region         where its Durable Objects are created: a location hint, null: near whoever uses one
--                  first. A change applies to tokens that are issued later: an object stays
--   jurisdiction   the jurisdiction that keeps the journal of erased customers; it never changes
--   book_zone      the time zone of the days of a partner's records. Brands have `time_zone`
--   approvals      how many different actors must approve a statement: 1 or 2
--   unattributed_threshold  the share of a day's new customers without an affiliate above which
--                  `customer.unattributed` is sent
--   amount_signs   whether it sends the amounts of outflows as magnitudes, or negative
CREATE TABLE accounts (
  id                     TEXT PRIMARY KEY CHECK (id <> ''),
  name                   TEXT NOT NULL CHECK (name <> ''),
  vertical               TEXT NOT NULL CHECK (vertical IN ('prop-trading', 'forex', 'igaming')),
  mode                   TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  time_zone              TEXT NOT NULL DEFAULT 'UTC',
  binding                TEXT NOT NULL DEFAULT 'DB',
  unknown_customer       TEXT NOT NULL CHECK (unknown_customer IN ('reject', 'hold')),
  unknown_affiliate      TEXT NOT NULL DEFAULT 'warn'
    CHECK (unknown_affiliate IN ('warn', 'reject')),
  disabled               INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at             TEXT NOT NULL,
  version                INTEGER NOT NULL DEFAULT 1,
  pushed                 INTEGER NOT NULL DEFAULT 1,
  storage_quota          INTEGER NOT NULL DEFAULT 4294967296 CHECK (storage_quota >= 0),
  region                 TEXT
    CHECK (region IN ('wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me')),
  jurisdiction           TEXT CHECK (jurisdiction IN ('eu', 'fedramp')),
  book_zone              TEXT NOT NULL DEFAULT 'UTC',
  approvals              INTEGER NOT NULL DEFAULT 1 CHECK (approvals IN (1, 2)),
  unattributed_threshold REAL NOT NULL DEFAULT 0.2 CHECK (unattributed_threshold BETWEEN 0 AND 1),
  amount_signs           TEXT NOT NULL DEFAULT 'magnitude'
    CHECK (amount_signs IN ('magnitude', 'signed'))
) STRICT, WITHOUT ROWID;

CREATE INDEX accounts_unpushed ON accounts (id) WHERE pushed < version;

-- Secrets are stored as digests only: SHA-256, in hex. `version` grows whenever a secret ends. `closed` tells
-- whether the Durable Objects of an ended credential know that it has ended: a change of settings calls
-- them only until then. It is never 1 while the credential is alive.
CREATE TABLE clients (
  client_id       TEXT PRIMARY KEY CHECK (client_id <> ''),
  account         TEXT NOT NULL REFERENCES accounts (id),
  secret_digest   TEXT NOT NULL CHECK (length(secret_digest) = 64),
  version         INTEGER NOT NULL DEFAULT 1,
  revoked         INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
  created_at      TEXT NOT NULL,
  closed          INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX clients_account ON clients (account);

-- Previous secrets of clients, each valid until `ends_at` (milliseconds). Several can be valid at the
-- same time.
CREATE TABLE client_secrets (
  digest    TEXT PRIMARY KEY CHECK (length(digest) = 64),
  client_id TEXT NOT NULL REFERENCES clients (client_id),
  ends_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX client_secrets_client ON client_secrets (client_id);

-- Credentials that end soon are found without a scan.
CREATE INDEX client_secrets_ends ON client_secrets (ends_at);

-- Brand Tokens, as digests only. From `ends_at` (milliseconds) on, a token is refused; null: no end.
CREATE TABLE brand_tokens (
  digest     TEXT PRIMARY KEY CHECK (length(digest) = 64),
  id         TEXT NOT NULL UNIQUE,
  account    TEXT NOT NULL REFERENCES accounts (id),
  ends_at    INTEGER,
  created_at TEXT NOT NULL,
  closed     INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX brand_tokens_account ON brand_tokens (account);
CREATE INDEX brand_tokens_ends ON brand_tokens (ends_at) WHERE ends_at IS NOT NULL;

-- The affiliates of an account, under the ids that the account uses.
CREATE TABLE affiliates (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  parent       TEXT,
  PRIMARY KEY (account, affiliate_id)
) STRICT, WITHOUT ROWID;

-- The parents of affiliates by day. An affiliate without rows has the parent of `affiliates` from the
-- beginning; one with rows has no parent before the first of them.
CREATE TABLE affiliate_parents (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  day          INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  parent       TEXT,
  PRIMARY KEY (account, affiliate_id, day)
) STRICT, WITHOUT ROWID;

-- Tracking links. The affiliate of a link never changes, because `tracking_data` contains it signed.
-- `pass_query` tells whether it passes the query of its visitors on to the landing page.
CREATE TABLE links (
  link_id      TEXT PRIMARY KEY CHECK (length(link_id) = 8),
  account      TEXT NOT NULL REFERENCES accounts (id),
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  name         TEXT,
  landing_page TEXT NOT NULL,
  disabled     INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at   TEXT NOT NULL,
  pass_query   INTEGER NOT NULL DEFAULT 0 CHECK (pass_query IN (0, 1))
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

-- How the events of a name are read. `outflow` tells whether money leaves with them; `status_member` names
-- the member of a record that holds its status.
CREATE TABLE event_definitions (
  account       TEXT NOT NULL REFERENCES accounts (id),
  eventname     TEXT NOT NULL CHECK (eventname <> ''),
  granularity   TEXT NOT NULL CHECK (granularity IN ('event', 'day')),
  eventid       TEXT NOT NULL CHECK (eventid IN ('required', 'used', 'ignored')),
  kpis          TEXT NOT NULL CHECK (json_type(kpis) = 'array'),
  product       TEXT CHECK (json_type(product) = 'object'),
  currency      TEXT CHECK (length(currency) = 3),
  outflow       INTEGER NOT NULL DEFAULT 0 CHECK (outflow IN (0, 1)),
  status_member TEXT,
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

-- Plans of commissions, in the database of the account's records, so that a later change of a plan and
-- the approval of its statements exclude each other.
--
-- `terms` is the version as canonical JSON. A version never changes; one that never was in force can be
-- withdrawn, and its number is not used again.
CREATE TABLE plan_versions (
  account        TEXT NOT NULL,
  plan           TEXT NOT NULL CHECK (plan <> ''),
  version        INTEGER NOT NULL CHECK (version >= 1),
  effective_from TEXT NOT NULL CHECK (effective_from GLOB '????-??-??'),
  terms          TEXT NOT NULL CHECK (json_type(terms) = 'object'),
  created_at     TEXT NOT NULL,
  withdrawn_at   TEXT,
  PRIMARY KEY (account, plan, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX plan_versions_day ON plan_versions (account, plan, effective_from)
  WHERE withdrawn_at IS NULL;

CREATE TRIGGER plan_versions_no_change BEFORE UPDATE OF account, plan, version, effective_from, terms
ON plan_versions
BEGIN
  SELECT raise(ABORT, 'a version of a plan never changes');
END;

-- Which plan governs the customers of an affiliate from a day on; `affiliate_id` `*`: of every
-- affiliate without an assignment of its own.
CREATE TABLE assignments (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  from_day     TEXT NOT NULL CHECK (from_day GLOB '????-??-??'),
  plan         TEXT NOT NULL,
  customers    TEXT NOT NULL CHECK (customers IN ('new', 'all')),
  PRIMARY KEY (account, affiliate_id, from_day)
) STRICT, WITHOUT ROWID;

CREATE INDEX assignments_plan ON assignments (account, plan);

-- Daily reference rates for commissions, in the database `DB` only: all accounts share them.
--
--   rate         units of the currency for one euro: a decimal as text, without trailing zeros
--   known_from   when the rate was imported, in milliseconds
--   known_until  when a correction replaced it; null: it applies now
--
-- Of a source, currency and day one row has no `known_until`. Rows are never deleted.
CREATE TABLE fx_rates (
  source      TEXT NOT NULL CHECK (source <> ''),
  currency    TEXT NOT NULL CHECK (length(currency) = 3 AND currency <> 'EUR'),
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  rate        TEXT NOT NULL CHECK (rate GLOB '[0-9]*' AND rate NOT GLOB '*[^0-9.]*'),
  known_from  INTEGER NOT NULL,
  known_until INTEGER CHECK (known_until > known_from),
  PRIMARY KEY (source, currency, day, known_from)
) STRICT, WITHOUT ROWID;

-- The rates that were corrected, for closed periods: they use what was known when they were approved.
CREATE INDEX fx_rates_corrected ON fx_rates (known_until) WHERE known_until IS NOT NULL;

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
