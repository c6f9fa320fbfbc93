-- Rules of the fraud review, in the database of the account's records.
--
-- `terms` is the version as canonical JSON, with all defaults filled in: a default that changes later leaves
-- it as it is. A version never changes; the next one applies in its place from its own first day on. On the days
-- before its first version a rule finds nothing.
CREATE TABLE fraud_rule_versions (
  account        TEXT NOT NULL,
  rule           TEXT NOT NULL CHECK (rule <> ''),
  version        INTEGER NOT NULL CHECK (version >= 1),
  effective_from TEXT NOT NULL CHECK (effective_from GLOB '????-??-??'),
  terms          TEXT NOT NULL CHECK (json_type(terms) = 'object'),
  created_at     TEXT NOT NULL,
  PRIMARY KEY (account, rule, version)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER fraud_rule_versions_no_change
BEFORE UPDATE ON fraud_rule_versions
BEGIN
  SELECT raise(ABORT, 'a version of a fraud rule never changes');
END;

-- Cases of the fraud review: what rules found, and what persons decided. All are in the database of the
-- account's records.
--
-- How far the rules of an account were evaluated. An account whose rules were never evaluated has no row.
--
--   through       the last day that was evaluated by all rules
--   position      from where the next evaluation reads marks of changed days
--   first, last   the days that are being evaluated; null if none are
--   cursor        the last rule by which they were evaluated: a run that was killed goes on after it
CREATE TABLE fraud_progress (
  account      TEXT PRIMARY KEY,
  through      INTEGER NOT NULL,
  position     INTEGER NOT NULL,
  first        INTEGER,
  last         INTEGER CHECK ((last IS NULL) = (first IS NULL)),
  cursor       TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- The net revenue (§15) of the customers of affiliates in periods that are over, as evaluations computed it.
--
--   position  from where its evaluation reads marks of changed days: the row holds unless one counts in the period since
--   form      what else it follows from, as JSON
--   revenue   as decimal text
CREATE TABLE fraud_revenue (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  period       TEXT NOT NULL,
  currency     TEXT NOT NULL,
  position     INTEGER NOT NULL,
  form         TEXT NOT NULL,
  revenue      TEXT NOT NULL,
  PRIMARY KEY (account, affiliate_id, period, currency)
) STRICT, WITHOUT ROWID;

-- The records behind cases, in the order in which findings named them. Rows are only added; no record is twice among
-- the cases of a rule and subject.
--
--   position      from 0
--   resource, id  the record, or a statement; ids are as on the wire
--   day           the day of the record
--   delivery_id   the delivery that had last written the record
CREATE TABLE fraud_evidence (
  account     TEXT NOT NULL,
  case_id     TEXT NOT NULL,
  position    INTEGER NOT NULL CHECK (position >= 0),
  resource    TEXT NOT NULL
    CHECK (resource IN ('customers', 'transactions', 'trading-activity', 'activities', 'statements',
      'payees')),
  id          TEXT NOT NULL,
  day         INTEGER NOT NULL CHECK (day BETWEEN -719528 AND 2932896),
  customer_id TEXT,
  delivery_id TEXT,
  PRIMARY KEY (account, case_id, position)
) STRICT, WITHOUT ROWID;

-- Cases. Findings are added to the open one of their rule and subject; without one, the next position opens.
--
--   id               derived from affiliate, rule, subject and position
--   position         the position among the cases of the same rule and subject, from 0
--   customer_id, other_customer_id  the customer whom it is about, or the two of a pair
--   opened_for       the day of the finding that opened it
--   opened_at        when an evaluation found it, in milliseconds
--   last_day         the last day with a new record: version, figures and sentence are of that day
--   severity, action  the most that a version which found it has asked for
--   evidence_count   the number of its records, by which a decision notices that some were added
--   keep_hold        1 if it was confirmed, and goes on holding payouts
--   decided_at       in milliseconds
CREATE TABLE fraud_cases (
  account           TEXT NOT NULL,
  id                TEXT NOT NULL,
  affiliate_id      TEXT NOT NULL,
  rule              TEXT NOT NULL,
  subject           TEXT NOT NULL,
  position          INTEGER NOT NULL CHECK (position >= 0),
  customer_id       TEXT,
  other_customer_id TEXT,
  version           INTEGER NOT NULL,
  kind              TEXT NOT NULL,
  severity          TEXT NOT NULL CHECK (severity IN ('low', 'medium', 'high')),
  action            TEXT NOT NULL CHECK (action IN ('flag', 'hold')),
  status            TEXT NOT NULL CHECK (status IN ('open', 'confirmed', 'dismissed', 'expired')),
  opened_for        INTEGER NOT NULL CHECK (opened_for BETWEEN -719528 AND 2932896),
  opened_at         INTEGER NOT NULL,
  last_day          INTEGER NOT NULL CHECK (last_day BETWEEN -719528 AND 2932896),
  since             INTEGER NOT NULL CHECK (since BETWEEN -719528 AND 2932896),
  figures           TEXT NOT NULL CHECK (json_type(figures) = 'array'),
  sentence          TEXT NOT NULL,
  evidence_count    INTEGER NOT NULL,
  keep_hold         INTEGER NOT NULL DEFAULT 0 CHECK (keep_hold IN (0, 1)),
  decided_at        INTEGER,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX fraud_cases_position
  ON fraud_cases (account, affiliate_id, rule, subject, position);

CREATE INDEX fraud_cases_opened ON fraud_cases (account, opened_for, id);

CREATE INDEX fraud_cases_open ON fraud_cases (account, opened_for, id) WHERE status = 'open';

CREATE INDEX fraud_cases_customer ON fraud_cases (account, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX fraud_cases_other_customer ON fraud_cases (account, other_customer_id)
  WHERE other_customer_id IS NOT NULL;

-- The cases that hold payouts.
CREATE INDEX fraud_cases_holding ON fraud_cases (account, affiliate_id)
  WHERE action = 'hold' AND status = 'open' OR keep_hold = 1;

-- What persons decided of cases. Where two persons must decide, the decision of the first one alone does not
-- change the case.
--
--   refuse   the customers that are refused with it, as a JSON array, from `from_day` on
--   shown    the number of records that the case had
CREATE TABLE fraud_decisions (
  account   TEXT NOT NULL,
  case_id   TEXT NOT NULL,
  position  INTEGER NOT NULL CHECK (position >= 0),
  decision  TEXT NOT NULL CHECK (decision IN ('confirmed', 'dismissed')),
  reason    TEXT NOT NULL CHECK (reason <> ''),
  keep_hold INTEGER NOT NULL CHECK (keep_hold IN (0, 1)),
  refuse    TEXT NOT NULL CHECK (json_type(refuse) = 'array'),
  from_day  INTEGER CHECK (from_day BETWEEN -719528 AND 2932896),
  shown     INTEGER NOT NULL,
  actor     TEXT NOT NULL,
  at        TEXT NOT NULL,
  PRIMARY KEY (account, case_id, position)
) STRICT, WITHOUT ROWID;
