-- Outgoing notifications, in the database of the account's records: what causes an event writes it in
-- the same transaction. Triggers write the events of deliveries and statements.

-- The share of a day's new customers without an affiliate above which `customer.unattributed` is sent.
ALTER TABLE accounts ADD COLUMN unattributed_threshold REAL NOT NULL DEFAULT 0.2
  CHECK (unattributed_threshold BETWEEN 0 AND 1);

-- Credentials that end soon are found without a scan.
CREATE INDEX client_secrets_ends ON client_secrets (ends_at);
CREATE INDEX brand_tokens_ends ON brand_tokens (ends_at) WHERE ends_at IS NOT NULL;

-- The addresses to which an account's events are sent.
--
--   events         a JSON array of types; `*` stands for all
--   secrets        a JSON array of [sealed secret, end in milliseconds or null], the current one first
--   disabled       why nothing is sent: 'team', 'gone' (410) or 'failing'; null while it is enabled
--   failing_since  the first failure after the last success, in milliseconds; null after a success
CREATE TABLE webhook_endpoints (
  account       TEXT NOT NULL,
  id            TEXT NOT NULL,
  url           TEXT NOT NULL CHECK (url <> ''),
  events        TEXT NOT NULL CHECK (json_type(events) = 'array'),
  description   TEXT,
  secrets       TEXT NOT NULL CHECK (json_type(secrets) = 'array'),
  disabled      TEXT CHECK (disabled IN ('team', 'gone', 'failing')),
  failing_since INTEGER,
  created_at    TEXT NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- Events, each with its cause: `about` names the cause, so that it has one event. Events of which an
-- account's endpoints want none are not stored. The id begins with the time. `data` holds no personal
-- data.
CREATE TABLE webhook_events (
  account TEXT NOT NULL,
  id      TEXT NOT NULL,
  type    TEXT NOT NULL,
  about   TEXT NOT NULL,
  at      INTEGER NOT NULL,
  data    TEXT NOT NULL CHECK (json_type(data) = 'object'),
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_events_about ON webhook_events (account, type, about);

-- What is sent: one row for each event and endpoint.
--
--   attempts      the attempts that have begun
--   next_at       when the next attempt is due, in milliseconds
--   queued_until  until when the queue or an attempt has it, in milliseconds: then it is queued again
CREATE TABLE webhook_messages (
  account      TEXT NOT NULL,
  event        TEXT NOT NULL,
  endpoint     TEXT NOT NULL,
  status       TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  attempts     INTEGER NOT NULL DEFAULT 0,
  next_at      INTEGER NOT NULL,
  queued_until INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, event, endpoint)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_messages_due ON webhook_messages (account, endpoint, next_at)
  WHERE status = 'pending';
CREATE INDEX webhook_messages_endpoint ON webhook_messages (account, endpoint, event, status);

-- The log of attempts; the id begins with the time.
--
--   status  the status of the response; null without one
--   ms      how long the attempt took, in milliseconds
--   error   null after a success
CREATE TABLE webhook_attempts (
  account  TEXT NOT NULL,
  id       TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  event    TEXT NOT NULL,
  attempt  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  status   INTEGER,
  ms       INTEGER NOT NULL,
  error    TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_attempts_endpoint ON webhook_attempts (account, endpoint, id);

-- The feeds that `feed.late` has reported and that have not recovered. `day` is the first late day.
CREATE TABLE webhook_late_feeds (
  account  TEXT NOT NULL,
  resource TEXT NOT NULL,
  day      TEXT NOT NULL,
  PRIMARY KEY (account, resource)
) STRICT, WITHOUT ROWID;

-- What the enabled endpoints want.
CREATE VIEW webhook_wants AS
SELECT e.account, e.id AS endpoint, w.value AS type
FROM webhook_endpoints e, json_each(e.events) w
WHERE e.disabled IS NULL;

-- Conditions that every row would meet stand in an `iif`: SQLite evaluates both sides of an `and`.

-- A test event is for one endpoint.
CREATE TRIGGER webhook_events_sent AFTER INSERT ON webhook_events WHEN new.type <> 'webhook.test'
BEGIN
  INSERT INTO webhook_messages (account, event, endpoint, next_at)
  SELECT DISTINCT new.account, new.id, endpoint, new.at FROM webhook_wants
  WHERE account = new.account AND type IN (new.type, '*');
END;

CREATE TRIGGER webhook_delivery_refused AFTER INSERT ON deliveries
WHEN iif(new.dry_run = 0 AND (new.rejected > 0 OR new.reused = 1) AND new.over_quota IS NULL,
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('delivery.refused', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'delivery.refused', new.id, now, json_object(
      'delivery_id', new.id, 'resource', new.resource, 'received', new.received,
      'refused', iif(new.refused > 0 OR new.reused = 1, new.received, new.rejected),
      'errors_total', new.errors_total,
      'codes', json((SELECT json_group_array(code) FROM (
        SELECT value ->> 1 AS code FROM json_each(ifnull(new.errors, '[]'), '$[0].kinds')
        WHERE new.reused = 0
        UNION
        -- Earlier Workers write an array of errors.
        SELECT value ->> 'code' FROM json_each(ifnull(new.errors, '[]'))
        WHERE new.reused = 0 AND value ->> 'code' IS NOT NULL
        UNION
        -- The codes of references, which the log does not store.
        SELECT iif(new.resource <> 'customers', 'unknown_customer',
          iif(new.unknown_keys ->> '$[0][#-1]' IS NULL, 'length', 'unknown_affiliate'))
        WHERE json_array_length(new.unknown_keys) > 0 AND new.reused = 0
        UNION
        SELECT 'idempotency_key_reused' WHERE new.reused = 1
        ORDER BY 1 LIMIT 20))))
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_statement_approved AFTER UPDATE OF status ON statements
WHEN iif(old.status = 'draft' AND new.status = 'approved' AND new.statement IS NOT NULL,
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('statement.approved', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'statement.approved', new.id, now, json_object(
      'statement_id', new.id, 'affiliate_id', new.affiliate_id, 'plan', new.plan,
      'period', new.period, 'currency', new.statement ->> 'currency',
      'total', new.statement ->> 'total', 'payable', new.payable, 'hash', new.hash)
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_statement_paid AFTER UPDATE OF status ON statements
WHEN iif(old.status = 'approved' AND new.status = 'paid',
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('statement.paid', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'statement.paid', new.id, now, json_object(
      'statement_id', new.id, 'affiliate_id', new.affiliate_id, 'plan', new.plan,
      'period', new.period, 'currency', new.statement ->> 'currency',
      'amount', new.payable, 'reference', new.payment, 'paid_on', (SELECT paid_on FROM payments
        WHERE account = new.account AND reference = new.payment))
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_manual_entry AFTER INSERT ON manual_entries
WHEN EXISTS (SELECT 1 FROM webhook_wants
  WHERE account = new.account AND type IN ('adjustment.created', '*'))
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'adjustment.created', new.id, now, json_object(
      'kind', 'manual', 'manual_entry_id', new.id, 'affiliate_id', new.affiliate_id,
      'plan', new.plan, 'currency', new.currency, 'amount', new.amount)
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

-- Corrections of closed periods: a computation finds them, or other ones than before.
CREATE TRIGGER webhook_new_corrections AFTER INSERT ON statements
WHEN iif(EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('adjustment.created', '*')),
  new.statement ->> 'adjustments_total' > 0, 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'adjustment.created', new.id || ' ' || new.hash, now, json_object(
      'kind', 'correction', 'statement_id', new.id, 'affiliate_id', new.affiliate_id,
      'plan', new.plan, 'period', new.period, 'currency', new.statement ->> 'currency',
      'amount', new.statement ->> 'adjustments_sum',
      'adjustments', new.statement ->> 'adjustments_total')
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_changed_corrections AFTER UPDATE OF statement ON statements
WHEN iif(EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('adjustment.created', '*')),
  new.statement ->> 'adjustments_total' > 0
    AND (new.statement ->> 'adjustments_total' IS NOT old.statement ->> 'adjustments_total'
      OR new.statement ->> 'adjustments_sum' IS NOT old.statement ->> 'adjustments_sum'), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'adjustment.created', new.id || ' ' || new.hash, now, json_object(
      'kind', 'correction', 'statement_id', new.id, 'affiliate_id', new.affiliate_id,
      'plan', new.plan, 'period', new.period, 'currency', new.statement ->> 'currency',
      'amount', new.statement ->> 'adjustments_sum',
      'adjustments', new.statement ->> 'adjustments_total')
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;
