-- Events of cases: one when a case opens, and one when it is decided.
--
-- A case that was opened, lost its records and is found again has had its event. One that had expired and has
-- new records opens again, which is another event.
CREATE VIEW fraud_case_events AS
SELECT account, id, last_day, json_object(
    'case_id', id, 'affiliate_id', affiliate_id,
    'subject', CASE substr(subject, 1, instr(subject, ':'))
      WHEN 'affiliate:' THEN json_object('affiliate_id', substr(subject, 11))
      WHEN 'customer:' THEN json_object('customer_id', substr(subject, 10))
      ELSE json_object('customer_ids', json(substr(subject, 11))) END,
    'rule', rule, 'version', version, 'kind', kind, 'severity', severity, 'action', action,
    'opened_for', date(opened_for * 86400, 'unixepoch'), 'sentence', sentence) AS data,
  iif(keep_hold, 'true', 'false') AS keeps
FROM fraud_cases;

CREATE TRIGGER webhook_case_opened AFTER INSERT ON fraud_cases
WHEN iif(new.status = 'open', EXISTS (SELECT 1 FROM webhook_wants
  WHERE account = new.account AND type IN ('case.opened', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'case.opened', new.id, now, c.data
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  CROSS JOIN fraud_case_events c ON c.account = new.account AND c.id = new.id
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_case_opened_again AFTER UPDATE OF status ON fraud_cases
WHEN iif(old.status = 'expired' AND new.status = 'open', EXISTS (SELECT 1 FROM webhook_wants
  WHERE account = new.account AND type IN ('case.opened', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'case.opened', new.id || ' ' || new.last_day, now, c.data
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  CROSS JOIN fraud_case_events c ON c.account = new.account AND c.id = new.id
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_case_decided AFTER UPDATE OF status ON fraud_cases
WHEN iif(old.status = 'open' AND new.status IN ('confirmed', 'dismissed'),
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('case.decided', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'case.decided', new.id, now,
    json_set(c.data, '$.decision', new.status, '$.keep_hold', json(c.keeps))
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  CROSS JOIN fraud_case_events c ON c.account = new.account AND c.id = new.id
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;
