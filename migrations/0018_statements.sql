-- Statements of commissions, and the runs that compute them, in the database of the account's records.

-- One row for each affiliate, plan and period that has a statement, or something to carry.
--
--   id         derived from affiliate, plan and period
--   hash       the SHA-256 of the statement's canonical JSON; '' without a statement
--   digest     the SHA-256 of statement, lines and state: a draft with the same one is not written
--   statement  the statement as JSON, without its lines; null if there is only something to carry
--   lines      a JSON array of the first lines; `statement_lines` has the others
--   state      what the next period starts from, as JSON
--   read_at    when its computation began to read, in milliseconds: an older one never replaces it
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
  lines        TEXT NOT NULL CHECK (json_type(lines) = 'array'),
  parts        INTEGER NOT NULL CHECK (parts >= 1),
  state        TEXT NOT NULL CHECK (json_type(state) = 'object'),
  read_at      INTEGER NOT NULL,
  computed_at  TEXT NOT NULL,
  PRIMARY KEY (account, period, affiliate_id, plan)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX statements_id ON statements (account, id);
CREATE INDEX statements_affiliate ON statements (account, affiliate_id, period, plan);

-- The lines of long statements from the second part on: a row has at most 2 MB.
CREATE TABLE statement_lines (
  account TEXT NOT NULL,
  id      TEXT NOT NULL,
  part    INTEGER NOT NULL CHECK (part >= 2),
  lines   TEXT NOT NULL CHECK (json_type(lines) = 'array'),
  PRIMARY KEY (account, id, part)
) STRICT, WITHOUT ROWID;

-- Runs over the affiliates of an account: `steps` is null until they are planned, `changed` the number
-- of statements that were written.
CREATE TABLE statement_runs (
  account    TEXT NOT NULL,
  id         TEXT NOT NULL,
  period     TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed')),
  affiliates INTEGER,
  steps      INTEGER,
  changed    INTEGER,
  started_at TEXT NOT NULL,
  ended_at   TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- The affiliates of each step of a run that goes on, as a JSON array; `changed` is null until it is done.
CREATE TABLE statement_run_steps (
  account    TEXT NOT NULL,
  run        TEXT NOT NULL,
  step       INTEGER NOT NULL CHECK (step >= 1),
  affiliates TEXT NOT NULL CHECK (json_type(affiliates) = 'array'),
  changed    INTEGER,
  PRIMARY KEY (account, run, step)
) STRICT, WITHOUT ROWID;
