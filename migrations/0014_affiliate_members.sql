-- Who affiliates are to the portal: their language and state, the persons who sign in, their passkeys, and
-- the invitations by which they register them.
--
-- `note` is for the team only. A suspended affiliate cannot call; it earns on.
ALTER TABLE affiliates ADD COLUMN language TEXT CHECK (language IN ('en', 'de', 'es', 'fr', 'pt'));
ALTER TABLE affiliates ADD COLUMN note TEXT;
ALTER TABLE affiliates ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
  CHECK (status IN ('active', 'suspended'));

-- A person who signs in for an affiliate.
CREATE TABLE affiliate_members (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  id           TEXT NOT NULL CHECK (id <> ''),
  name         TEXT NOT NULL CHECK (name <> ''),
  created_at   TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

-- A passkey of a member. `counter` is the signature counter of WebAuthn §6.1.1: it never goes back.
CREATE TABLE affiliate_passkeys (
  account       TEXT NOT NULL,
  credential_id TEXT NOT NULL CHECK (credential_id <> ''),
  affiliate_id  TEXT NOT NULL,
  member        TEXT NOT NULL,
  public_key    TEXT NOT NULL,
  counter       INTEGER NOT NULL CHECK (counter >= 0),
  transports    TEXT NOT NULL CHECK (json_type(transports) = 'array'),
  name          TEXT NOT NULL CHECK (name <> ''),
  created_at    TEXT NOT NULL,
  last_used_at  TEXT NOT NULL,
  PRIMARY KEY (account, credential_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX affiliate_passkeys_member ON affiliate_passkeys (account, affiliate_id, member);

-- An invitation to register a passkey: as another person, or as `member`, who lost theirs. It works once
-- before `ends_at` (milliseconds). The secret of its link is stored as a digest only.
CREATE TABLE affiliate_invitations (
  account      TEXT NOT NULL,
  affiliate_id TEXT NOT NULL CHECK (affiliate_id <> ''),
  id           TEXT NOT NULL CHECK (id <> ''),
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  member       TEXT,
  created_at   TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  ends_at      INTEGER NOT NULL,
  used_at      TEXT,
  PRIMARY KEY (account, affiliate_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX affiliate_invitations_digest ON affiliate_invitations (account, digest);
