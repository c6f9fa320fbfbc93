-- Questions of affiliates to the firm: each is about one of their statements, lines or customers.

-- A question is open while it waits for the team: an answer closes it, unless it says otherwise, and more words
-- of the affiliate open it again. The id begins with the time.
--
--   subject      the id of the statement, line or customer
--   statement    the id of the statement, also that of a line; null for a customer
--   period       the period of the statement
--   customer_id  the customer, also the one that a line is for; an erasure clears what is written about them
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

-- Each message of an affiliate is an event. It names the question: the text is read where it is answered.
CREATE TRIGGER webhook_question_asked AFTER INSERT ON affiliate_question_messages
WHEN iif(new.side = 'affiliate', EXISTS (SELECT 1 FROM webhook_wants
  WHERE account = new.account AND type IN ('question.asked', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'question.asked', new.question || ' ' || new.position, now,
    json_object('question_id', new.question, 'affiliate_id', q.affiliate_id, 'about', q.about,
      'message', new.position)
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  CROSS JOIN affiliate_questions q ON q.account = new.account AND q.id = new.question
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;
