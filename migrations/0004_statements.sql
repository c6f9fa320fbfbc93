-- Statements of commissions, and the runs that compute them, in the database of the account's records.
--
-- One row for each affiliate, plan and period that has a statement, or something to carry. A row is long, so the table
-- has a rowid: to find a key without one, SQLite would read whole rows. What is long stands last.
--
--   id         derived from affiliate, plan and period
--   hash       the SHA-256 of the statement's canonical JSON; '' without a statement
--   digest     the SHA-256 of statement, lines, steps and state: a draft with the same one is not written
--   statement  the statement as JSON, without its lines; null if there is only something to carry
--   lines      a JSON array of the first lines; `statement_lines` has the others
--   steps      a JSON object of how these lines came about, by id
--   state      what the next period starts from, as JSON
--   read_at    when its computation began to read, in milliseconds: an older one never replaces it
--
-- Statements that were approved:
--
--   previous     the digest of the statement before it, of the same affiliate and plan, on which it builds;
--                '' if there is none. A statement is only approved if that one was approved as it was then
--   approval     the id of the approval (begins with its time); null for drafts
--   approved_at  when it was approved, in milliseconds; its period uses the rates that were known then
--   payable      what is to be paid, with the VAT of its invoice; once it is paid in part, what is left of it
--   payment      the reference of the payment; null until it is paid
--   returned     the payment that came back last; null if none did
--   transfer     the last transfer of a batch that has it; null if none did. While that one is under way, no
--                other may have it
--   awaits_invoice  whether nothing of it is paid before its invoice is written
CREATE TABLE statements (
  account      TEXT NOT NULL,
  period       TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  plan         TEXT NOT NULL,
  id           TEXT NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('draft', 'approved', 'paid')),
  hash         TEXT NOT NULL CHECK (length(hash) IN (0, 64)),
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  payable      TEXT NOT NULL,
  closing      TEXT NOT NULL,
  statement    TEXT CHECK (json_type(statement) = 'object'),
  parts        INTEGER NOT NULL CHECK (parts >= 1),
  read_at      INTEGER NOT NULL,
  computed_at  TEXT NOT NULL,
  previous     TEXT NOT NULL DEFAULT '',
  approval     TEXT,
  approved_at  INTEGER,
  payment      TEXT,
  returned     TEXT,
  transfer     TEXT,
  awaits_invoice INTEGER NOT NULL DEFAULT 0 CHECK (awaits_invoice IN (0, 1)),
  state        TEXT NOT NULL CHECK (json_type(state) = 'object'),
  lines        TEXT NOT NULL CHECK (json_type(lines) = 'array'),
  steps        TEXT NOT NULL DEFAULT '{}' CHECK (json_type(steps) = 'object'),
  PRIMARY KEY (account, period, affiliate_id, plan)
) STRICT;

CREATE UNIQUE INDEX statements_id ON statements (account, id);

CREATE INDEX statements_affiliate ON statements (account, affiliate_id, period, plan);

CREATE INDEX statements_approval ON statements (account, approval) WHERE approval IS NOT NULL;

-- The first closed period of each plan.
CREATE INDEX statements_closed ON statements (account, plan, period) WHERE status <> 'draft';

-- What waits for approval or payment, in order of plan, period and affiliate.
CREATE INDEX statements_status ON statements (account, status, plan, period, affiliate_id)
  WHERE status <> 'paid';

-- What waits for its invoice.
CREATE INDEX statements_pending ON statements (account, affiliate_id) WHERE awaits_invoice = 1;

CREATE TRIGGER statements_no_insert BEFORE INSERT ON statements
WHEN EXISTS (SELECT 1 FROM statements WHERE account = new.account AND period = new.period
  AND affiliate_id = new.affiliate_id AND plan = new.plan AND status <> 'draft')
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

CREATE TRIGGER statements_no_delete BEFORE DELETE ON statements
WHEN old.status <> 'draft' AND NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

-- The statements that have to be paid, in order of affiliate and currency.
CREATE INDEX statements_due ON statements (account, affiliate_id, statement ->> 'currency', period, plan)
  WHERE status = 'approved' AND payable GLOB '*[1-9]*';

-- A statement is paid once, in whole or in parts, and again after each return. While it is approved, a transfer can take it.
CREATE TRIGGER statements_no_update BEFORE UPDATE ON statements
WHEN old.status <> 'draft' AND (
  (old.account, old.period, old.affiliate_id, old.plan, old.id, old.hash, old.digest,
    old.closing, old.statement, old.lines, old.parts, old.state, old.read_at, old.computed_at,
    old.previous, old.approval, old.approved_at, old.steps)
  IS NOT (new.account, new.period, new.affiliate_id, new.plan, new.id, new.hash, new.digest,
    new.closing, new.statement, new.lines, new.parts, new.state, new.read_at, new.computed_at,
    new.previous, new.approval, new.approved_at, new.steps)
  OR NOT iif(new.status = 'paid',
    old.status = 'approved' AND new.payment IS NOT NULL AND new.returned IS old.returned
      AND new.transfer IS old.transfer AND new.payable = old.payable,
    new.status = 'approved' AND new.payment IS NULL AND (
      old.status = 'approved' AND new.returned IS old.returned
        AND (new.payable = old.payable OR EXISTS (SELECT 1 FROM ledger
          WHERE account = old.account AND affiliate_id = old.affiliate_id AND kind IN ('paid', 'vat') AND statement = old.id))
      OR new.transfer IS old.transfer AND new.returned IS NOT old.returned AND EXISTS (SELECT 1 FROM payment_returns
        WHERE account = old.account AND payment = new.returned))))
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

