-- A move of an account waits for months that leave for the archive or come back, too. A CHECK cannot be changed, so the
-- table is replaced; migration 0030 explains its columns.
ALTER TABLE account_moves RENAME TO account_moves_before;

CREATE TABLE account_moves (
  account     TEXT NOT NULL,
  id          TEXT NOT NULL CHECK (id <> ''),
  source      TEXT NOT NULL,
  target      TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('copying', 'comparing', 'waiting', 'switching', 'switched',
    'dropping', 'done', 'cancelling', 'cancelled', 'failed')),
  waits_for   TEXT CHECK (waits_for IN ('run', 'reset', 'erasure', 'archive', 'writes')),
  place       TEXT,
  confirmed   INTEGER NOT NULL DEFAULT 0 CHECK (confirmed IN (0, 1)),
  closed_at   INTEGER,
  pause_ms    INTEGER,
  reason      TEXT,
  actor       TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  switched_at TEXT,
  ended_at    TEXT,
  due_at      INTEGER,
  attempt     INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

INSERT INTO account_moves SELECT * FROM account_moves_before;
DROP TABLE account_moves_before;

CREATE UNIQUE INDEX account_moves_active ON account_moves (account) WHERE due_at IS NOT NULL;
CREATE INDEX account_moves_due ON account_moves (due_at) WHERE due_at IS NOT NULL;
