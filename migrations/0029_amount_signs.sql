-- Whether an account sends the amounts of outflows as magnitudes, or negative.
ALTER TABLE accounts ADD COLUMN amount_signs TEXT NOT NULL DEFAULT 'magnitude'
  CHECK (amount_signs IN ('magnitude', 'signed'));

-- Whether money leaves with an event, and the member of its records that holds their status.
ALTER TABLE event_definitions ADD COLUMN outflow INTEGER NOT NULL DEFAULT 0 CHECK (outflow IN (0, 1));
ALTER TABLE event_definitions ADD COLUMN status_member TEXT;