-- The lines of long statements from the second part on, and their steps, which may need more rows: a row has at most
-- 2 MB. The steps of a row are not always those of its lines.
CREATE TABLE statement_lines (
  account TEXT NOT NULL,
  id      TEXT NOT NULL,
  part    INTEGER NOT NULL CHECK (part >= 2),
  lines   TEXT NOT NULL CHECK (json_type(lines) = 'array'),
  steps   TEXT NOT NULL DEFAULT '{}' CHECK (json_type(steps) = 'object'),
  PRIMARY KEY (account, id, part)
) STRICT;

CREATE TRIGGER statement_lines_no_insert BEFORE INSERT ON statement_lines
WHEN EXISTS (SELECT 1 FROM statements
  WHERE account = new.account AND id = new.id AND status <> 'draft')
BEGIN
  SELECT raise(ABORT, 'the lines of an approved statement never change');
END;

CREATE TRIGGER statement_lines_no_update BEFORE UPDATE ON statement_lines
WHEN EXISTS (SELECT 1 FROM statements
  WHERE account = old.account AND id = old.id AND status <> 'draft')
BEGIN
  SELECT raise(ABORT, 'the lines of an approved statement never change');
END;

CREATE TRIGGER statement_lines_no_delete BEFORE DELETE ON statement_lines
WHEN EXISTS (SELECT 1 FROM statements
    WHERE account = old.account AND id = old.id AND status <> 'draft')
  AND NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'the lines of an approved statement never change');
END;

-- Runs over the affiliates of an account: `steps` and `affiliates` are null until they are planned.
--
-- Runs show that they are working, so that one that has stopped is continued. Failed runs say why.
--
--   active_at   when it was started, or an attempt of one of its steps last began
--   steps_done  the number of steps that are done
--   reason      why it failed, in words; null unless it has
--   position    from where it read marks of changed days; null until it has begun
CREATE TABLE statement_runs (
  account    TEXT NOT NULL,
  id         TEXT NOT NULL,
  period     TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed')),
  affiliates INTEGER,
  steps      INTEGER,
  started_at TEXT NOT NULL,
  ended_at   TEXT,
  active_at  TEXT NOT NULL DEFAULT '',
  steps_done INTEGER NOT NULL DEFAULT 0,
  reason     TEXT,
  position   INTEGER,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- The runs that may have stopped. Without `active_at`, so that activity writes one row.
CREATE INDEX statement_runs_running ON statement_runs (account, id) WHERE status = 'running';

-- The affiliates of each step of a run that goes on, as a JSON array.
CREATE TABLE statement_run_steps (
  account    TEXT NOT NULL,
  run        TEXT NOT NULL,
  step       INTEGER NOT NULL CHECK (step >= 1),
  affiliates TEXT NOT NULL CHECK (json_type(affiliates) = 'array'),
  is_done    INTEGER NOT NULL DEFAULT 0 CHECK (is_done IN (0, 1)),
  PRIMARY KEY (account, run, step)
) STRICT, WITHOUT ROWID;

-- What closed periods leave to the next one, as runs computed it: one row for each affiliate, plan and closed
-- period. The next computation begins behind the latest row that holds.
--
--   position  from where its run reads marks of changed days: the row holds unless a day up to the end of the period has
--             a later mark
--   form      the digest of the settings and plans by which it was computed; empty if the lines differ from what was approved
--             and corrected so far
--   state     what the next period starts from, as JSON
CREATE TABLE closed_states (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  plan         TEXT NOT NULL,
  period       TEXT NOT NULL,
  position     INTEGER NOT NULL,
  form         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (json_type(state) = 'object'),
  PRIMARY KEY (account, affiliate_id, plan, period)
) STRICT, WITHOUT ROWID;

-- The facts of a customer by which `once` rules still come to what they do, up to the end of a closed period: a
-- computation reads only later records. Runs write them.
--
--   position  from where its run reads marks of changed days
--   form      the digest of the settings and plans by which it was computed, and the plans of the customer with `once` rules
--   facts     a JSON array
CREATE TABLE once_facts (
  account     TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  last_day    INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  form        TEXT NOT NULL,
  facts       TEXT NOT NULL CHECK (json_type(facts) = 'array'),
  PRIMARY KEY (account, customer_id)
) STRICT, WITHOUT ROWID;
