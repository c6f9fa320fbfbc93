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
    with
      k as materialized (
        select *
        from
          (
            select
              'transactions' as resource, customer_id as key_0, day as key_1,
              transaction_id as key_2, null as key_3
            from transactions indexed by transactions_held
            where
              account = :account
              and held = 1
            order by customer_id, day, transaction_id
            limit 51
          )
        union all
        select *
        from
          (
            select
              'trading-activity' as resource, customer_id as key_0, date as key_1,
              instrument as key_2, currency as key_3
            from activity indexed by activity_held
            where
              account = :account
              and held = 1
            order by customer_id, date, instrument, currency
            limit 51
          )
        order by resource, key_0, key_1, key_2, key_3
        limit 51
        offset
          0
      )
    select
      k.*, t.delivery as delivery,
      json_object(
        'transaction_id', t.transaction_id, 'customer_id', t.customer_id, 'transaction_type',
        t.transaction_type, 'amount_currency', t.amount_currency, 'currency', t.currency,
        'transaction_date', t.transaction_date, 'status', t.status, 'amount_usd', t.amount_usd,
        'transaction_subtype', t.transaction_subtype, 'note', t.note
      ) as record
    from
      k
      cross join transactions t on t.account = :account
      and t.customer_id = k.key_0
      and t.day = k.key_1
      and t.transaction_id = k.key_2
    where k.resource = 'transactions'
    union all
    select
      k.*, t.delivery as delivery,
      json_object(
        'date', t.date, 'customer_id', t.customer_id, 'instrument', t.instrument, 'lots_traded',
        t.lots_traded, 'currency', t.currency, 'pnl', t.pnl, 'volume_usd', t.volume_usd,
        'spread_cost', t.spread_cost, 'commission', t.commission
      ) as record
    from
      k
      cross join activity t on t.account = :account
      and t.customer_id = k.key_0
      and t.date = k.key_1
      and t.instrument = k.key_2
      and t.currency = k.key_3
    where k.resource = 'trading-activity'
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key_0), 0) + ifnull(octet_length (key_1), 0) + ifnull(octet_length (key_2), 0) + ifnull(octet_length (key_3), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key_0, null) as key_0,
  iif(excess is null, key_1, null) as key_1, iif(excess is null, key_2, null) as key_2,
  iif(excess is null, key_3, null) as key_3, iif(excess is null, delivery, null) as delivery,
  iif(excess is null, record, null) as record, excess
from
  e
  cross join p
order by resource, key_0, key_1, key_2, key_3;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         COMPOUND QUERY
--           LEFT-MOST SUBQUERY
--             MATERIALIZE k
--               MERGE (UNION ALL)
--                 LEFT
--                   CO-ROUTINE (subquery-1)
--                     SEARCH transactions USING COVERING INDEX transactions_held (account=?)
--                   SCAN (subquery-1)
--                   USE TEMP B-TREE FOR ORDER BY
--                 RIGHT
--                   CO-ROUTINE (subquery-3)
--                     SEARCH activity USING COVERING INDEX activity_held (account=?)
--                   SCAN (subquery-3)
--                   USE TEMP B-TREE FOR ORDER BY
--             SCAN k
--             SEARCH t USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND transaction_id=?)
--           UNION ALL
--             SCAN k
--             SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the page after a cursor of the held records of a partner.
with
  p as materialized (
    with
      k as materialized (
        select *
        from
          (
            select
              'transactions' as resource, customer_id as key_0, day as key_1,
              transaction_id as key_2, null as key_3
            from transactions indexed by transactions_held
            where
              account = :account
              and held = 1
              and (customer_id, day, transaction_id) > (:after_0, :after_1, :after_2)
            order by customer_id, day, transaction_id
            limit 51
          )
        order by resource, key_0, key_1, key_2, key_3
        limit 51
        offset
          0
      )
    select
      k.*, t.delivery as delivery,
      json_object(
        'transaction_id', t.transaction_id, 'customer_id', t.customer_id, 'transaction_type',
        t.transaction_type, 'amount_currency', t.amount_currency, 'currency', t.currency,
        'transaction_date', t.transaction_date, 'status', t.status, 'amount_usd', t.amount_usd,
        'transaction_subtype', t.transaction_subtype, 'note', t.note
      ) as record
    from
      k
      cross join transactions t on t.account = :account
      and t.customer_id = k.key_0
      and t.day = k.key_1
      and t.transaction_id = k.key_2
    where k.resource = 'transactions'
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key_0), 0) + ifnull(octet_length (key_1), 0) + ifnull(octet_length (key_2), 0) + ifnull(octet_length (key_3), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key_0, null) as key_0,
  iif(excess is null, key_1, null) as key_1, iif(excess is null, key_2, null) as key_2,
  iif(excess is null, key_3, null) as key_3, iif(excess is null, delivery, null) as delivery,
  iif(excess is null, record, null) as record, excess
