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

-- Payments that the bank returned: their statements are approved again, and due.
--
-- One row for each payment that came back: `payment` is its reference, as `payments` has it.
CREATE TABLE payment_returns (
  account     TEXT NOT NULL,
  payment     TEXT NOT NULL,
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
WHEN (old.account, old.payment, old.returned_on, 'Erased', old.actor, old.at)
  IS NOT (new.account, new.payment, new.returned_on, new.reason, new.actor, new.at)
BEGIN
  SELECT raise(ABORT, 'the return of a payment never changes; an erasure takes its reason');
END;

CREATE TRIGGER payment_returns_no_delete BEFORE DELETE ON payment_returns
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'the return of a payment never changes');
END;

-- The ledger: append-only. The balance of an affiliate in a currency is the sum of its entries.
--
--   id         {approval or time}-{position}: entries stand in order of time
--   amount     a decimal with the minor digits of the currency; `paid` is negative
--   reference  of `paid` and `returned`: that of the payment; of `transferred`: the other plan; of
--              `vat`: the number of the invoice
--   entered_on the day of `at` in the time zone of the account as it was then
--   value_on   the day to which it belongs: of earnings and adjustments the last one of the period, of payments and
--              returns that of the booking; of others that of the entry
CREATE TABLE ledger (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  kind         TEXT NOT NULL
    CHECK (kind IN ('earned', 'adjusted', 'manual', 'dropped', 'transferred', 'vat', 'paid', 'returned')),
  plan         TEXT NOT NULL,
  period       TEXT NOT NULL,
  statement    TEXT NOT NULL,
  currency     TEXT NOT NULL,
  amount       TEXT NOT NULL CHECK (amount GLOB '[0-9]*' OR amount GLOB '-[0-9]*'),
  reference    TEXT,
  actor        TEXT NOT NULL,
  at           TEXT NOT NULL,
  entered_on   TEXT NOT NULL CHECK (entered_on GLOB '????-??-??'),
  value_on     TEXT NOT NULL CHECK (value_on GLOB '????-??-??'),
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

-- Entries are listed by either of their days.
CREATE INDEX ledger_by_entry ON ledger (account, entered_on, id);

CREATE INDEX ledger_by_value ON ledger (account, value_on, id);

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

-- To whom and from where money goes: the bank details of affiliates and of the account itself. Each change is a
-- version, which never changes but in its state.
--
--   party         `payee`: `id` is the affiliate; `payer`: one of the account's own bank accounts
--   state         `missing`: erased; what payments used is kept for some years, and nobody reads it
--   details       encrypted JSON; null once nothing is kept
--   key_id        names the key that encrypted it
--   digest        a keyed digest of the account number, by which two parties with one account are found
--   method        of a payee how it is paid
--   entered_at    in milliseconds, as `payable_from`
--   approvals     a JSON array of the actors who approved it
--   approved_at   in milliseconds: when the last person approved it
--   payable_from  from when money goes there; null until it is approved
--   reason        why it is returned or blocked
--   same_account  why another affiliate may have the same account, as an approver says; null: nobody did
--   tax           how VAT applies, as JSON: proposed until the version is approved
CREATE TABLE payees (
  account      TEXT NOT NULL,
  party        TEXT NOT NULL CHECK (party IN ('payee', 'payer')),
  id           TEXT NOT NULL,
  version      INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('missing', 'entered', 'approved', 'returned', 'blocked')),
  method       TEXT NOT NULL CHECK (method IN ('sepa', 'bank', 'wise', 'paypal', 'wallet', 'manual')),
  details      TEXT,
  key_id       TEXT NOT NULL,
  digest       TEXT,
  entered_by   TEXT NOT NULL,
  entered_at   INTEGER NOT NULL,
  approvals    TEXT NOT NULL DEFAULT '[]' CHECK (json_type(approvals) = 'array'),
  approved_at  INTEGER,
  payable_from INTEGER,
  reason       TEXT,
  same_account TEXT,
  tax          TEXT NOT NULL DEFAULT '{}' CHECK (json_type(tax) = 'object'),
  PRIMARY KEY (account, party, id, version)
) STRICT, WITHOUT ROWID;

-- The current versions, among which those are looked for that have the same account.
CREATE VIEW current_payees AS
SELECT account, party, id, version, state, digest FROM payees p
WHERE version = (SELECT max(version) FROM payees WHERE account = p.account AND party = p.party AND id = p.id);

CREATE INDEX payees_digest ON payees (account, digest) WHERE digest IS NOT NULL;

