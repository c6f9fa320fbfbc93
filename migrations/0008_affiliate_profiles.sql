-- How the team calls an affiliate and reaches them. `contact_email` is personal data; the audit log has neither.
ALTER TABLE affiliates ADD COLUMN display_name TEXT;
ALTER TABLE affiliates ADD COLUMN contact_email TEXT;
