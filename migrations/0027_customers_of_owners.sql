-- The customers whom an affiliate has or ever had: so an affiliate who asks is answered from the records of their
-- own customers, however many others the account has. A superset: `customers` and `customer_affiliations` decide
-- on which days a customer was whose.
--
--   owner  the affiliate or, for a customer of a brand without one, the link
--
-- A row is never changed or removed but with the account's records. An index of `customers` would be written again
-- with every update of a customer, since updates set these columns even if they stay the same.
CREATE TABLE customer_owners (
  account     TEXT NOT NULL,
  owner       TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  PRIMARY KEY (account, owner, customer_id)
) STRICT, WITHOUT ROWID;

INSERT INTO customer_owners (account, owner, customer_id)
SELECT account, ifnull(affiliate_id, link), customer_id FROM customers
WHERE affiliate_id IS NOT NULL OR (first_day IS NOT NULL AND link IS NOT NULL);

INSERT INTO customer_owners (account, owner, customer_id)
SELECT account, ifnull(affiliate_id, link), customer_id FROM customer_affiliations
WHERE ifnull(affiliate_id, link) IS NOT NULL
UNION ALL
SELECT account, ifnull(previous_affiliate_id, previous_link), customer_id FROM customer_affiliations
WHERE ifnull(previous_affiliate_id, previous_link) IS NOT NULL
ON CONFLICT DO NOTHING;

CREATE TRIGGER customer_owners_first AFTER INSERT ON customers
WHEN new.affiliate_id IS NOT NULL OR (new.first_day IS NOT NULL AND new.link IS NOT NULL)
BEGIN
  INSERT INTO customer_owners (account, owner, customer_id)
  VALUES (new.account, ifnull(new.affiliate_id, new.link), new.customer_id)
  ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER customer_owners_changed AFTER UPDATE OF affiliate_id, link ON customers
WHEN (old.affiliate_id IS NOT new.affiliate_id OR old.link IS NOT new.link)
  AND (new.affiliate_id IS NOT NULL OR (new.first_day IS NOT NULL AND new.link IS NOT NULL))
BEGIN
  INSERT INTO customer_owners (account, owner, customer_id)
  VALUES (new.account, ifnull(new.affiliate_id, new.link), new.customer_id)
  ON CONFLICT DO NOTHING;
END;

-- What the team corrects.
CREATE TRIGGER customer_owners_corrected AFTER INSERT ON customer_affiliations
BEGIN
  INSERT INTO customer_owners (account, owner, customer_id)
  SELECT new.account, value, new.customer_id FROM json_each(json_array(
    ifnull(new.affiliate_id, new.link), ifnull(new.previous_affiliate_id, new.previous_link)))
  WHERE value IS NOT NULL
  ON CONFLICT DO NOTHING;
END;
