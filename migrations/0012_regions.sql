-- Where the Durable Objects of an account are created; null: near whoever uses one first.
--
--   region        a location hint. A change applies to tokens that are issued later: an object stays.
--   jurisdiction  the jurisdiction that keeps the journal of erased customers; it never changes
ALTER TABLE accounts ADD COLUMN region TEXT
  CHECK (region IN ('wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me'));
ALTER TABLE accounts ADD COLUMN jurisdiction TEXT CHECK (jurisdiction IN ('eu', 'fedramp'));
