-- Postbacks: notifications that affiliates have sent to their own trackers. A postback is a row of
-- `webhook_endpoints` with an affiliate, so that outbox, messages and attempts are those of webhooks.
--
--   affiliate_id    the affiliate whose postback it is; null: a webhook of the account
--   method          GET: the URL has the values; POST: the body has them, signed
--   active_since    since when a postback has wanted its events, in milliseconds; null: since it was created
--   paused_by_firm  1 if the team has paused a postback: only the team ends that pause
ALTER TABLE webhook_endpoints ADD COLUMN affiliate_id TEXT CHECK (affiliate_id <> '');
ALTER TABLE webhook_endpoints ADD COLUMN method TEXT NOT NULL DEFAULT 'POST'
  CHECK (method IN ('GET', 'POST'));
ALTER TABLE webhook_endpoints ADD COLUMN paused_by_firm INTEGER NOT NULL DEFAULT 0
  CHECK (paused_by_firm IN (0, 1));
ALTER TABLE webhook_endpoints ADD COLUMN active_since INTEGER;

CREATE INDEX webhook_endpoints_affiliate ON webhook_endpoints (account, affiliate_id)
  WHERE affiliate_id IS NOT NULL;

-- The affiliate whose postbacks an event is for; null: it is for the webhooks of the account.
ALTER TABLE webhook_events ADD COLUMN affiliate_id TEXT;

-- What the enabled webhooks of accounts want.
DROP VIEW webhook_wants;

CREATE VIEW webhook_wants AS
SELECT e.account, e.id AS endpoint, w.value AS type
FROM webhook_endpoints e, json_each(e.events) w
WHERE e.disabled IS NULL AND e.affiliate_id IS NULL;

-- What the enabled postbacks of affiliates want.
CREATE VIEW postback_wants AS
SELECT e.account, e.affiliate_id, e.id AS endpoint, w.value AS type,
  coalesce(e.active_since, cast(unixepoch(e.created_at, 'subsec') * 1000 AS INTEGER)) AS since
FROM webhook_endpoints e, json_each(e.events) w
WHERE e.disabled IS NULL AND e.affiliate_id IS NOT NULL;

-- A test event is for one endpoint.
DROP TRIGGER webhook_events_sent;

CREATE TRIGGER webhook_events_sent AFTER INSERT ON webhook_events
WHEN new.type <> 'webhook.test' AND new.affiliate_id IS NULL
BEGIN
  INSERT INTO webhook_messages (account, event, endpoint, next_at)
  SELECT DISTINCT new.account, new.id, endpoint, new.at FROM webhook_wants
  WHERE account = new.account AND type IN (new.type, '*');
END;

CREATE TRIGGER webhook_events_posted_back AFTER INSERT ON webhook_events
WHEN new.type <> 'webhook.test' AND new.affiliate_id IS NOT NULL AND new.id NOT GLOB '*-r'
BEGIN
  INSERT INTO webhook_messages (account, event, endpoint, next_at)
  SELECT new.account, new.id, endpoint, new.at FROM postback_wants
  WHERE account = new.account AND affiliate_id = new.affiliate_id AND type = new.type;
END;

-- What takes an event back is for the postbacks that the event was for.
CREATE TRIGGER webhook_events_taken_back AFTER INSERT ON webhook_events WHEN new.id GLOB '*-r'
BEGIN
  INSERT INTO webhook_messages (account, event, endpoint, next_at)
  SELECT new.account, new.id, m.endpoint, new.at
  FROM webhook_messages m CROSS JOIN webhook_endpoints e ON e.account = m.account AND e.id = m.endpoint
  WHERE m.account = new.account AND m.event = substr(new.id, 1, length(new.id) - 2)
    AND e.disabled IS NULL;
END;

-- Up to when the causes of postbacks of an account have been read, in milliseconds.
CREATE TABLE postback_progress (
  account TEXT NOT NULL PRIMARY KEY,
  read_to INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The parameters of the click by which a customer came, for the postbacks about them: clicks are kept for
-- 30 days. Only customers of affiliates with postbacks have a row.
--
--   subs  a JSON object with those of `sub1` to `sub5` that the click has
CREATE TABLE postback_customers (
  account      TEXT NOT NULL,
  customer_id  TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  subs         TEXT NOT NULL CHECK (json_type(subs) = 'object'),
  PRIMARY KEY (account, customer_id, affiliate_id)
) STRICT, WITHOUT ROWID;
