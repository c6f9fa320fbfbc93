-- Whether a link passes the query of its visitors on to the landing page.
ALTER TABLE links ADD COLUMN pass_query INTEGER NOT NULL DEFAULT 0 CHECK (pass_query IN (0, 1));
