-- Outgoing notifications, in the database of the account's records: what causes an event writes it in the
-- same transaction. Triggers write the events of deliveries and statements.

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

CREATE INDEX webhook_endpoints_failing ON webhook_endpoints (account) WHERE failing_since IS NOT NULL;

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

-- Conditions that every row would meet stand in an `iif`: SQLite evaluates both sides of an `and`.
--
-- A test event is for one endpoint.
CREATE TRIGGER webhook_events_sent AFTER INSERT ON webhook_events WHEN new.type <> 'webhook.test'
BEGIN
  INSERT INTO webhook_messages (account, event, endpoint, next_at)
  SELECT DISTINCT new.account, new.id, endpoint, new.at FROM webhook_wants
  WHERE account = new.account AND type IN (new.type, '*');
END;

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

-- An account causes `delivery.refused` with each wrong request, and each endpoint has a row for it and for
-- each attempt. So an account has at most 1000 of these events a day: the log of deliveries has the rest.
--
-- The refused deliveries of an account that a webhook wants, of the last day (UTC) with one.
--
--   day  a number of days since 1970
CREATE TABLE webhook_refusals (
  account TEXT NOT NULL PRIMARY KEY,
  day     INTEGER NOT NULL,
  events  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
