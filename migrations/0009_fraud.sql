-- Rules of the fraud review, in the database of the account's records.
--
-- `terms` is the version as canonical JSON, with all defaults filled in: a default that changes later leaves
-- it as it is. A version never changes; one of which no day is over can be withdrawn, and its number is not
-- used again. On the days before its first version a rule finds nothing.
CREATE TABLE fraud_rule_versions (
  account        TEXT NOT NULL,
  rule           TEXT NOT NULL CHECK (rule <> ''),
  version        INTEGER NOT NULL CHECK (version >= 1),
  effective_from TEXT NOT NULL CHECK (effective_from GLOB '????-??-??'),
  terms          TEXT NOT NULL CHECK (json_type(terms) = 'object'),
  created_at     TEXT NOT NULL,
  withdrawn_at   TEXT,
  PRIMARY KEY (account, rule, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX fraud_rule_versions_day ON fraud_rule_versions (account, rule, effective_from)
  WHERE withdrawn_at IS NULL;

CREATE TRIGGER fraud_rule_versions_no_change
BEFORE UPDATE OF account, rule, version, effective_from, terms ON fraud_rule_versions
BEGIN
  SELECT raise(ABORT, 'a version of a fraud rule never changes');
END;
