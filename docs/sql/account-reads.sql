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

-- search
-- Finds deliveries by code.
select
  d.id, d.received_at, d.resource, d.form, d.lenient, d.dry_run, d.received, d.errors_total,
  d.rejected, d.refused, d.held, d.stale, d.created, d.written, d.held_written, d.hold_refused,
  null as found_records, null as found_keys
from
  (
    with recursive
      walk (day, id) as (
        select :last_day, :before
        union all
        select
          iif(w.id is null, w.day - 1, w.day),
          (
            select
              max(
                (
                  select max(delivery)
                  from delivery_terms t
                  where
                    t.account = :account
                    and t.day = iif(w.id is null, w.day - 1, w.day)
                    and t.term = j.value
                    and t.delivery < coalesce(w.id, 'dlv_~')
                )
              )
            from jsonb_each (:terms) j
          )
        from walk w
        where
          w.id is not null
          or w.day > :first_day
        limit 10000
      )
    select id
    from walk
    where
      id >= :oldest
      and id < :before
  ) s
  cross join deliveries d on d.account = :account
  and d.id = s.id
where
  true
  and d.resource = :resource
limit 51
offset
  0;
-- Query plan:
--   CO-ROUTINE walk
--     SETUP
--       SCAN CONSTANT ROW
--     RECURSIVE STEP
--       SCAN w
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH j VIRTUAL TABLE INDEX 1:
--         CORRELATED SCALAR SUBQUERY 2
--           SEARCH t USING PRIMARY KEY (account=? AND day=? AND term=? AND delivery<?)
--   SCAN walk
--   SEARCH d USING PRIMARY KEY (account=? AND id=?)

-- count
-- Counts the deliveries by code.
select
  count(*) filter (
    where
      d.id is not null
      and true
      and d.resource = :resource
  ) as total,
  count(*) as searched, min(s.id) as last
from
  (
    with recursive
      walk (day, id) as (
        select :last_day, :before
        union all
        select
          iif(w.id is null, w.day - 1, w.day),
          (
            select
              max(
                (
                  select max(delivery)
                  from delivery_terms t
                  where
                    t.account = :account
                    and t.day = iif(w.id is null, w.day - 1, w.day)
                    and t.term = j.value
                    and t.delivery < coalesce(w.id, 'dlv_~')
                )
              )
            from jsonb_each (:terms) j
          )
        from walk w
        where
          w.id is not null
          or w.day > :first_day
        limit 10000
      )
    select id
    from walk
    where
      id >= :oldest
      and id < :before
  ) s
  left join deliveries d on d.account = :account
  and d.id = s.id;
-- Query plan:
--   CO-ROUTINE walk
--     SETUP
--       SCAN CONSTANT ROW
--     RECURSIVE STEP
--       SCAN w
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH j VIRTUAL TABLE INDEX 1:
--         CORRELATED SCALAR SUBQUERY 2
--           SEARCH t USING PRIMARY KEY (account=? AND day=? AND term=? AND delivery<?)
--   SCAN walk
--   SEARCH d USING PRIMARY KEY (account=? AND id=?) LEFT-JOIN

-- search
-- Finds deliveries of a record.
select
  d.id, d.received_at, d.resource, d.form, d.lenient, d.dry_run, d.received, d.errors_total,
  d.rejected, d.refused, d.held, d.stale, d.created, d.written, d.held_written, d.hold_refused,
  (
    select
      json_group_array(
        json_array(
          r.value ->> 0,
          (
            select json_group_array(json(d.errors -> ('$.kinds[' || k.value || ']')))
            from json_each(r.value, '$[1]') k
          ),
          r.value ->> 2, r.value -> 3
        )
      )
    from json_each(d.errors, '$.records') r
    where
      r.value ->> 2 in (
        select value
        from json_each(:record_ids)
      )
  ) as found_records,
  (
    select json_group_array(json(r.value))
    from json_each(d.unknown_keys) r
    where
      iif(
        d.resource = 'trading-activity', r.value ->> 2,
        iif(
          d.resource <> 'activities', r.value ->> 1,
          iif(r.value ->> 1 like 'e %', substr(r.value ->> 1, 3), r.value ->> 2)
        )
      ) in (
        select value
        from json_each(:record_ids)
      )
  ) as found_keys
from
  (
    select id
    from
      (
        with recursive
          walk (day, id) as (
            select :last_day, :before
            union all
            select
              iif(w.id is null, w.day - 1, w.day),
              (
                select
                  max(
                    (
                      select max(delivery)
                      from delivery_terms t
                      where
                        t.account = :account
                        and t.day = iif(w.id is null, w.day - 1, w.day)
                        and t.term = j.value
                        and t.delivery < coalesce(w.id, 'dlv_~')
                    )
                  )
                from jsonb_each (:terms) j
              )
            from walk w
            where
              w.id is not null
              or w.day > :first_day
            limit 10000
          )
        select id
        from walk
        where
          id >= :oldest
          and id < :before
        union
        select value
        from jsonb_each (:stored_by)
        where
          value >= :oldest
          and value < :before
      )
    order by id desc
    limit 10000
  ) s
  cross join deliveries d on d.account = :account
  and d.id = s.id
where
  true
  and exists (
    select 1
    from delivery_terms c
    where
      c.account = :account
      and c.day = d.received_at / 86400000
      and c.term = :code_term
      and c.delivery = d.id
  )
limit 51
offset
  0;
