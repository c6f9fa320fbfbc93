-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Reads the log of deliveries, and the held records of a partner and of a brand.

-- deliveries
-- Reads the first page of the log of deliveries.
select
  id, received_at, resource, form, lenient, dry_run, received, errors_total, rejected, refused,
  held, stale, created, written, held_written
from deliveries
where
  account = :account
  and id >= :oldest
order by id desc
limit 51
offset
  0;
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id>?)

-- deliveries
-- Reads the page after a cursor of the log of deliveries.
select
  id, received_at, resource, form, lenient, dry_run, received, errors_total, rejected, refused,
  held, stale, created, written, held_written
from deliveries
where
  account = :account
  and id >= :oldest
  and (id) < (:after_0)
order by id desc
limit 51
offset
  0;
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id>? AND id<?)

-- deliveries
-- Counts the log of deliveries.
select count(*) as total
from deliveries
where
  account = :account
  and id >= :oldest;
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id>?)

-- held
-- Reads the first page of the held records of a partner.
with
  p as materialized (
    select resource, key, delivery, record
    from
      (
        select
          'transactions' as resource, json_array(transaction_id) as key, delivery,
          json_object(
            'transaction_id', transaction_id, 'customer_id', customer_id, 'transaction_type',
            transaction_type, 'amount_currency', amount_currency, 'currency', currency,
            'transaction_date', transaction_date, 'status', status, 'amount_usd', amount_usd,
            'transaction_subtype', transaction_subtype, 'note', note
          ) as record
        from transactions indexed by transactions_held
        where
          account = :account
          and held = 1
        union all
        select
          'trading-activity' as resource,
          json_array(date, customer_id, instrument, currency) as key, delivery,
          json_object(
            'date', date, 'customer_id', customer_id, 'instrument', instrument, 'lots_traded',
            lots_traded, 'currency', currency, 'pnl', pnl, 'volume_usd', volume_usd, 'spread_cost',
            spread_cost, 'commission', commission
          ) as record
        from activity indexed by activity_held
        where
          account = :account
          and held = 1
      )
    where true
    order by resource, key
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key, null) as key,
  iif(excess is null, delivery, null) as delivery, iif(excess is null, record, null) as record,
  excess
from
  e
  cross join p
order by resource, key;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MERGE (UNION ALL)
--           LEFT
--             SEARCH transactions USING INDEX transactions_held (account=?)
--             USE TEMP B-TREE FOR ORDER BY
--           RIGHT
--             SEARCH activity USING INDEX activity_held (account=?)
--             USE TEMP B-TREE FOR ORDER BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the page after a cursor of the held records of a partner.
with
  p as materialized (
    select resource, key, delivery, record
    from
      (
        select
          'transactions' as resource, json_array(transaction_id) as key, delivery,
          json_object(
            'transaction_id', transaction_id, 'customer_id', customer_id, 'transaction_type',
            transaction_type, 'amount_currency', amount_currency, 'currency', currency,
            'transaction_date', transaction_date, 'status', status, 'amount_usd', amount_usd,
            'transaction_subtype', transaction_subtype, 'note', note
          ) as record
        from transactions indexed by transactions_held
        where
          account = :account
          and held = 1
        union all
        select
          'trading-activity' as resource,
          json_array(date, customer_id, instrument, currency) as key, delivery,
          json_object(
            'date', date, 'customer_id', customer_id, 'instrument', instrument, 'lots_traded',
            lots_traded, 'currency', currency, 'pnl', pnl, 'volume_usd', volume_usd, 'spread_cost',
            spread_cost, 'commission', commission
          ) as record
        from activity indexed by activity_held
        where
          account = :account
          and held = 1
      )
    where
      true
      and (resource, key) > (:after_0, :after_1)
    order by resource, key
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key, null) as key,
  iif(excess is null, delivery, null) as delivery, iif(excess is null, record, null) as record,
  excess
from
  e
  cross join p
order by resource, key;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MERGE (UNION ALL)
--           LEFT
--             SEARCH transactions USING INDEX transactions_held (account=?)
--             USE TEMP B-TREE FOR ORDER BY
--           RIGHT
--             SEARCH activity USING INDEX activity_held (account=?)
--             USE TEMP B-TREE FOR ORDER BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Counts the held records of a partner.
select count(*) as total
from
  (
    select
      'transactions' as resource, json_array(transaction_id) as key, delivery,
      json_object(
        'transaction_id', transaction_id, 'customer_id', customer_id, 'transaction_type',
        transaction_type, 'amount_currency', amount_currency, 'currency', currency,
        'transaction_date', transaction_date, 'status', status, 'amount_usd', amount_usd,
        'transaction_subtype', transaction_subtype, 'note', note
      ) as record
    from transactions indexed by transactions_held
    where
      account = :account
      and held = 1
    union all
    select
      'trading-activity' as resource, json_array(date, customer_id, instrument, currency) as key,
      delivery,
      json_object(
        'date', date, 'customer_id', customer_id, 'instrument', instrument, 'lots_traded',
        lots_traded, 'currency', currency, 'pnl', pnl, 'volume_usd', volume_usd, 'spread_cost',
        spread_cost, 'commission', commission
      ) as record
    from activity indexed by activity_held
    where
      account = :account
      and held = 1
  );
-- Query plan:
--   CO-ROUTINE (subquery-2)
--     COMPOUND QUERY
--       LEFT-MOST SUBQUERY
--         SEARCH transactions USING INDEX transactions_held (account=?)
--       UNION ALL
--         SEARCH activity USING INDEX activity_held (account=?)
--   SCAN (subquery-2)

-- held
-- Reads the first page of the held records of a brand.
with
  p as materialized (
    select resource, key, delivery, record
    from
      (
        select
          'activities' as resource, json_array(id) as key, delivery,
          json_object('id', id, 'record', record) as record
        from events indexed by events_held
        where
          account = :account
          and held = 1
      )
    where true
    order by resource, key
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key, null) as key,
  iif(excess is null, delivery, null) as delivery, iif(excess is null, record, null) as record,
  excess
from
  e
  cross join p
order by resource, key;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING INDEX events_held (account=?)
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the page after a cursor of the held records of a brand.
with
  p as materialized (
    select resource, key, delivery, record
    from
      (
        select
          'activities' as resource, json_array(id) as key, delivery,
          json_object('id', id, 'record', record) as record
        from events indexed by events_held
        where
          account = :account
          and held = 1
      )
    where
      true
      and (resource, key) > (:after_0, :after_1)
    order by resource, key
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key, null) as key,
  iif(excess is null, delivery, null) as delivery, iif(excess is null, record, null) as record,
  excess
from
  e
  cross join p
order by resource, key;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING INDEX events_held (account=?)
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Counts the held records of a brand.
select count(*) as total
from
  (
    select
      'activities' as resource, json_array(id) as key, delivery,
      json_object('id', id, 'record', record) as record
    from events indexed by events_held
    where
      account = :account
      and held = 1
  );
-- Query plan:
--   SEARCH events USING COVERING INDEX events_held (account=?)
