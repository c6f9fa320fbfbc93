-- Affiliates by the beginning of what the team calls them, and of their address. Case does not matter in ASCII.
CREATE INDEX affiliates_name ON affiliates (account, display_name COLLATE NOCASE)
WHERE display_name IS NOT NULL;

CREATE INDEX affiliates_email ON affiliates (account, contact_email COLLATE NOCASE)
WHERE contact_email IS NOT NULL;
