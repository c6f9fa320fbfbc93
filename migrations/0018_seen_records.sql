-- The records that a person saw who decided a case, from the second part on: `seen` of `fraud_decisions` has the
-- first one, since D1 takes at most 2 MB as one value. As there, a JSON array of resource, colon and id.
CREATE TABLE fraud_seen_parts (
  account  TEXT NOT NULL,
  case_id  TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 0),
  part     INTEGER NOT NULL CHECK (part >= 1),
  seen     TEXT NOT NULL CHECK (json_type(seen) = 'array'),
  PRIMARY KEY (account, case_id, position, part)
) STRICT, WITHOUT ROWID;
