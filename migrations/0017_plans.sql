-- Plans of commissions, in the database of the account's records, so that a later change of a plan and
-- the approval of its statements exclude each other.

-- `terms` is the version as canonical JSON. A version never changes; one that never was in force can be
-- withdrawn, and its number is not used again.
CREATE TABLE plan_versions (
  account        TEXT NOT NULL,
  plan           TEXT NOT NULL CHECK (plan <> ''),
  version        INTEGER NOT NULL CHECK (version >= 1),
  effective_from TEXT NOT NULL CHECK (effective_from GLOB '????-??-??'),
  terms          TEXT NOT NULL CHECK (json_type(terms) = 'object'),
  created_at     TEXT NOT NULL,
  withdrawn_at   TEXT,
  PRIMARY KEY (account, plan, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX plan_versions_day ON plan_versions (account, plan, effective_from)
  WHERE withdrawn_at IS NULL;

CREATE TRIGGER plan_versions_no_change BEFORE UPDATE OF account, plan, version, effective_from, terms
ON plan_versions
BEGIN
  SELECT raise(ABORT, 'a version of a plan never changes');
END;

-- Which plan governs the customers of an affiliate from a day on; `affiliate_id` `*`: of every
-- affiliate without an assignment of its own.
CREATE TABLE assignments (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  from_day     TEXT NOT NULL CHECK (from_day GLOB '????-??-??'),
  plan         TEXT NOT NULL,
  customers    TEXT NOT NULL CHECK (customers IN ('new', 'all')),
  PRIMARY KEY (account, affiliate_id, from_day)
) STRICT, WITHOUT ROWID;

CREATE INDEX assignments_plan ON assignments (account, plan);
