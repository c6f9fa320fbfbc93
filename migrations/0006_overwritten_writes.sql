-- Writes that a later record of the same request overwrote. Only brands may send a key twice in one
-- request. If the database's response is lost and the batch is sent again, the outcome of each
-- such record is read from this table. Rows are deleted after an hour.
CREATE TABLE overwritten_writes (
  account TEXT NOT NULL,
  delivery TEXT NOT NULL,
  idx INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (account, delivery, idx)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER customers_overwritten AFTER UPDATE OF revision ON customers
WHEN new.delivery = old.delivery
BEGIN
  INSERT INTO overwritten_writes (account, delivery, idx, revision)
  VALUES (old.account, old.delivery, old.idx, old.revision) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER events_overwritten AFTER UPDATE OF revision ON events
WHEN new.delivery = old.delivery
BEGIN
  INSERT INTO overwritten_writes (account, delivery, idx, revision)
  VALUES (old.account, old.delivery, old.idx, old.revision) ON CONFLICT DO NOTHING;
END;