-- Query plan:
--   CO-ROUTINE s
--     CO-ROUTINE (subquery-11)
--       MERGE (UNION)
--         LEFT
--           CO-ROUTINE walk
--             SETUP
--               SCAN CONSTANT ROW
--             RECURSIVE STEP
--               SCAN w
--               CORRELATED SCALAR SUBQUERY 8
--                 SEARCH j VIRTUAL TABLE INDEX 1:
--                 CORRELATED SCALAR SUBQUERY 7
--                   SEARCH t USING PRIMARY KEY (account=? AND day=? AND term=? AND delivery<?)
--           SCAN walk
--           USE TEMP B-TREE FOR ORDER BY
--         RIGHT
--           SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--           USE TEMP B-TREE FOR ORDER BY
--     SCAN (subquery-11)
--     USE TEMP B-TREE FOR ORDER BY
--   SCAN s
--   SEARCH d USING PRIMARY KEY (account=? AND id=?)
--   CORRELATED SCALAR SUBQUERY 13
--     SEARCH c USING PRIMARY KEY (account=? AND day=? AND term=? AND delivery=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SCAN r VIRTUAL TABLE INDEX 3:
--     LIST SUBQUERY 2
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--     CORRELATED SCALAR SUBQUERY 1
--       SCAN k VIRTUAL TABLE INDEX 3:
--   CORRELATED SCALAR SUBQUERY 5
--     SCAN r VIRTUAL TABLE INDEX 1:
--     LIST SUBQUERY 4
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER

-- count
-- Counts the deliveries of a record.
select
  count(*) filter (
    where
      d.id is not null
      and true
      and exists (
        select 1
        from delivery_terms c
        where
          c.account = :account
          and c.day = d.received_at / 86400000
          and c.term = :code_term
          and c.delivery = d.id
      )
  ) as total,
  count(*) as searched, min(s.id) as last
from
  (
    select id
    from
      (
        with recursive
          walk (day, id) as (
            select :last_day, :before
            union all
            select
              iif(w.id is null, w.day - 1, w.day),
              (
                select
                  max(
                    (
                      select max(delivery)
                      from delivery_terms t
                      where
                        t.account = :account
                        and t.day = iif(w.id is null, w.day - 1, w.day)
                        and t.term = j.value
                        and t.delivery < coalesce(w.id, 'dlv_~')
                    )
                  )
                from jsonb_each (:terms) j
              )
            from walk w
            where
              w.id is not null
              or w.day > :first_day
            limit 10000
          )
        select id
        from walk
        where
          id >= :oldest
          and id < :before
        union
        select value
        from jsonb_each (:stored_by)
        where
          value >= :oldest
          and value < :before
      )
    order by id desc
    limit 10000
  ) s
  left join deliveries d on d.account = :account
  and d.id = s.id;
-- Query plan:
--   CO-ROUTINE s
--     CO-ROUTINE (subquery-7)
--       MERGE (UNION)
--         LEFT
--           CO-ROUTINE walk
--             SETUP
--               SCAN CONSTANT ROW
--             RECURSIVE STEP
--               SCAN w
--               CORRELATED SCALAR SUBQUERY 4
--                 SEARCH j VIRTUAL TABLE INDEX 1:
--                 CORRELATED SCALAR SUBQUERY 3
--                   SEARCH t USING PRIMARY KEY (account=? AND day=? AND term=? AND delivery<?)
--           SCAN walk
--           USE TEMP B-TREE FOR ORDER BY
--         RIGHT
--           SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--           USE TEMP B-TREE FOR ORDER BY
--     SCAN (subquery-7)
--     USE TEMP B-TREE FOR ORDER BY
--   SCAN s
--   SEARCH d USING PRIMARY KEY (account=? AND id=?) LEFT-JOIN
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH c USING PRIMARY KEY (account=? AND day=? AND term=? AND delivery=?)

-- search
-- Finds deliveries by status.
select
  d.id, d.received_at, d.resource, d.form, d.lenient, d.dry_run, d.received, d.errors_total,
  d.rejected, d.refused, d.held, d.stale, d.created, d.written, d.held_written, d.hold_refused,
  null as found_records, null as found_keys
from
  (
    select id
    from deliveries
    where
      account = :account
      and id >= :oldest
      and id < :before
    order by id desc
    limit 10000
  ) s
  cross join deliveries d on d.account = :account
  and d.id = s.id
where
  true
  and d.errors_total = 0
  and not (
    d.errors_total = 0
    and d.form = 'object'
    and d.created = 1
  )
limit 51
offset
  0;
-- Query plan:
--   CO-ROUTINE s
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id>? AND id<?)
--   SCAN s
--   SEARCH d USING PRIMARY KEY (account=? AND id=?)

-- count
-- Counts the deliveries by status.
select
  count(*) filter (
    where
      d.id is not null
      and true
      and d.errors_total = 0
      and not (
        d.errors_total = 0
        and d.form = 'object'
        and d.created = 1
      )
  ) as total,
  count(*) as searched, min(s.id) as last
from
  (
    select id
    from deliveries
    where
      account = :account
      and id >= :oldest
      and id < :before
    order by id desc
    limit 10000
  ) s
  left join deliveries d on d.account = :account
  and d.id = s.id;
-- Query plan:
--   CO-ROUTINE s
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id>? AND id<?)
--   SCAN s
--   SEARCH d USING PRIMARY KEY (account=? AND id=?) LEFT-JOIN

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
