-- The day of a partner's customers and transactions is that of their instant in this time zone. Brands
-- have `time_zone`.
ALTER TABLE accounts ADD COLUMN book_zone TEXT NOT NULL DEFAULT 'UTC';

-- What the deliveries of an account must meet; accounts without a row accept all. One row answers both
-- questions, so that a delivery looks up one key.
--
--   resetting  1 while the account is being reset: no delivery is accepted
--   book_zone  if not null, a delivery whose days were computed in another zone is not accepted: the
--              zone has changed, and a token still had the previous one
CREATE TABLE delivery_conditions (
  account   TEXT PRIMARY KEY,
  resetting INTEGER NOT NULL CHECK (resetting IN (0, 1)),
  book_zone TEXT
) STRICT, WITHOUT ROWID;

INSERT INTO delivery_conditions (account, resetting) SELECT account, 1 FROM resets;

CREATE TRIGGER resets_began AFTER INSERT ON resets
BEGIN
  INSERT INTO delivery_conditions (account, resetting) VALUES (new.account, 1)
  ON CONFLICT (account) DO UPDATE SET resetting = 1;
END;

CREATE TRIGGER resets_ended AFTER DELETE ON resets
BEGIN
  DELETE FROM delivery_conditions WHERE account = old.account AND book_zone IS NULL;
  UPDATE delivery_conditions SET resetting = 0 WHERE account = old.account;
END;
