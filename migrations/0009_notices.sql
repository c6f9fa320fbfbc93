-- Notices to people: the outbox. What causes a notice writes its row in the same transaction, in the database of the
-- cause. Texts and links are made when it is sent.
--
--   account       '': the cause is one of the directory, such as an invitation to the team
--   id            begins with the time
--   kind          names the text, and what `cause` is the id of
--   recipient     `affiliate:ID`, `member:ID` or `address:ADDRESS`; `role:ROLE`: the members of the team with this role or
--                 a higher one, as they are when it is sent
--   affiliate_id  whom it is about: members of the team who see only some affiliates get it for these; null: the account
--   except_actor  the actor of the cause, whom a `role` does not mean
--   language      of an `address`; the others have their own
--   at            in milliseconds
--   next_at       when the next attempt is due, in milliseconds; null: none follows
--   queued_until  until when the queue or an attempt has it, in milliseconds: then it is queued again
--   attempts      the attempts that have begun
--   tried_at      when the last attempt ended, in milliseconds; null: none has
--   sent          a JSON array of the digests of the addresses that it was sent to
--   error         why the last attempt failed; null after a success
CREATE TABLE outbox (
  account      TEXT NOT NULL,
  id           TEXT NOT NULL CHECK (id <> ''),
  kind         TEXT NOT NULL CHECK (kind <> ''),
  cause        TEXT NOT NULL CHECK (cause <> ''),
  recipient    TEXT NOT NULL CHECK (recipient <> ''),
  affiliate_id TEXT,
  except_actor TEXT,
  language     TEXT CHECK (language IN ('en', 'de', 'es', 'fr', 'pt')),
  at           INTEGER NOT NULL,
  next_at      INTEGER,
  queued_until INTEGER NOT NULL DEFAULT 0,
  attempts     INTEGER NOT NULL DEFAULT 0,
  tried_at     INTEGER,
  sent         TEXT NOT NULL DEFAULT '[]' CHECK (json_type(sent) = 'array'),
  error        TEXT,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- A cause has one notice of a kind for each recipient.
CREATE UNIQUE INDEX outbox_cause ON outbox (account, kind, cause, recipient);

CREATE INDEX outbox_recipient ON outbox (account, recipient, id);

CREATE INDEX outbox_due ON outbox (next_at) WHERE next_at IS NOT NULL;
