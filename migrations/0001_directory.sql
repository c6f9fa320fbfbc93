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
--   jurisdiction   the jurisdiction that keeps the journal of erased customers; it never changes
--   book_zone      the time zone of the days of a partner's records. Brands have `time_zone`
--   approvals      how many different actors must approve a statement: 1 or 2
--   payee_hold_hours  for how long nothing is paid after bank details have changed
--   retain_years   for how long bank details are kept after the last payment to them
--   amount_signs   whether it sends the amounts of outflows as magnitudes, or negative
--   self_billing   whether it writes the invoices of its affiliates
--   invoicing      what these need, as JSON: series, VAT id, rate, the text of the agreement
--
-- What affiliates may see of their customers, as JSON: only the members that differ from the defaults.
--
-- The key of the pseudonyms under which affiliates see customers. It never changes, so that a pseudonym stays
-- the same. Null until an affiliate first reads.
--
-- The name under which notices are sent, null: that of the account; and the address to which answers go.
--
-- The pages to which they may lead, as a JSON array of URLs: each of these pages, and all below it.
--
-- The numbers of its accounts in the bookkeeping of the firm, as JSON: only those that were set.
--
-- How affiliates apply by themselves, as JSON: whether they may, the plan, the questions and the terms.
--
-- Whether the account is exported as Parquet files: `off`, `without_personal_data` or `with_personal_data`.
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
  jurisdiction           TEXT CHECK (jurisdiction IN ('eu', 'us', 'fedramp')),
  book_zone              TEXT NOT NULL DEFAULT 'UTC',
  approvals              INTEGER NOT NULL DEFAULT 1 CHECK (approvals IN (1, 2)),
  payee_hold_hours       INTEGER NOT NULL DEFAULT 72 CHECK (payee_hold_hours BETWEEN 0 AND 720),
  retain_years           INTEGER NOT NULL DEFAULT 10 CHECK (retain_years BETWEEN 1 AND 30),
  amount_signs           TEXT NOT NULL DEFAULT 'magnitude'
    CHECK (amount_signs IN ('magnitude', 'signed')),
  self_billing           TEXT NOT NULL DEFAULT 'off' CHECK (self_billing IN ('off', 'invoice')),
  invoicing              TEXT NOT NULL DEFAULT '{}' CHECK (json_type(invoicing) = 'object'),
  affiliate_view TEXT NOT NULL DEFAULT '{}'
    CHECK (json_type(affiliate_view) = 'object'),
  pseudonym_key TEXT CHECK (length(pseudonym_key) = 64),
  mail_name TEXT,
  reply_to TEXT,
  landing_pages TEXT NOT NULL DEFAULT '[]'
    CHECK (json_type(landing_pages) = 'array'),
  journal_accounts TEXT NOT NULL DEFAULT '{}'
    CHECK (json_type(journal_accounts) = 'object'),
  sign_up TEXT NOT NULL DEFAULT '{}'
    CHECK (json_type(sign_up) = 'object'),
  exports TEXT NOT NULL DEFAULT 'off'
    CHECK (exports IN ('off', 'without_personal_data', 'with_personal_data'))
) STRICT, WITHOUT ROWID;

CREATE INDEX accounts_unpushed ON accounts (id) WHERE pushed < version;

