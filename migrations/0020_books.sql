-- The books of an account: approved statements, closed periods, manual entries, payments, the ledger.
-- All are in the database of the account's records.
--
-- What was approved never changes: triggers reject it in the database itself. The only exception is the
-- reset of a test account, which inserts its row into `book_resets`, deletes the books, and deletes the
-- row, in one batch.

CREATE TABLE book_resets (account TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;

-- How many different actors must approve a statement: 1 or 2.
ALTER TABLE accounts ADD COLUMN approvals INTEGER NOT NULL DEFAULT 1 CHECK (approvals IN (1, 2));

-- Statements that were approved:
--
--   previous     the digest of the statement before it, of the same affiliate and plan, on which it builds;
--                '' if there is none. A statement is only approved if that one was approved as it was then
--   approval     the id of the approval (begins with its time); null for drafts
--   approved_at  when it was approved, in milliseconds; its period uses the rates that were known then
--   payment      the reference of the payment; null until it is paid
ALTER TABLE statements ADD COLUMN previous TEXT NOT NULL DEFAULT '';
ALTER TABLE statements ADD COLUMN approval TEXT;
ALTER TABLE statements ADD COLUMN approved_at INTEGER;
ALTER TABLE statements ADD COLUMN payment TEXT;

CREATE INDEX statements_approval ON statements (account, approval) WHERE approval IS NOT NULL;

-- The first closed period of each plan.
CREATE INDEX statements_closed ON statements (account, plan, period) WHERE status <> 'draft';

-- What waits for approval or payment, in order of plan, period and affiliate.
CREATE INDEX statements_status ON statements (account, status, plan, period, affiliate_id)
  WHERE status <> 'paid';

CREATE TRIGGER statements_no_insert BEFORE INSERT ON statements
WHEN EXISTS (SELECT 1 FROM statements WHERE account = new.account AND period = new.period
  AND affiliate_id = new.affiliate_id AND plan = new.plan AND status <> 'draft')
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

CREATE TRIGGER statements_no_update BEFORE UPDATE ON statements
WHEN old.status <> 'draft' AND (
  (old.account, old.period, old.affiliate_id, old.plan, old.id, old.hash, old.digest, old.payable,
    old.closing, old.statement, old.lines, old.parts, old.state, old.read_at, old.computed_at,
    old.previous, old.approval, old.approved_at)
  IS NOT (new.account, new.period, new.affiliate_id, new.plan, new.id, new.hash, new.digest, new.payable,
    new.closing, new.statement, new.lines, new.parts, new.state, new.read_at, new.computed_at,
    new.previous, new.approval, new.approved_at)
  OR old.status <> 'approved' OR new.status <> 'paid' OR new.payment IS NULL)
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

CREATE TRIGGER statements_no_delete BEFORE DELETE ON statements
WHEN old.status <> 'draft' AND NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

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

-- The statements that have to be paid, in order of affiliate and currency.
CREATE INDEX statements_due ON statements (account, affiliate_id, statement ->> 'currency', period, plan)
  WHERE status = 'approved' AND payable GLOB '*[1-9]*';

-- Who has approved a statement with a hash so far, where two persons must.
CREATE TABLE statement_approvals (
  account TEXT NOT NULL,
  id      TEXT NOT NULL,
  hash    TEXT NOT NULL,
  actor   TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (account, id, hash, actor)
) STRICT, WITHOUT ROWID;

-- The periods of each plan that were approved as a whole: they are closed for every affiliate but those
-- in `open_affiliates`, with or without a statement.
CREATE TABLE closed_periods (
  account   TEXT NOT NULL,
  plan      TEXT NOT NULL,
  period    TEXT NOT NULL,
  closed_at INTEGER NOT NULL,
  PRIMARY KEY (account, plan, period)
) STRICT, WITHOUT ROWID;

-- The affiliates for which the approval of a period did not close it, since it refused their statement.
CREATE TABLE open_affiliates (
  account      TEXT NOT NULL,
  plan         TEXT NOT NULL,
  period       TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  PRIMARY KEY (account, plan, period, affiliate_id)
) STRICT, WITHOUT ROWID;

-- Amounts that the integrations team enters.
--
--   reference  chosen by the sender: the same entry is stored once
--   amount     in the plan's currency, with its minor digits
--   statement  the approved statement that has it; null until then
CREATE TABLE manual_entries (
  account      TEXT NOT NULL,
  id           TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  plan         TEXT NOT NULL,
  currency     TEXT NOT NULL,
  amount       TEXT NOT NULL,
  reason       TEXT NOT NULL CHECK (reason <> ''),
  reference    TEXT NOT NULL CHECK (reference <> ''),
  actor        TEXT NOT NULL,
  at           TEXT NOT NULL,
  statement    TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX manual_entries_reference ON manual_entries (account, reference);
CREATE INDEX manual_entries_affiliate ON manual_entries (account, affiliate_id, id);

-- Those that no approved statement has yet.
CREATE INDEX manual_entries_open ON manual_entries (account, affiliate_id, id) WHERE statement IS NULL;

CREATE TRIGGER manual_entries_no_insert BEFORE INSERT ON manual_entries
WHEN EXISTS (SELECT 1 FROM manual_entries
  WHERE account = new.account AND (id = new.id OR reference = new.reference))
BEGIN
  SELECT raise(ABORT, 'a manual entry never changes');
END;

CREATE TRIGGER manual_entries_no_update BEFORE UPDATE ON manual_entries
WHEN old.statement IS NOT NULL OR new.statement IS NULL
  OR (old.account, old.id, old.affiliate_id, old.plan, old.currency, old.amount, old.reason,
    old.reference, old.actor, old.at)
  IS NOT (new.account, new.id, new.affiliate_id, new.plan, new.currency, new.amount, new.reason,
    new.reference, new.actor, new.at)
BEGIN
  SELECT raise(ABORT, 'a manual entry never changes');
END;

CREATE TRIGGER manual_entries_no_delete BEFORE DELETE ON manual_entries
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'a manual entry never changes');
END;

-- What was paid: one row for each reference of a payment. `statements` lists the ids that it paid.
CREATE TABLE payments (
  account      TEXT NOT NULL,
  reference    TEXT NOT NULL CHECK (reference <> ''),
  affiliate_id TEXT NOT NULL,
  currency     TEXT NOT NULL,
  amount       TEXT NOT NULL,
  paid_on      TEXT NOT NULL CHECK (paid_on GLOB '????-??-??'),
  statements   TEXT NOT NULL CHECK (json_type(statements) = 'array'),
  actor        TEXT NOT NULL,
  at           TEXT NOT NULL,
  PRIMARY KEY (account, reference)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER payments_no_insert BEFORE INSERT ON payments
WHEN EXISTS (SELECT 1 FROM payments WHERE account = new.account AND reference = new.reference)
BEGIN
  SELECT raise(ABORT, 'a payment never changes');
END;

CREATE TRIGGER payments_no_update BEFORE UPDATE ON payments
BEGIN
  SELECT raise(ABORT, 'a payment never changes');
END;

CREATE TRIGGER payments_no_delete BEFORE DELETE ON payments
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'a payment never changes');
END;

-- The ledger: append-only. The balance of an affiliate in a currency is the sum of its entries.
--
--   id         {approval or time}-{position}: entries stand in order of time
--   amount     a decimal with the minor digits of the currency; `paid` is negative
--   reference  of `paid`: that of the payment; of `transferred`: the other plan
CREATE TABLE ledger (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  kind         TEXT NOT NULL
    CHECK (kind IN ('earned', 'adjusted', 'manual', 'dropped', 'transferred', 'paid')),
  plan         TEXT NOT NULL,
  period       TEXT NOT NULL,
  statement    TEXT NOT NULL,
  currency     TEXT NOT NULL,
  amount       TEXT NOT NULL CHECK (amount GLOB '[0-9]*' OR amount GLOB '-[0-9]*'),
  reference    TEXT,
  actor        TEXT NOT NULL,
  at           TEXT NOT NULL,
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ledger_no_insert BEFORE INSERT ON ledger
WHEN EXISTS (SELECT 1 FROM ledger
  WHERE account = new.account AND affiliate_id = new.affiliate_id AND id = new.id)
BEGIN
  SELECT raise(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN
  SELECT raise(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'the ledger is append-only');
END;

-- The rates that were corrected, for closed periods: they use what was known when they were approved.
CREATE INDEX fx_rates_corrected ON fx_rates (known_until) WHERE known_until IS NOT NULL;
