-- When held records were last released after the response to a delivery of customers, in milliseconds:
-- statements that a run has computed before may have changed.
ALTER TABLE totals ADD COLUMN released_at INTEGER;
