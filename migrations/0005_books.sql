-- The books of an account: approved statements, closed periods, manual entries, payments, the ledger.
-- All are in the database of the account's records.
--
-- What was approved never changes: triggers reject it in the database itself. The only exception is the
-- reset of a test account, which inserts its row into `book_resets`, deletes the books, and deletes the
-- row, in one batch.
CREATE TABLE book_resets (
  account TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

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
  folded_reference TEXT NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX manual_entries_folded ON manual_entries (account, folded_reference);

CREATE INDEX manual_entries_affiliate ON manual_entries (account, affiliate_id, id);

-- Those that no approved statement has yet.
CREATE INDEX manual_entries_open ON manual_entries (account, affiliate_id, id) WHERE statement IS NULL;

CREATE TRIGGER manual_entries_no_insert BEFORE INSERT ON manual_entries
WHEN EXISTS (SELECT 1 FROM manual_entries
  WHERE account = new.account AND (id = new.id OR folded_reference = new.folded_reference))
BEGIN
  SELECT raise(ABORT, 'a manual entry never changes');
END;

CREATE TRIGGER manual_entries_no_update BEFORE UPDATE ON manual_entries
WHEN old.statement IS NOT NULL OR new.statement IS NULL
  OR (old.account, old.id, old.affiliate_id, old.plan, old.currency, old.amount, old.reason,
    old.reference, old.actor, old.at, old.folded_reference)
  IS NOT (new.account, new.id, new.affiliate_id, new.plan, new.currency, new.amount, new.reason,
    new.reference, new.actor, new.at, new.folded_reference)
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
  folded_reference TEXT NOT NULL,
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

-- `folded_reference` is the reference without white space around it and without letter case.
CREATE UNIQUE INDEX payments_folded ON payments (account, folded_reference);

-- Payments that the bank returned: their statements are approved again, and due.
--
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
  folded_reference TEXT NOT NULL,
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

CREATE UNIQUE INDEX payment_returns_folded ON payment_returns (account, folded_reference);

-- The ledger: append-only. The balance of an affiliate in a currency is the sum of its entries.
--
--   id         {approval or time}-{position}: entries stand in order of time
--   amount     a decimal with the minor digits of the currency; `paid` is negative
--   reference  of `paid` and `returned`: that of the payment or the return; of `transferred`: the other plan
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

-- Payments are listed by their days, the latest first: all of an account, or those of an affiliate.
CREATE INDEX payments_by_day ON payments (account, paid_on, reference);

CREATE INDEX payments_by_affiliate ON payments (account, affiliate_id, paid_on, reference);
