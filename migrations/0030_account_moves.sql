-- Moves of accounts to other databases: docs/placement.md. Only `DB` has rows.
CREATE TABLE account_moves (
  account     TEXT NOT NULL,
  id          TEXT NOT NULL CHECK (id <> ''),
  -- The bindings of the databases.
  source      TEXT NOT NULL,
  target      TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('copying', 'comparing', 'waiting', 'switching', 'switched',
    'dropping', 'done', 'cancelling', 'cancelled', 'failed')),
  -- What the pause waits for; null while it waits for nothing.
  waits_for   TEXT CHECK (waits_for IN ('run', 'reset', 'erasure', 'writes')),
  -- Where the copy or the comparison goes on, as JSON; null at its begin.
  place       TEXT,
  -- 1: the old copy is deleted as soon as nothing can use it, and not after seven days.
  confirmed   INTEGER NOT NULL DEFAULT 0 CHECK (confirmed IN (0, 1)),
  -- Since when writes of the account are refused (milliseconds); null while they are not.
  closed_at   INTEGER,
  -- How long they were refused, in milliseconds; null before the switch.
  pause_ms    INTEGER,
  -- Why it failed, for people; null if it did not.
  reason      TEXT,
  actor       TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  switched_at TEXT,
  ended_at    TEXT,
  -- When a cron goes on with it unless its Workflow does (milliseconds); null once it has ended.
  due_at      INTEGER,
  -- Which Workflow may go on with it: each one that is started has the next number.
  attempt     INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- An account has one move at a time, and the next one only without an old copy.
CREATE UNIQUE INDEX account_moves_active ON account_moves (account) WHERE due_at IS NOT NULL;

CREATE INDEX account_moves_due ON account_moves (due_at) WHERE due_at IS NOT NULL;