-- Secrets are stored as digests only: SHA-256, in hex. `version` grows whenever a secret ends. The previous
-- secret is valid until `previous_ends_at` (milliseconds).
CREATE TABLE clients (
  client_id       TEXT PRIMARY KEY CHECK (client_id <> ''),
  account         TEXT NOT NULL REFERENCES accounts (id),
  secret_digest   TEXT NOT NULL CHECK (length(secret_digest) = 64),
  previous_digest  TEXT CHECK (length(previous_digest) = 64),
  previous_ends_at INTEGER,
  version         INTEGER NOT NULL DEFAULT 1,
  revoked         INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
  created_at      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX clients_account ON clients (account);

-- Brand Tokens, as digests only. From `ends_at` (milliseconds) on, a token is refused; null: no end.
CREATE TABLE brand_tokens (
  digest     TEXT PRIMARY KEY CHECK (length(digest) = 64),
  id         TEXT NOT NULL UNIQUE,
  account    TEXT NOT NULL REFERENCES accounts (id),
  ends_at    INTEGER,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX brand_tokens_account ON brand_tokens (account);

-- The affiliates of an account, under the ids that the account uses.
--
-- How the team calls an affiliate and reaches them. `contact_email` is personal data; the audit log has neither.
--
-- Who affiliates are to the portal: their language and state, the persons who sign in, their passkeys, and
-- the invitations by which they register them.
--
-- `note` is for the team only. A suspended affiliate cannot call; it earns on.
--
-- `manager` is the id of the member of the team who looks after the affiliate; one that is gone counts as null.
--
-- How often the affiliate was suspended. A session of the portal names the number that it began with, and
-- has ended once there is another.
--
-- `share_code` is in the links by which an affiliate recommends the account to others.
CREATE TABLE affiliates (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  parent       TEXT,
  display_name TEXT,
  contact_email TEXT,
  language TEXT CHECK (language IN ('en', 'de', 'es', 'fr', 'pt')),
  note TEXT,
  status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'suspended')),
  suspensions INTEGER NOT NULL DEFAULT 0 CHECK (suspensions >= 0),
  manager TEXT,
  share_code TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))),
  PRIMARY KEY (account, affiliate_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliates_share_code ON affiliates (account, share_code);

-- Finds who is like an applicant: by the domain of the address and the address, and by the name.
CREATE INDEX affiliates_address ON affiliates (
  account, lower(substr(contact_email, instr(contact_email, '@') + 1)), lower(contact_email)
) WHERE contact_email IS NOT NULL;

CREATE INDEX affiliates_name ON affiliates (account, lower(display_name))
  WHERE display_name IS NOT NULL;

CREATE INDEX affiliates_manager ON affiliates (account, manager) WHERE manager IS NOT NULL;

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
--
-- Who disabled a link; null if it is active. An affiliate cannot activate what the team disabled.
CREATE TABLE links (
  link_id      TEXT PRIMARY KEY CHECK (length(link_id) = 8),
  account      TEXT NOT NULL REFERENCES accounts (id),
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  name         TEXT,
  landing_page TEXT NOT NULL,
  disabled     INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at   TEXT NOT NULL,
  pass_query   INTEGER NOT NULL DEFAULT 0 CHECK (pass_query IN (0, 1)),
  disabled_by TEXT CHECK (disabled_by IN ('team', 'affiliate'))
) STRICT, WITHOUT ROWID;

CREATE INDEX links_account ON links (account, link_id);

-- What an affiliate writes on a link to tell its own campaigns apart, as `?sub1=…` to `?sub5=…`.
CREATE TABLE clicks (
  account    TEXT NOT NULL,
  day        INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  link_id    TEXT NOT NULL,
  click_id   TEXT NOT NULL,
  clicked_at INTEGER NOT NULL,
  sub1 TEXT,
  sub2 TEXT,
  sub3 TEXT,
  sub4 TEXT,
  sub5 TEXT,
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

-- The words that a partner uses for the statuses of transactions.
CREATE TABLE vocabulary (
  account TEXT NOT NULL REFERENCES accounts (id),
  word    TEXT NOT NULL CHECK (word <> ''),
  means   TEXT NOT NULL CHECK (means <> ''),
  PRIMARY KEY (account, word)
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

-- Daily reference rates of the ECB for commissions, in the database `DB` only: all accounts share them.
--
--   rates        a JSON object of units of a currency for one euro, each a decimal as text, without trailing zeros
--   known_from   when the rates were imported, in milliseconds
--   known_until  when other ones replaced them; null: they apply now
--
-- Of a day one row has no `known_until`. Rows are never deleted: closed periods use what was known when they were
-- approved.
CREATE TABLE fx_rates (
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  known_from  INTEGER NOT NULL,
  known_until INTEGER CHECK (known_until > known_from),
  rates       TEXT NOT NULL CHECK (json_type(rates) = 'object'),
  PRIMARY KEY (day, known_from)
) STRICT, WITHOUT ROWID;

-- The rates by when they became known.
CREATE INDEX fx_rates_known ON fx_rates (known_from);

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

-- Keys of affiliates, as digests only. From `ends_at` (milliseconds) on, a key is refused; null: no end.
--
-- The last day (UTC, `2026-03-01`) on which the key was accepted; null: none is known.
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
  last_used_on TEXT
    CHECK (last_used_on GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]')
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliate_keys_affiliate ON affiliate_keys (account, affiliate_id);

-- A person who signs in for an affiliate.
--
-- `invited_by` is who of the team has invited them, `email` where notices go. When the member last had the list of questions before them; null:
-- not yet.
CREATE TABLE affiliate_members (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  id           TEXT NOT NULL CHECK (id <> ''),
  name         TEXT NOT NULL CHECK (name <> ''),
  created_at   TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  invited_by   TEXT NOT NULL,
  email        TEXT,
  questions_seen_at TEXT,
  payments_seen_at  TEXT,
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

-- A passkey of a member. `public_key` is its SubjectPublicKeyInfo in base64url, and `algorithm` the number of COSE.
-- `counter` is the signature counter of WebAuthn §6.1.1: it never goes back. `backup_eligible` says whether the passkey
-- can be copied to other devices, which never changes, and `backed_up` whether it is.
CREATE TABLE affiliate_passkeys (
  account       TEXT NOT NULL,
  credential_id TEXT NOT NULL CHECK (credential_id <> ''),
  affiliate_id  TEXT NOT NULL,
  member        TEXT NOT NULL,
  public_key    TEXT NOT NULL,
  algorithm     INTEGER NOT NULL,
  counter       INTEGER NOT NULL CHECK (counter >= 0),
  transports    TEXT NOT NULL CHECK (json_type(transports) = 'array'),
  backup_eligible INTEGER NOT NULL CHECK (backup_eligible IN (0, 1)),
  backed_up     INTEGER NOT NULL CHECK (backed_up IN (0, backup_eligible)),
  name          TEXT NOT NULL CHECK (name <> ''),
  created_at    TEXT NOT NULL,
  last_used_at  TEXT NOT NULL,
  PRIMARY KEY (account, credential_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliate_passkeys_member ON affiliate_passkeys (account, affiliate_id, member);

-- An invitation to register a passkey as a new member. It works once before `ends_at` (milliseconds). The secret of its link is stored as a digest only. `email`: whom a notice invites.
CREATE TABLE affiliate_invitations (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  id           TEXT NOT NULL CHECK (id <> ''),
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  created_at   TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  ends_at      INTEGER NOT NULL,
  used_at      TEXT,
  email        TEXT,
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX affiliate_invitations_digest ON affiliate_invitations (account, digest);

-- An application to become an affiliate, from the page on which anybody applies. The id begins with the time.
--
--   status        `unproved` is none yet: its address is to be proved, and it is deleted after 24 hours
--   applied_at    in milliseconds
--   proved_at     when the address was proved; null: it was not, because no e-mail could be sent
--   email         in lower case
--   answers       a JSON array of `question` and `answer`
--   terms_version, applied_at  the terms that were accepted, and when
--   parent        the affiliate whose link led to the page
--   affiliate_id  the affiliate that an approval has made
CREATE TABLE applications (
  account       TEXT NOT NULL,
  id            TEXT NOT NULL CHECK (id <> ''),
  status        TEXT NOT NULL CHECK (status IN ('unproved', 'waiting', 'approved', 'rejected')),
  applied_at    INTEGER NOT NULL,
  proved_at     TEXT,
  name          TEXT NOT NULL CHECK (name <> ''),
  company       TEXT,
  country       TEXT NOT NULL CHECK (length(country) = 2),
  website       TEXT NOT NULL CHECK (website <> ''),
  promotion     TEXT NOT NULL CHECK (promotion <> ''),
  email         TEXT NOT NULL CHECK (email <> ''),
  language      TEXT NOT NULL CHECK (language IN ('en', 'de', 'es', 'fr', 'pt')),
  answers       TEXT NOT NULL CHECK (json_type(answers) = 'array'),
  terms_version TEXT NOT NULL CHECK (terms_version <> ''),
  parent        TEXT,
  decided_at    TEXT,
  decided_by    TEXT,
  reason        TEXT,
  affiliate_id  TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX applications_status ON applications (account, status, id);

CREATE INDEX applications_email ON applications (account, email, applied_at);

CREATE INDEX applications_applied ON applications (account, applied_at);

CREATE INDEX applications_unproved ON applications (applied_at) WHERE status = 'unproved';

CREATE INDEX links_affiliate ON links (account, affiliate_id, link_id);

-- Questions of affiliates to the firm: each is about one of their statements, lines or customers.

-- A question is open while it waits for the team: an answer closes it, unless it says otherwise, and more words
-- of the affiliate open it again. The id begins with the time.
--
--   subject      the id of the statement, line or customer
--   statement    the id of the statement, also that of a line; null for a customer
--   period       the period of the statement
--   customer_id  the customer, also the one that a line is for; an erasure clears what is written about them
--
-- When the team answered last; null: not yet.
CREATE TABLE affiliate_questions (
  account      TEXT NOT NULL,
  id           TEXT NOT NULL CHECK (id <> ''),
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  about        TEXT NOT NULL CHECK (about IN ('statement', 'line', 'customer')),
  subject      TEXT NOT NULL CHECK (subject <> ''),
  statement    TEXT,
  period       TEXT,
  customer_id  TEXT,
  status       TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed')),
  asked_at     TEXT NOT NULL,
  answered_at TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliate_questions_affiliate ON affiliate_questions (account, affiliate_id, id);

CREATE INDEX affiliate_questions_statement ON affiliate_questions (account, statement)
  WHERE statement IS NOT NULL;

CREATE INDEX affiliate_questions_customer ON affiliate_questions (account, customer_id)
  WHERE customer_id IS NOT NULL;

CREATE INDEX affiliate_questions_open ON affiliate_questions (account, id) WHERE status = 'open';

-- What was written about a question, in order: `position` begins with 1. `author` is a member or key of the
-- affiliate, or a member of the team. `text` is null once it was erased with its customer.
CREATE TABLE affiliate_question_messages (
  account  TEXT NOT NULL,
  question TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position > 0),
  id       TEXT NOT NULL CHECK (id <> ''),
  side     TEXT NOT NULL CHECK (side IN ('affiliate', 'team')),
  author   TEXT NOT NULL CHECK (author <> ''),
  at       TEXT NOT NULL,
  text     TEXT,
  PRIMARY KEY (account, question, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliate_questions_answered ON affiliate_questions (account, affiliate_id, answered_at)
  WHERE answered_at IS NOT NULL;

-- The size of each database in bytes. The choice of a database for a new account reads it. Only `DB` has rows.
CREATE TABLE database_sizes (
  binding TEXT NOT NULL PRIMARY KEY CHECK (binding <> ''),
  bytes   INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT, WITHOUT ROWID;

-- Counts the accounts of each database, and finds the databases with accounts.
CREATE INDEX accounts_binding ON accounts (binding);

-- Moves of accounts to other databases: docs/placement.md. Only `DB` has rows.
CREATE TABLE account_moves (
  account     TEXT NOT NULL,
  id          TEXT NOT NULL CHECK (id <> ''),
  source      TEXT NOT NULL,
  target      TEXT NOT NULL,
  status      TEXT NOT NULL
    CHECK (status IN ('copying', 'switched', 'done', 'cancelling', 'cancelled', 'failed')),
  place       TEXT,
  reason      TEXT,
  actor       TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  switched_at TEXT,
  ended_at    TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- An account has one move at a time, and the next one only without an old copy.
CREATE UNIQUE INDEX account_moves_active ON account_moves (account) WHERE ended_at IS NULL;

-- Members of the firm's team. Only `DB` has rows. A removed member stays, so that their name can be shown; the same
-- person can be invited again as another member.
--
--   email       in lower case: the actor of what they do
--   accounts    the ids of their accounts as a JSON array, or "all"
--   affiliates  {"own":true}: those whose manager they are; or "all"
--   joined_at   when they first registered a passkey; null: not yet
--   waiting     what waits until a second approver agrees, as JSON; null: nothing
--   version     grows with each change. A change of anybody asserts the sum that it has read: it decides by all
CREATE TABLE members (
  id         TEXT PRIMARY KEY CHECK (id <> ''),
  email      TEXT NOT NULL CHECK (email = lower(email) AND email <> ''),
  name       TEXT NOT NULL CHECK (name <> ''),
  role       TEXT NOT NULL CHECK (role IN ('viewer', 'manager', 'approver')),
  accounts   TEXT NOT NULL CHECK (json_type(accounts) = 'array' OR accounts = '"all"'),
  affiliates TEXT NOT NULL CHECK (json_type(affiliates) = 'object' OR affiliates = '"all"'),
  language   TEXT NOT NULL CHECK (language IN ('en', 'de', 'es', 'fr', 'pt')),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  joined_at  TEXT,
  removed_at TEXT,
  removed_by TEXT,
  waiting    TEXT CHECK (json_type(waiting) = 'object'),
  version    INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX members_email ON members (email) WHERE removed_at IS NULL;

-- An invitation to register a passkey. It works once before `ends_at` (milliseconds), and another one ends it.
CREATE TABLE member_invitations (
  digest     TEXT PRIMARY KEY CHECK (length(digest) = 64),
  id         TEXT NOT NULL UNIQUE,
  member     TEXT NOT NULL REFERENCES members (id),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  ends_at    INTEGER NOT NULL,
  used_at    TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX member_invitations_member ON member_invitations (member);

-- A passkey of a member, as `affiliate_passkeys` has those of affiliates.
CREATE TABLE member_passkeys (
  credential_id TEXT PRIMARY KEY CHECK (credential_id <> ''),
  member        TEXT NOT NULL REFERENCES members (id),
  public_key    TEXT NOT NULL,
  algorithm     INTEGER NOT NULL,
  counter       INTEGER NOT NULL CHECK (counter >= 0),
  transports    TEXT NOT NULL CHECK (json_type(transports) = 'array'),
  backup_eligible INTEGER NOT NULL CHECK (backup_eligible IN (0, 1)),
  backed_up     INTEGER NOT NULL CHECK (backed_up IN (0, backup_eligible)),
  name          TEXT NOT NULL CHECK (name <> ''),
  created_at    TEXT NOT NULL,
  last_used_at  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX member_passkeys_member ON member_passkeys (member);

-- Keys of members, as digests only. A key does at most what its role, accounts and affiliates say, and its member.
CREATE TABLE member_keys (
  digest     TEXT PRIMARY KEY CHECK (length(digest) = 64),
  id         TEXT NOT NULL UNIQUE,
  member     TEXT NOT NULL REFERENCES members (id),
  name       TEXT NOT NULL CHECK (name <> ''),
  role       TEXT NOT NULL CHECK (role IN ('viewer', 'manager', 'approver')),
  accounts   TEXT NOT NULL CHECK (json_type(accounts) = 'array' OR accounts = '"all"'),
  affiliates TEXT NOT NULL CHECK (json_type(affiliates) = 'object' OR affiliates = '"all"'),
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX member_keys_member ON member_keys (member);
