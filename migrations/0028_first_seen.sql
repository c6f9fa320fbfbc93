-- What a delivery changed that the sender should know of, besides the content of its records.
--
--   changed_events  a JSON array of positions: events that have replaced one with another name or
--                   customer
--   affiliated      a JSON object of positions: customers who got another affiliate, each with the first
--                   day of that affiliate, and 1 if it holds from the signup on, else 0
ALTER TABLE deliveries ADD COLUMN changed_events TEXT CHECK (json_valid(changed_events));
ALTER TABLE deliveries ADD COLUMN affiliated TEXT CHECK (json_valid(affiliated));

-- When a customer was first heard of. Control totals and lists do not depend on it.
--
--   first_seen_at   in milliseconds: when the first delivery with the customer was received or, for brands,
--                   the earliest time of the events that waited for the customer; null if that event had
--                   no time, and if the Worker that stored the customer did not know this column
--   first_seen_day  the day of that event; null if no event waited that was earlier
ALTER TABLE customers ADD COLUMN first_seen_at INTEGER;
ALTER TABLE customers ADD COLUMN first_seen_day INTEGER
  CHECK (first_seen_day BETWEEN -719528 AND 2932896);

-- Costs nothing unless the name or the customer changes.
CREATE TRIGGER events_changed AFTER UPDATE OF eventname, customer_id ON events
WHEN old.eventname <> new.eventname OR old.customer_id <> new.customer_id
BEGIN
  UPDATE deliveries
  SET changed_events = json_insert(coalesce(changed_events, '[]'), '$[#]', new.idx)
  WHERE account = new.account AND id = new.delivery;
END;

-- `customer_affiliations`: the delivery has decided from which day the new affiliate counts. An affiliate
-- that holds from the signup on because the first one was corrected early has a row with the first day of
-- the calendar, and the affiliate before it in `previous_affiliate_id`.
DROP TRIGGER customers_affiliation;

CREATE TRIGGER customers_affiliation AFTER UPDATE OF affiliate_id, link ON customers
WHEN old.affiliate_id IS NOT new.affiliate_id
  OR (new.first_day IS NOT NULL AND old.link IS NOT new.link)
BEGIN
  -- A brand's customer who loses the attribution keeps the affiliate, which is no longer stored.
  INSERT INTO customer_affiliations (account, customer_id, day, link, delivery)
  SELECT old.account, old.customer_id, -719528, old.link, new.delivery
  WHERE new.first_day IS NOT NULL AND new.link IS NULL AND NOT EXISTS (
    SELECT 1 FROM customer_affiliations
    WHERE account = old.account AND customer_id = old.customer_id);

  -- The first affiliate holds from the beginning, whenever it became known.
  INSERT INTO customer_affiliations (account, customer_id, day, affiliate_id, link,
    previous_affiliate_id, previous_link, delivery)
  SELECT old.account, old.customer_id,
    max(received.day, coalesce(
      (SELECT max(day) FROM customer_affiliations
        WHERE account = old.account AND customer_id = old.customer_id), received.day)),
    new.affiliate_id, iif(new.first_day IS NULL, NULL, new.link),
    old.affiliate_id, iif(new.first_day IS NULL, NULL, old.link), new.delivery
  FROM (SELECT coalesce(
    (SELECT iif(affiliated -> cast(new.idx AS TEXT) ->> 1, -719528,
        coalesce(received_day, received_at / 86400000))
      FROM deliveries WHERE account = new.account AND id = new.delivery),
    unixepoch() / 86400) AS day) received
  WHERE (new.first_day IS NULL OR new.link IS NOT NULL)
    AND (old.affiliate_id IS NOT NULL
      OR (new.first_day IS NOT NULL AND old.link IS NOT NULL)
      OR EXISTS (SELECT 1 FROM customer_affiliations
        WHERE account = old.account AND customer_id = old.customer_id))
  ON CONFLICT (account, customer_id, day) DO UPDATE SET affiliate_id = new.affiliate_id,
    link = iif(new.first_day IS NULL, NULL, new.link), delivery = new.delivery,
    previous_affiliate_id = iif(day = -719528, old.affiliate_id, previous_affiliate_id);
END;