from
  e
  cross join p
order by resource, key_0, key_1, key_2, key_3;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MATERIALIZE k
--           CO-ROUTINE (subquery-1)
--             SEARCH transactions USING COVERING INDEX transactions_held (account=? AND (customer_id,day,transaction_id)>(?,?,?))
--           SCAN (subquery-1)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND transaction_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the first page of the held records of a brand.
with
  p as materialized (
    with
      k as materialized (
        select *
        from
          (
            select 'activities' as resource, customer_id as key_0, day as key_1, id as key_2
            from events indexed by events_held
            where
              account = :account
              and held = 1
            order by customer_id, day, id
            limit 51
          )
        order by resource, key_0, key_1, key_2
        limit 51
        offset
          0
      )
    select k.*, t.delivery as delivery, json_object('id', t.id, 'record', t.record) as record
    from
      k
      cross join events t on t.account = :account
      and t.customer_id = k.key_0
      and t.day = k.key_1
      and t.id = k.key_2
    where k.resource = 'activities'
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key_0), 0) + ifnull(octet_length (key_1), 0) + ifnull(octet_length (key_2), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key_0, null) as key_0,
  iif(excess is null, key_1, null) as key_1, iif(excess is null, key_2, null) as key_2,
  iif(excess is null, delivery, null) as delivery, iif(excess is null, record, null) as record,
  excess
from
  e
  cross join p
order by resource, key_0, key_1, key_2;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MATERIALIZE k
--           CO-ROUTINE (subquery-1)
--             SEARCH events USING COVERING INDEX events_held (account=?)
--           SCAN (subquery-1)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the page after a cursor of the held records of a brand.
with
  p as materialized (
    with
      k as materialized (
        select *
        from
          (
            select 'activities' as resource, customer_id as key_0, day as key_1, id as key_2
            from events indexed by events_held
            where
              account = :account
              and held = 1
              and (customer_id, day, id) > (:after_0, :after_1, :after_2)
            order by customer_id, day, id
            limit 51
          )
        order by resource, key_0, key_1, key_2
        limit 51
        offset
          0
      )
    select k.*, t.delivery as delivery, json_object('id', t.id, 'record', t.record) as record
    from
      k
      cross join events t on t.account = :account
      and t.customer_id = k.key_0
      and t.day = k.key_1
      and t.id = k.key_2
    where k.resource = 'activities'
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (resource), 0) + ifnull(octet_length (key_0), 0) + ifnull(octet_length (key_1), 0) + ifnull(octet_length (key_2), 0) + ifnull(octet_length (delivery), 0) + ifnull(octet_length (record), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, resource, null) as resource, iif(excess is null, key_0, null) as key_0,
  iif(excess is null, key_1, null) as key_1, iif(excess is null, key_2, null) as key_2,
  iif(excess is null, delivery, null) as delivery, iif(excess is null, record, null) as record,
  excess
from
  e
  cross join p
order by resource, key_0, key_1, key_2;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MATERIALIZE k
--           CO-ROUTINE (subquery-1)
--             SEARCH events USING COVERING INDEX events_held (account=? AND (customer_id,day,id)>(?,?,?))
--           SCAN (subquery-1)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the number of held records.
select coalesce(sum(held), 0) as total
from totals
where account = :account;
-- Query plan:
--   SEARCH totals USING PRIMARY KEY (account=?)
