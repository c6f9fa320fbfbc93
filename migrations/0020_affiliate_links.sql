-- Links that affiliates make for themselves.

-- The pages to which they may lead, as a JSON array of URLs: each of these pages, and all below it.
ALTER TABLE accounts ADD COLUMN landing_pages TEXT NOT NULL DEFAULT '[]'
  CHECK (json_type(landing_pages) = 'array');

-- Who disabled a link; null if it is active. An affiliate cannot activate what the team disabled.
ALTER TABLE links ADD COLUMN disabled_by TEXT CHECK (disabled_by IN ('team', 'affiliate'));

UPDATE links SET disabled_by = 'team' WHERE disabled = 1;

CREATE INDEX links_affiliate ON links (account, affiliate_id, link_id);
