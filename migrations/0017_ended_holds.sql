-- Holds that an evaluation has ended without a decision. A row stays until a person acknowledges it, or until
-- the case holds payouts again.
--
--   because      `records`: what the case rested on is gone, and so is the case; `rule`: its rule no longer
--                holds payouts; `expired`: nobody decided it in time
--   subject, name, sentence  those of the case, which may be gone
--   moved        of `records`: a customer of the case who has another affiliate now, from which day on, and
--                the affiliate, which is null for a customer without one; null if there is none
--   opened_at, ended_at  in milliseconds
CREATE TABLE fraud_ended_holds (
  account      TEXT NOT NULL,
  case_id      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL,
  rule         TEXT NOT NULL,
  name         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  sentence     TEXT NOT NULL,
  because      TEXT NOT NULL CHECK (because IN ('records', 'rule', 'expired')),
  moved        TEXT CHECK (json_type(moved) = 'object'),
  opened_at    INTEGER NOT NULL,
  ended_at     INTEGER NOT NULL,
  PRIMARY KEY (account, case_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX fraud_ended_holds_ended ON fraud_ended_holds (account, ended_at, case_id);

-- When a case that is gone was first found: if its records come back, it keeps the time.
CREATE TABLE fraud_gone_cases (
  account   TEXT NOT NULL,
  id        TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;
