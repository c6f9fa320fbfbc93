-- Where data may be stored, as the platform has it since 2026: the jurisdiction `us`, and the location hints `apac-ne`
-- and `apac-se`.

-- A CHECK cannot be changed, and a table to which others refer cannot be replaced. Two columns follow those of the first
-- migration, which triggers keep for versions of the Worker that read them.
ALTER TABLE accounts ADD COLUMN location_hint TEXT CHECK (location_hint IN (
  'wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'apac-ne', 'apac-se', 'oc', 'afr', 'me'
));
ALTER TABLE accounts ADD COLUMN data_jurisdiction TEXT CHECK (data_jurisdiction IN ('eu', 'us', 'fedramp'));

UPDATE accounts SET location_hint = region, data_jurisdiction = jurisdiction
WHERE region IS NOT NULL OR jurisdiction IS NOT NULL;

-- A version before sets `region` and `jurisdiction`, later ones the new columns.
CREATE TRIGGER accounts_placed AFTER INSERT ON accounts
WHEN coalesce(NEW.region, NEW.location_hint, NEW.jurisdiction, NEW.data_jurisdiction) IS NOT NULL
BEGIN
  UPDATE accounts SET
    location_hint = coalesce(NEW.location_hint, NEW.region),
    region = coalesce(NEW.region, iif(NEW.location_hint LIKE 'apac%', 'apac', NEW.location_hint)),
    data_jurisdiction = coalesce(NEW.data_jurisdiction, NEW.jurisdiction),
    jurisdiction = coalesce(NEW.jurisdiction, nullif(NEW.data_jurisdiction, 'us'))
  WHERE id = NEW.id;
END;

-- Each trigger leaves the columns so that the other has nothing to do.
CREATE TRIGGER accounts_placed_region AFTER UPDATE OF region ON accounts
WHEN NEW.region IS NOT iif(NEW.location_hint LIKE 'apac%', 'apac', NEW.location_hint)
BEGIN
  UPDATE accounts SET location_hint = NEW.region WHERE id = NEW.id;
END;
CREATE TRIGGER accounts_placed_hint AFTER UPDATE OF location_hint ON accounts
WHEN NEW.region IS NOT iif(NEW.location_hint LIKE 'apac%', 'apac', NEW.location_hint)
BEGIN
  UPDATE accounts SET region = iif(NEW.location_hint LIKE 'apac%', 'apac', NEW.location_hint) WHERE id = NEW.id;
END;
