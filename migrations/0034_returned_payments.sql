-- Payments that the bank returned: their statements are approved again, and due.

-- One row for each payment that came back.
--
--   payment      the reference of the payment, as `payments` has it
--   reference    that of the return: chosen by the sender, or that of the payment
CREATE TABLE payment_returns (
  account     TEXT NOT NULL,
  payment     TEXT NOT NULL,
  reference   TEXT NOT NULL CHECK (reference <> ''),
  returned_on TEXT NOT NULL CHECK (returned_on GLOB '????-??-??'),
  reason      TEXT NOT NULL CHECK (reason <> ''),
  actor       TEXT NOT NULL,
  at          TEXT NOT NULL,
  PRIMARY KEY (account, payment)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER payment_returns_no_insert BEFORE INSERT ON payment_returns
WHEN EXISTS (SELECT 1 FROM payment_returns WHERE account = new.account AND payment = new.payment)
BEGIN
  SELECT raise(ABORT, 'the return of a payment never changes');
END;

CREATE TRIGGER payment_returns_no_update BEFORE UPDATE ON payment_returns
BEGIN
  SELECT raise(ABORT, 'the return of a payment never changes');
END;

CREATE TRIGGER payment_returns_no_delete BEFORE DELETE ON payment_returns
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'the return of a payment never changes');
END;

-- References are looked up without white space around them and without the case of letters A to Z.
CREATE INDEX payments_folded ON payments (account, lower(trim(reference)));
CREATE INDEX payment_returns_folded ON payment_returns (account, lower(trim(reference)));
CREATE INDEX manual_entries_folded ON manual_entries (account, lower(trim(reference)));

-- The payment of the statement that came back last; null if none did.
ALTER TABLE statements ADD COLUMN returned TEXT;

-- A statement is paid once, and again after each return.
DROP TRIGGER statements_no_update;

CREATE TRIGGER statements_no_update BEFORE UPDATE ON statements
WHEN old.status <> 'draft' AND (
  (old.account, old.period, old.affiliate_id, old.plan, old.id, old.hash, old.digest, old.payable,
    old.closing, old.statement, old.lines, old.parts, old.state, old.read_at, old.computed_at,
    old.previous, old.approval, old.approved_at)
  IS NOT (new.account, new.period, new.affiliate_id, new.plan, new.id, new.hash, new.digest, new.payable,
    new.closing, new.statement, new.lines, new.parts, new.state, new.read_at, new.computed_at,
    new.previous, new.approval, new.approved_at)
  OR NOT iif(old.status = 'approved',
    new.status = 'paid' AND new.payment IS NOT NULL AND new.returned IS old.returned,
    new.status = 'approved' AND new.payment IS NULL AND new.returned IS old.payment
      AND EXISTS (SELECT 1 FROM payment_returns
        WHERE account = old.account AND payment = old.payment)))
BEGIN
  SELECT raise(ABORT, 'an approved statement never changes');
END;

-- The ledger with entries `returned`, which are positive and have the reference of the return.
ALTER TABLE ledger RENAME TO ledger_before;

CREATE TABLE ledger (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  kind         TEXT NOT NULL
    CHECK (kind IN ('earned', 'adjusted', 'manual', 'dropped', 'transferred', 'paid', 'returned')),
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

INSERT INTO ledger SELECT * FROM ledger_before;
DROP TABLE ledger_before;

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

-- Each payment of a statement is an event, and each return.
DROP TRIGGER webhook_statement_paid;

CREATE TRIGGER webhook_statement_paid AFTER UPDATE OF status ON statements
WHEN iif(old.status = 'approved' AND new.status = 'paid',
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('statement.paid', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'statement.paid', new.id || ' ' || new.payment, now, json_object(
      'statement_id', new.id, 'affiliate_id', new.affiliate_id, 'plan', new.plan,
      'period', new.period, 'currency', new.statement ->> 'currency',
      'amount', new.payable, 'reference', new.payment, 'paid_on', (SELECT paid_on FROM payments
        WHERE account = new.account AND reference = new.payment))
  FROM (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE true ON CONFLICT (account, type, about) DO NOTHING;
END;

CREATE TRIGGER webhook_statement_returned AFTER UPDATE OF status ON statements
WHEN iif(old.status = 'paid' AND new.status = 'approved',
  EXISTS (SELECT 1 FROM webhook_wants
    WHERE account = new.account AND type IN ('statement.returned', '*')), 0)
BEGIN
  INSERT INTO webhook_events (account, id, type, about, at, data)
  SELECT new.account, 'evt_' || printf('%011x', now) || lower(hex(randomblob(8))),
    'statement.returned', new.id || ' ' || new.returned, now, json_object(
      'statement_id', new.id, 'affiliate_id', new.affiliate_id, 'plan', new.plan,
      'period', new.period, 'currency', new.statement ->> 'currency',
      'amount', new.payable, 'payment', new.returned, 'reference', r.reference,
      'returned_on', r.returned_on)
  FROM payment_returns r, (SELECT cast(unixepoch('subsec') * 1000 AS INTEGER) AS now)
  WHERE r.account = new.account AND r.payment = new.returned
  ON CONFLICT (account, type, about) DO NOTHING;
END;
