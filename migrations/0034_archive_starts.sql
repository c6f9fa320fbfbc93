-- After how many months the records of an account are archived: docs/storage.md. Null: never.
ALTER TABLE accounts ADD COLUMN archive_after INTEGER DEFAULT 13
  CHECK (archive_after BETWEEN 13 AND 120);
