-- Runs show that they are working, so that one that has stopped is continued. Failed runs say why.
--
--   active_at   when an attempt of one of its steps last began; '' if none has
--   restarts    how often its Workflow was started again since a step last ended
--   steps_done  the number of steps that were done when it ended
--   reason      why it failed, in words; null unless it has
ALTER TABLE statement_runs ADD COLUMN active_at TEXT NOT NULL DEFAULT '';
ALTER TABLE statement_runs ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE statement_runs ADD COLUMN steps_done INTEGER;
ALTER TABLE statement_runs ADD COLUMN reason TEXT;

-- The runs that may have stopped. Without `active_at`, so that activity writes one row.
CREATE INDEX statement_runs_running ON statement_runs (account, id) WHERE status = 'running';

-- The statements that a step has written so far; `changed` is the same once it is done.
ALTER TABLE statement_run_steps ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