-- What is paid together, in one currency. A prepared batch, which nobody has confirmed, asks only what would be paid:
-- `hash` and `total` are those of what was prepared, then of what was confirmed.
--
--   payer        empty: what is paid by hand needs none
--   rows         a JSON array: each row of the list of what is payable that was chosen, with the doubts that a person
--                has waived, and why it is paid otherwise than its bank details say
--   authors      a JSON array of who prepared it, then of who added something
--   ends_at      in milliseconds: until when it can be confirmed
--   confirmed_at in milliseconds: nothing of it moved before
--   files        from the export on, a JSON array: of each file how many rows it has, and a digest of it by a key
--   reason       why it was cancelled
CREATE TABLE payout_batches (
  account       TEXT NOT NULL,
  id            TEXT NOT NULL,
  payer         TEXT NOT NULL,
  payer_version INTEGER NOT NULL,
  method        TEXT NOT NULL CHECK (method IN ('sepa', 'bank', 'wise', 'paypal', 'wallet', 'manual')),
  currency      TEXT NOT NULL,
  execute_on    TEXT NOT NULL CHECK (execute_on GLOB '????-??-??'),
  rows          TEXT NOT NULL CHECK (json_type(rows) = 'array'),
  hash          TEXT NOT NULL,
  total         TEXT NOT NULL,
  authors       TEXT NOT NULL CHECK (json_type(authors) = 'array'),
  created_at    INTEGER NOT NULL,
  ends_at       INTEGER NOT NULL,
  confirmed_by  TEXT,
  confirmed_at  INTEGER,
  files         TEXT CHECK (json_type(files) = 'array'),
  reason        TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX payout_batches_latest ON payout_batches (account, created_at, id);

CREATE INDEX payout_batches_prepared ON payout_batches (account, ends_at) WHERE confirmed_by IS NULL;

-- One payment to one payee in one currency. Its id is the reference that the bank carries; so is that of its payment.
--
--   payee_version 0: nobody has entered bank details, and it is paid by hand
--   statements    a JSON array of the ids that it pays
--   doubts        a JSON array of the doubts that there were, and who waived them
--   note          why it is paid otherwise than the bank details say
--   code, reason  why it was rejected or returned, as the bank says it
--   name_check    what the bank says about the name of the account's owner
CREATE TABLE transfers (
  account       TEXT NOT NULL,
  id            TEXT NOT NULL,
  batch         TEXT NOT NULL,
  affiliate_id  TEXT NOT NULL,
  payee_version INTEGER NOT NULL,
  currency      TEXT NOT NULL,
  amount        TEXT NOT NULL,
  statements    TEXT NOT NULL CHECK (json_type(statements) = 'array'),
  doubts        TEXT NOT NULL DEFAULT '[]' CHECK (json_type(doubts) = 'array'),
  note          TEXT,
  state         TEXT NOT NULL
    CHECK (state IN ('created', 'exported', 'accepted', 'paid', 'returned', 'rejected', 'cancelled')),
  code          TEXT,
  reason        TEXT,
  name_check    TEXT,
  changed_at    INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX transfers_batch ON transfers (account, batch, id);

CREATE INDEX transfers_failed ON transfers (account, affiliate_id, id) WHERE state IN ('rejected', 'returned');

CREATE INDEX transfers_affiliate ON transfers (account, affiliate_id, id);

CREATE TRIGGER transfers_no_update BEFORE UPDATE ON transfers
WHEN (old.account, old.id, old.batch, old.affiliate_id, old.payee_version, old.currency, old.amount, old.statements,
    old.doubts, old.note)
  IS NOT (new.account, new.id, new.batch, new.affiliate_id, new.payee_version, new.currency, new.amount,
    new.statements, new.doubts, new.note)
  OR old.state IN ('returned', 'rejected', 'cancelled')
    AND NOT (old.state <> 'returned' AND new.state = 'paid')
    AND (old.state, old.code, NULL, NULL) IS NOT (new.state, new.code, new.reason, new.name_check)
BEGIN
  SELECT raise(ABORT, 'a transfer changes only in its state; an erasure takes the words of the bank');
END;

CREATE TRIGGER transfers_no_delete BEFORE DELETE ON transfers
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'a transfer is never deleted');
END;

-- What banks say that has moved of a transfer, or of a batch by one sum: what is booked, and what a person has to look at.
--
--   reference       of the transfer or of the batch
--   bank_reference  how the bank calls the movement; empty: it does not say
--   n               which of the movements of a day it is that have no reference of the bank
--   amount          null: it cannot be read
--   doubt           why it is not booked; null: it is
--   dismissed       a person has looked at it
--   code, reason    what the bank says of it, while it is doubtful
--   difference      of what a person has booked: `fee`, the bank kept what is missing, or took more; `owed`, the rest
--                   stays due; null: there is none
--   note            why, as the person says
CREATE TABLE bank_movements (
  account        TEXT NOT NULL,
  reference      TEXT NOT NULL,
  direction      TEXT NOT NULL CHECK (direction IN ('paid', 'returned')),
  day            TEXT NOT NULL,
  bank_reference TEXT NOT NULL,
  n              INTEGER NOT NULL,
  -- What moved, if it is not the amount of the transfer.
  other          TEXT NOT NULL,
  amount         TEXT,
  currency       TEXT,
  doubt          TEXT CHECK (doubt IN ('paid_twice', 'paid_after_cancel', 'not_booked')),
  dismissed      INTEGER NOT NULL DEFAULT 0 CHECK (dismissed IN (0, 1)),
  code           TEXT,
  reason         TEXT,
  difference     TEXT CHECK (difference IN ('fee', 'owed')),
  note           TEXT,
  PRIMARY KEY (account, reference, direction, day, other, bank_reference, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX bank_movements_open ON bank_movements (account, reference)
WHERE doubt IS NOT NULL AND dismissed = 0;

-- What a bank calls a movement, no other transfer may have that a person books.
CREATE INDEX bank_movements_bank ON bank_movements (account, bank_reference)
WHERE doubt IS NULL AND bank_reference <> '';

-- The files with which banks answered: what of them is about transfers, and whether it is booked.
--
--   hash        the SHA-256 of file, payer and entries
--   file        the SHA-256 of the file alone
--   entries     a JSON array of what would be, or was, booked
--   summary     what the preview shows, as JSON
--   applied_at  in milliseconds; null: only previewed; 0: a part is booked
--   applied_by  who booked it
CREATE TABLE payout_answers (
  account    TEXT NOT NULL,
  hash       TEXT NOT NULL,
  file       TEXT NOT NULL,
  entries    TEXT NOT NULL CHECK (json_type(entries) = 'array'),
  summary    TEXT NOT NULL CHECK (json_type(summary) = 'object'),
  created_at INTEGER NOT NULL,
  applied_at INTEGER,
  applied_by TEXT,
  PRIMARY KEY (account, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX payout_answers_applied ON payout_answers (account, applied_at, hash) WHERE applied_at > 0;

CREATE INDEX payout_answers_file ON payout_answers (account, file, applied_at) WHERE applied_at > 0;

-- What the files of the bank of a payer call their columns, as a person has chosen, as a JSON object. `payer` is empty
-- where the file tells which one it is.
CREATE TABLE answer_columns (
  account TEXT NOT NULL,
  payer   TEXT NOT NULL,
  columns TEXT NOT NULL CHECK (json_type(columns) = 'object'),
  PRIMARY KEY (account, payer)
) STRICT, WITHOUT ROWID;

-- That an affiliate lets the firm write their invoices: a text of the firm, accepted by a member.
--
--   payee_number  counts the affiliates that have accepted one
--   until         when it ended; null: it stands
CREATE TABLE agreements (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  payee_number INTEGER NOT NULL,
  version      TEXT NOT NULL,
  text         TEXT NOT NULL,
  accepted_by  TEXT NOT NULL,
  accepted_at  TEXT NOT NULL,
  until        TEXT,
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX agreements_standing ON agreements (account, affiliate_id) WHERE until IS NULL;

-- The invoices that the firm writes for its affiliates, and the corrections that take them back: they never change.
-- Their parties are versions of bank details.
--
--   id         {approval or time}-v{position}, also that of the entry of the ledger: they stand in order of time
--   sequence   counts those of an affiliate in a series and year, without gaps
--   corrects   the invoice that it takes back; null: it is no correction
--   content    what the document says beside its parties, as JSON
--   net, vat   negative in a correction, as `total`
CREATE TABLE invoices (
  account       TEXT NOT NULL,
  id            TEXT NOT NULL,
  number        TEXT NOT NULL,
  affiliate_id  TEXT NOT NULL,
  payee_number  INTEGER NOT NULL,
  series        TEXT NOT NULL,
  year          TEXT NOT NULL,
  sequence      INTEGER NOT NULL,
  statement     TEXT NOT NULL,
  corrects      TEXT,
  issued_on     TEXT NOT NULL CHECK (issued_on GLOB '????-??-??'),
  payee_version INTEGER NOT NULL,
  payer         TEXT NOT NULL,
  payer_version INTEGER NOT NULL,
  currency      TEXT NOT NULL,
  net           TEXT NOT NULL,
  vat           TEXT NOT NULL,
  total         TEXT NOT NULL,
  content       TEXT NOT NULL CHECK (json_type(content) = 'object'),
  actor         TEXT NOT NULL,
  at            TEXT NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX invoices_number ON invoices (account, number);

CREATE UNIQUE INDEX invoices_sequence ON invoices (account, affiliate_id, series, year, sequence);

CREATE INDEX invoices_payer ON invoices (account, payer, payer_version);

-- An invoice is taken back once.
CREATE UNIQUE INDEX invoices_corrects ON invoices (account, corrects) WHERE corrects IS NOT NULL;

CREATE TRIGGER invoices_no_update BEFORE UPDATE ON invoices
BEGIN
  SELECT raise(ABORT, 'an invoice never changes');
END;

CREATE TRIGGER invoices_no_delete BEFORE DELETE ON invoices
WHEN NOT EXISTS (SELECT 1 FROM book_resets WHERE account = old.account)
BEGIN
  SELECT raise(ABORT, 'an invoice is never deleted');
END;
