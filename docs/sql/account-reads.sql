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
from
  (
    select 1
    from deliveries
    where
      account = :account
      and id >= :oldest
    limit 100001
  );
-- Query plan:
--   CO-ROUTINE (subquery-1)
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id>?)
--   SCAN (subquery-1)

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
      k.*, case resource
        when 'transactions' then t0.delivery
        when 'trading-activity' then t1.delivery
      end as delivery, case resource
        when 'transactions' then json_object(
          'transaction_id', t0.transaction_id, 'customer_id', t0.customer_id, 'transaction_type',
          t0.transaction_type, 'amount_currency', t0.amount_currency, 'currency', t0.currency,
          'transaction_date', t0.transaction_date, 'status', t0.status, 'amount_usd', t0.amount_usd,
          'transaction_subtype', t0.transaction_subtype, 'note', t0.note
        )
        when 'trading-activity' then json_object(
          'date', t1.date, 'customer_id', t1.customer_id, 'instrument', t1.instrument,
          'lots_traded', t1.lots_traded, 'currency', t1.currency, 'pnl', t1.pnl, 'volume_usd',
          t1.volume_usd, 'spread_cost', t1.spread_cost, 'commission', t1.commission
        )
      end as record
    from
      k
      left join transactions t0 on k.resource = 'transactions'
      and t0.account = :account
      and t0.customer_id = k.key_0
      and t0.day = k.key_1
      and t0.transaction_id = k.key_2
      left join activity t1 on k.resource = 'trading-activity'
      and t1.account = :account
      and t1.customer_id = k.key_0
      and t1.date = k.key_1
      and t1.instrument = k.key_2
      and t1.currency = k.key_3
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
--           MERGE (UNION ALL)
--             LEFT
--               CO-ROUTINE (subquery-1)
--                 SEARCH transactions USING COVERING INDEX transactions_held (account=?)
--               SCAN (subquery-1)
--               USE TEMP B-TREE FOR ORDER BY
--             RIGHT
--               CO-ROUTINE (subquery-3)
--                 SEARCH activity USING COVERING INDEX activity_held (account=?)
--               SCAN (subquery-3)
--               USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t0 USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND transaction_id=?) LEFT-JOIN
--         SEARCH t1 USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?) LEFT-JOIN
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
      k.*, case resource
        when 'transactions' then t0.delivery
      end as delivery, case resource
        when 'transactions' then json_object(
          'transaction_id', t0.transaction_id, 'customer_id', t0.customer_id, 'transaction_type',
          t0.transaction_type, 'amount_currency', t0.amount_currency, 'currency', t0.currency,
          'transaction_date', t0.transaction_date, 'status', t0.status, 'amount_usd', t0.amount_usd,
          'transaction_subtype', t0.transaction_subtype, 'note', t0.note
        )
      end as record
    from
      k
      left join transactions t0 on k.resource = 'transactions'
      and t0.account = :account
      and t0.customer_id = k.key_0
      and t0.day = k.key_1
      and t0.transaction_id = k.key_2
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
--         SEARCH t0 USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND transaction_id=?) LEFT-JOIN
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
    select
      k.*, case resource
        when 'activities' then t0.delivery
      end as delivery, case resource
        when 'activities' then json_object('id', t0.id, 'record', t0.record)
      end as record
    from
      k
      left join events t0 on k.resource = 'activities'
      and t0.account = :account
      and t0.customer_id = k.key_0
      and t0.day = k.key_1
      and t0.id = k.key_2
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
--         SEARCH t0 USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND id=?) LEFT-JOIN
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
    select
      k.*, case resource
        when 'activities' then t0.delivery
      end as delivery, case resource
        when 'activities' then json_object('id', t0.id, 'record', t0.record)
      end as record
    from
      k
      left join events t0 on k.resource = 'activities'
      and t0.account = :account
      and t0.customer_id = k.key_0
      and t0.day = k.key_1
      and t0.id = k.key_2
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
--         SEARCH t0 USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND id=?) LEFT-JOIN
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- held
-- Reads the number of held records.
select max(coalesce(sum(held), 0), 0) as total
from totals
where account = :account;
-- Query plan:
--   SEARCH totals USING PRIMARY KEY (account=?)
