-- Outgoing notifications, in the database of the account's records: what causes an event writes it in the
-- same transaction.

-- The addresses to which an account's events are sent.
--
--   events         a JSON array of types; `*` stands for all
--   secrets        a JSON array of [sealed secret, end in milliseconds or null], the current one first
--   disabled       why nothing is sent: 'team', 'gone' (410) or 'failing'; null while it is enabled
--   failing_since  the first failure after the last success, in milliseconds; null after a success
--
-- Postbacks: notifications that affiliates have sent to their own trackers. A postback is a row of
-- `webhook_endpoints` with an affiliate, so that outbox and messages are those of webhooks.
--
--   affiliate_id    the affiliate whose postback it is; null: a webhook of the account
--   method          GET: the URL has the values; POST: the body has them, signed
--   active_since    since when a postback has wanted its events, in milliseconds; null: since it was created
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
  affiliate_id TEXT CHECK (affiliate_id <> ''),
  method TEXT NOT NULL DEFAULT 'POST'
    CHECK (method IN ('GET', 'POST')),
  active_since INTEGER,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_endpoints_failing ON webhook_endpoints (account) WHERE failing_since IS NOT NULL;

-- Events, each with its cause: `about` names the cause, so that it has one event. Events of which an
-- account's endpoints want none are not stored. The id begins with the time. `data` holds no personal
-- data.
--
-- The affiliate whose postbacks an event is for; null: it is for the webhooks of the account.
CREATE TABLE webhook_events (
  account TEXT NOT NULL,
  id      TEXT NOT NULL,
  type    TEXT NOT NULL,
  about   TEXT NOT NULL,
  at      INTEGER NOT NULL,
  data    TEXT NOT NULL CHECK (json_type(data) = 'object'),
  affiliate_id TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_events_about ON webhook_events (account, type, about);

-- What is sent: one row for each event and endpoint.
--
--   attempts      the attempts that have begun
--   next_at       when the next attempt is due, in milliseconds
--   queued_until  until when the queue or an attempt has it, in milliseconds: then it is queued again
--   tried_at      when the last attempt began, in milliseconds; null: none has ended
--   answer        the status of its response; null without one
--   error         why it failed; null after a success
CREATE TABLE webhook_messages (
  account      TEXT NOT NULL,
  event        TEXT NOT NULL,
  endpoint     TEXT NOT NULL,
  status       TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  attempts     INTEGER NOT NULL DEFAULT 0,
  next_at      INTEGER NOT NULL,
  queued_until INTEGER NOT NULL DEFAULT 0,
  tried_at     INTEGER,
  answer       INTEGER,
  error        TEXT,
  PRIMARY KEY (account, event, endpoint)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_messages_due ON webhook_messages (account, endpoint, next_at)
  WHERE status = 'pending';

CREATE INDEX webhook_messages_endpoint ON webhook_messages (account, endpoint, event, status);

-- What the enabled endpoints want.
CREATE VIEW webhook_wants AS
SELECT account, webhook_endpoints.id AS endpoint, w.value AS type
FROM webhook_endpoints, json_each(events) w
WHERE disabled IS NULL AND affiliate_id IS NULL;

CREATE INDEX webhook_endpoints_affiliate ON webhook_endpoints (account, affiliate_id)
  WHERE affiliate_id IS NOT NULL;

-- What the enabled postbacks of affiliates want.
CREATE VIEW postback_wants AS
SELECT account, affiliate_id, webhook_endpoints.id AS endpoint, w.value AS type,
  coalesce(active_since, cast(unixepoch(created_at, 'subsec') * 1000 AS INTEGER)) AS since
FROM webhook_endpoints, json_each(events) w
WHERE disabled IS NULL AND affiliate_id IS NOT NULL;

-- An event has messages from its beginning: for the webhooks or the postbacks that want it. What takes an event
-- back is for the postbacks that the event was for. A test event is for one endpoint.
CREATE TRIGGER webhook_events_sent AFTER INSERT ON webhook_events
WHEN new.type <> 'webhook.test'
BEGIN
  INSERT INTO webhook_messages (account, event, endpoint, next_at)
  SELECT new.account, new.id, endpoint, new.at FROM webhook_wants
  WHERE new.affiliate_id IS NULL AND account = new.account AND type IN (new.type, '*')
  UNION
  SELECT new.account, new.id, endpoint, new.at FROM postback_wants w
  WHERE account = new.account AND affiliate_id = new.affiliate_id
    AND iif(new.id GLOB '*-r', EXISTS (SELECT 1 FROM webhook_messages m WHERE m.account = new.account
      AND m.event = substr(new.id, 1, length(new.id) - 2) AND m.endpoint = w.endpoint), type = new.type);
END;

-- Up to when the causes of postbacks of an account have been read, in milliseconds.
CREATE TABLE postback_progress (
  account TEXT NOT NULL PRIMARY KEY,
  read_to INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How a customer came, for the postbacks about them, with the parameters of their click: clicks are kept for
-- 30 days. Only customers of affiliates with postbacks have a row.
--
--   subs  what the event of the signup said, as a JSON object with `sub1` to `sub5`
CREATE TABLE postback_customers (
  account      TEXT NOT NULL,
  customer_id  TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  subs         TEXT NOT NULL CHECK (json_type(subs) = 'object'),
  PRIMARY KEY (account, customer_id, affiliate_id)
) STRICT, WITHOUT ROWID;

-- Notices to people: the outbox. What causes a notice writes its row in the same transaction, in the database of the
-- cause. Texts and links are made when it is sent.
--
--   account       '': the cause is one of the directory, such as an invitation to the team
--   id            begins with the time
--   kind          names the text, and what `cause` is the id of
--   recipient     `affiliate:ID`, `member:ID` or `address:ADDRESS`; `role:ROLE`: the members of the team with this role or
--                 a higher one, as they are when it is sent
--   affiliate_id  whom it is about: members of the team who see only some affiliates get it for these; null: the account. Of
--                 the directory: the member whom it is about
--   except_actor  the actor of the cause, whom a `role` does not mean
--   language      of an `address`; the others have their own
--   at            in milliseconds
--   next_at       when the next attempt is due, in milliseconds; null: none follows
--   queued_until  until when the queue or an attempt has it, in milliseconds: then it is queued again
--   attempts      the attempts that have begun
--   tried_at      when the last attempt ended, in milliseconds; null: none has
--   sent          a JSON array of the digests of the addresses that it was sent to
--   error         why the last attempt failed; null after a success
--   used_at       when the link of the notice was used by which its reader blocks bank details, in milliseconds
CREATE TABLE outbox (
  account      TEXT NOT NULL,
  id           TEXT NOT NULL CHECK (id <> ''),
  kind         TEXT NOT NULL CHECK (kind <> ''),
  cause        TEXT NOT NULL CHECK (cause <> ''),
  recipient    TEXT NOT NULL CHECK (recipient <> ''),
  affiliate_id TEXT,
  except_actor TEXT,
  language     TEXT CHECK (language IN ('en', 'de', 'es', 'fr', 'pt')),
  at           INTEGER NOT NULL,
  next_at      INTEGER,
  queued_until INTEGER NOT NULL DEFAULT 0,
  attempts     INTEGER NOT NULL DEFAULT 0,
  tried_at     INTEGER,
  sent         TEXT NOT NULL DEFAULT '[]' CHECK (json_type(sent) = 'array'),
  error        TEXT,
  used_at      INTEGER,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- A cause has one notice of a kind for each recipient.
CREATE UNIQUE INDEX outbox_cause ON outbox (account, kind, cause, recipient);

CREATE INDEX outbox_recipient ON outbox (account, recipient, id);

CREATE INDEX outbox_due ON outbox (account, next_at) WHERE next_at IS NOT NULL;

-- Webhooks of the account hear of its notices. They get no address.
CREATE TRIGGER outbox_told AFTER INSERT ON outbox
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || substr(new.id, 5), t.type, new.id, new.at, json_object('notice_id', new.id,
    'kind', new.kind, 'cause', new.cause, 'recipient', iif(t.type = 'notice.applicant', null, new.recipient),
    'affiliate_id', new.affiliate_id)
  FROM (SELECT iif(new.recipient GLOB 'affiliate:*', 'notice.affiliate',
    iif(new.recipient GLOB 'address:*', 'notice.applicant', 'notice.team')) AS type) t
  WHERE EXISTS (SELECT 1 FROM webhook_wants w WHERE w.account = new.account AND w.type IN (t.type, '*'));
END;

-- The addresses to which nothing is sent: in the database `DB` only.
--
--   account  the account whose notices they are; '': those of the team
--   address  the digest of the address in lower case
--   reason   `off`: its person has switched notices off, but for those about security. `bounced`: of any account, the
--            address does not exist, or its person has complained
CREATE TABLE mail_stops (
  account TEXT NOT NULL,
  address TEXT NOT NULL CHECK (length(address) = 64),
  reason  TEXT NOT NULL CHECK (reason IN ('off', 'bounced')),
  at      INTEGER NOT NULL,
  PRIMARY KEY (account, address, reason)
) STRICT, WITHOUT ROWID;
