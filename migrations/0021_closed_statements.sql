-- The periods of each plan of which a statement was approved: versions and assignments begin after them.
CREATE INDEX statements_closed ON statements (account, plan, period) WHERE status <> 'draft';
