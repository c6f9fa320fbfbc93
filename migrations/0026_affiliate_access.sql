-- What ends the sessions of affiliates, and what they have used and read.

-- How often the affiliate was suspended. A session of the portal names the number that it began with, and
-- has ended once there is another.
ALTER TABLE affiliates ADD COLUMN suspensions INTEGER NOT NULL DEFAULT 0 CHECK (suspensions >= 0);

UPDATE affiliates SET suspensions = 1 WHERE status = 'suspended';

-- By whatever way it is suspended: the API, a file, the console.
CREATE TRIGGER affiliates_suspended AFTER UPDATE OF status ON affiliates
WHEN new.status = 'suspended' AND old.status <> 'suspended'
BEGIN
  UPDATE affiliates SET suspensions = suspensions + 1
  WHERE account = new.account AND affiliate_id = new.affiliate_id;
END;

-- The last day (UTC, `2026-03-01`) on which the key was accepted; null: none is known.
ALTER TABLE affiliate_keys ADD COLUMN last_used_on TEXT
  CHECK (last_used_on GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]');

-- When the team answered last; null: not yet.
ALTER TABLE affiliate_questions ADD COLUMN answered_at TEXT;

UPDATE affiliate_questions SET answered_at = (
  SELECT max(at) FROM affiliate_question_messages m
  WHERE m.account = affiliate_questions.account AND m.question = affiliate_questions.id
    AND m.side = 'team');

CREATE INDEX affiliate_questions_answered ON affiliate_questions (account, affiliate_id, answered_at)
  WHERE answered_at IS NOT NULL;

CREATE TRIGGER affiliate_questions_answered_at AFTER INSERT ON affiliate_question_messages
WHEN new.side = 'team'
BEGIN
  UPDATE affiliate_questions SET answered_at = new.at
  WHERE account = new.account AND id = new.question;
END;

-- When the member last had the list of questions before them; null: not yet.
ALTER TABLE affiliate_members ADD COLUMN questions_seen_at TEXT;
