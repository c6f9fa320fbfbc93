-- An erasure also removes personal members from the stored activities of a brand's customer, in
-- bounded steps. Activities of the days before `next_day` are done, and of that day those up to the id
-- `after_id`. Both are null when all are done. Erasures of before start at the first day.
ALTER TABLE erasures ADD COLUMN next_day INTEGER DEFAULT -719528;
ALTER TABLE erasures ADD COLUMN after_id TEXT DEFAULT '';

CREATE INDEX erasures_pending ON erasures (account, customer_id) WHERE next_day IS NOT NULL;
