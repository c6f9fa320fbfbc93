-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Reads brand-activities: lists, one record, control totals.

-- list
-- Reads the first page of all records.
with
  p as materialized (
    select id, record
    from events indexed by events_key
    where
      account = :account
      and held = 0
    order by id
    limit 51
    offset
      0
  ),
  b as materialized (
    select sum(ifnull(octet_length (id), 0) + ifnull(octet_length (record), 0)) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select iif(excess is null, id, null) as id, iif(excess is null, record, null) as record, excess
from
  e
  cross join p
order by id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING INDEX events_key (account=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of all records.
with
  p as materialized (
    select id, record
    from events indexed by events_key
    where
      account = :account
      and held = 0
      and (id) > (:after_0)
    order by id
    limit 51
    offset
      0
  ),
  b as materialized (
    select sum(ifnull(octet_length (id), 0) + ifnull(octet_length (record), 0)) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select iif(excess is null, id, null) as id, iif(excess is null, record, null) as record, excess
from
  e
  cross join p
order by id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING INDEX events_key (account=? AND id>?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Counts all records.
select total
from totals
where
  account = :account
  and resource = :resource;
-- Query plan:
--   SEARCH totals USING PRIMARY KEY (account=? AND resource=?)

-- list
-- Finds the days with records of a customer.
with recursive
  days (next_day, visited_day, here, before, visited) as (
    select
      (
        select min(day)
        from events not indexed
        where
          account = :account
          and day >= :first_day
          and day <= :last_day
      ),
      null, 0, 0, 0
    union all
    select
      (
        select min(day)
        from events not indexed
        where
          account = :account
          and day > d.next_day
          and day <= :last_day
      ),
      d.next_day,
      (
        select count(*)
        from
          (
            select 1
            from events not indexed
            where
              account = :account
              and day = d.next_day
              and customer_id = :customer_id
              and held = 0
            limit :enough + 1
          )
      ),
      d.before + d.here, d.visited + 1
    from days d
    where
      d.next_day is not null
      and d.before + d.here <= :enough
      and d.visited <= 4000
  )
select
  json_group_array(visited_day) filter (where here > 0) as days,
  max(before + here) as matches, max(visited) as visited
from days;
-- Query plan:
--   CO-ROUTINE days
--     SETUP
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 1
--         SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--     RECURSIVE STEP
--       SCAN d
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--       CORRELATED SCALAR SUBQUERY 5
--         CO-ROUTINE (subquery-4)
--           SEARCH events USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--         SCAN (subquery-4)
--   SCAN days

-- list
-- Reads the first page of the records of a customer.
with
  p as materialized (
    select id, record, day
    from events not indexed
    where
      account = :account
      and customer_id = :customer_id
      and held = 0
      and day in (
        select value
        from json_each(:days)
      )
    order by day, id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(ifnull(octet_length (id), 0) + ifnull(octet_length (record), 0) + ifnull(octet_length (day), 0)) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, id, null) as id, iif(excess is null, record, null) as record,
  iif(excess is null, day, null) as day, excess
from
  e
  cross join p
order by day, id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--         LIST SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Finds the days with records of a customer behind a cursor's day.
with recursive
  days (next_day, visited_day, here, before, visited) as (
    select
      (
        select min(day)
        from events not indexed
        where
          account = :account
          and day > :after_0
          and day <= :last_day
      ),
      null, 0, 0, 0
    union all
    select
      (
        select min(day)
        from events not indexed
        where
          account = :account
          and day > d.next_day
          and day <= :last_day
      ),
      d.next_day,
      (
        select count(*)
        from
          (
            select 1
            from events not indexed
            where
              account = :account
              and day = d.next_day
              and customer_id = :customer_id
              and held = 0
            limit :enough + 1
          )
      ),
      d.before + d.here, d.visited + 1
    from days d
    where
      d.next_day is not null
      and d.before + d.here <= :enough
      and d.visited <= 4000
  )
select
  json_group_array(visited_day) filter (where here > 0) as days,
  max(before + here) as matches, max(visited) as visited
from days;
-- Query plan:
--   CO-ROUTINE days
--     SETUP
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 1
--         SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--     RECURSIVE STEP
--       SCAN d
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--       CORRELATED SCALAR SUBQUERY 5
--         CO-ROUTINE (subquery-4)
--           SEARCH events USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--         SCAN (subquery-4)
--   SCAN days

-- list
-- Reads the page after a cursor of the records of a customer.
with
  p as materialized (
    select id, record, day
    from
      (
        select id, record, day
        from events not indexed
        where
          account = :account
          and customer_id = :customer_id
          and held = 0
          and day = :after_0
          and (id) > (:after_1)
        union all
        select id, record, day
        from events not indexed
        where
          account = :account
          and customer_id = :customer_id
          and held = 0
          and day in (
            select value
            from json_each(:days)
          )
      )
    order by day, id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(ifnull(octet_length (id), 0) + ifnull(octet_length (record), 0) + ifnull(octet_length (day), 0)) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, id, null) as id, iif(excess is null, record, null) as record,
  iif(excess is null, day, null) as day, excess
from
  e
  cross join p
order by day, id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MERGE (UNION ALL)
--           LEFT
--             SEARCH events USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND id>?)
--           RIGHT
--             SEARCH events USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--             LIST SUBQUERY 2
--               SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the first page of the records of some days.
with
  p as materialized (
    select id, record, day, customer_id
    from events not indexed
    where
      account = :account
      and held = 0
      and day <= :last_day
      and day >= :first_day
    order by day, customer_id, id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (id), 0) + ifnull(octet_length (record), 0) + ifnull(octet_length (day), 0) + ifnull(octet_length (customer_id), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, id, null) as id, iif(excess is null, record, null) as record,
  iif(excess is null, day, null) as day, iif(excess is null, customer_id, null) as customer_id,
  excess
from
  e
  cross join p
order by day, customer_id, id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of the records of some days.
with
  p as materialized (
    select id, record, day, customer_id
    from events not indexed
    where
      account = :account
      and held = 0
      and day <= :last_day
      and (day, customer_id, id) > (:after_0, :after_1, :after_2)
    order by day, customer_id, id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (id), 0) + ifnull(octet_length (record), 0) + ifnull(octet_length (day), 0) + ifnull(octet_length (customer_id), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, id, null) as id, iif(excess is null, record, null) as record,
  iif(excess is null, day, null) as day, iif(excess is null, customer_id, null) as customer_id,
  excess
from
  e
  cross join p
order by day, customer_id, id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH events USING PRIMARY KEY (account=? AND (day,customer_id,id)>(?,?,?) AND day<?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Counts the records of some days.
select count(*) as total
from
  (
    select 1
    from events not indexed
    where
      account = :account
      and held = 0
      and day <= :last_day
      and day >= :first_day
    limit 100001
  );
-- Query plan:
--   CO-ROUTINE (subquery-1)
--     SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--   SCAN (subquery-1)

-- findRecord
-- Reads one record.
select id, record
from events
where
  account = :account
  and id = :id
  and held = 0;
-- Query plan:
--   SEARCH events USING INDEX events_key (account=? AND id=?)

-- keptDays
-- Reads the kept totals of the days with records.
with
  p as materialized (
    with recursive
      days (stored_day) as (
        select min(day)
        from events not indexed
        where
          account = :account
          and day <= :last_day
          and day >= :first_day
        union all
        select
          (
            select min(day)
            from events not indexed
            where
              account = :account
              and day <= :last_day
              and day > stored_day
          )
        from days
        where stored_day is not null
      )
    select stored_day as day, totals
    from
      days
      left join day_totals k on k.account = :account
      and k.resource = :resource
      and k.day = stored_day
      and k.form = :form
    where stored_day is not null
  ),
  b as materialized (
    select sum(ifnull(octet_length (day), 0) + ifnull(octet_length (totals), 0)) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select iif(excess is null, day, null) as day, iif(excess is null, totals, null) as totals, excess
from
  e
  cross join p
order by day;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         CO-ROUTINE days
--           SETUP
--             SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--           RECURSIVE STEP
--             SCAN days
--             CORRELATED SCALAR SUBQUERY 2
--               SEARCH events USING PRIMARY KEY (account=? AND day>? AND day<?)
--         SCAN days
--         SEARCH k USING PRIMARY KEY (account=? AND resource=? AND day=?) LEFT-JOIN
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- stepEnd
-- Finds the last record of a step that sums.
select day, customer_id, id
from events not indexed
where
  account = :account
  and day <= :last_day
  and (day, customer_id, id) > (:after_0, :after_1, :after_2)
order by day, customer_id, id
limit 1
offset
  :step - 1;
-- Query plan:
--   SEARCH events USING PRIMARY KEY (account=? AND (day,customer_id,id)>(?,?,?) AND day<?)

-- sumStep
-- Sums the records of a step by day.
with
  p as materialized (
    select
      day as day, eventname as eventname, product as product, currency as currency,
      count(*) as count, sum(cast(amount as integer) / 1000000) as amount_0,
      sum(cast(amount as integer) % 1000000) as amount_1,
      sum(
        cast(
          round(
            (amount - cast(amount as integer)) * case
              when abs(amount) < 1e3 then 1e12
              when abs(amount) < 1e4 then 1e11
              when abs(amount) < 1e5 then 1e10
              when abs(amount) < 1e6 then 1e9
              when abs(amount) < 1e7 then 1e8
              when abs(amount) < 1e8 then 1e7
              when abs(amount) < 1e9 then 1e6
              when abs(amount) < 1e10 then 1e5
              when abs(amount) < 1e11 then 1e4
              when abs(amount) < 1e12 then 1e3
              when abs(amount) < 1e13 then 1e2
              when abs(amount) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(amount) < 1e3 then 1e12
              when abs(amount) < 1e4 then 1e11
              when abs(amount) < 1e5 then 1e10
              when abs(amount) < 1e6 then 1e9
              when abs(amount) < 1e7 then 1e8
              when abs(amount) < 1e8 then 1e7
              when abs(amount) < 1e9 then 1e6
              when abs(amount) < 1e10 then 1e5
              when abs(amount) < 1e11 then 1e4
              when abs(amount) < 1e12 then 1e3
              when abs(amount) < 1e13 then 1e2
              when abs(amount) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as amount_2,
      sum(
        cast(
          round(
            (amount - cast(amount as integer)) * case
              when abs(amount) < 1e3 then 1e12
              when abs(amount) < 1e4 then 1e11
              when abs(amount) < 1e5 then 1e10
              when abs(amount) < 1e6 then 1e9
              when abs(amount) < 1e7 then 1e8
              when abs(amount) < 1e8 then 1e7
              when abs(amount) < 1e9 then 1e6
              when abs(amount) < 1e10 then 1e5
              when abs(amount) < 1e11 then 1e4
              when abs(amount) < 1e12 then 1e3
              when abs(amount) < 1e13 then 1e2
              when abs(amount) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(amount) < 1e3 then 1e12
              when abs(amount) < 1e4 then 1e11
              when abs(amount) < 1e5 then 1e10
              when abs(amount) < 1e6 then 1e9
              when abs(amount) < 1e7 then 1e8
              when abs(amount) < 1e8 then 1e7
              when abs(amount) < 1e9 then 1e6
              when abs(amount) < 1e10 then 1e5
              when abs(amount) < 1e11 then 1e4
              when abs(amount) < 1e12 then 1e3
              when abs(amount) < 1e13 then 1e2
              when abs(amount) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as amount_3
    from
      (
        select day, held, eventname, product, currency, amount
        from events not indexed
        where
          account = :account
          and day <= :last_day
          and (day, customer_id, id) > (:after_0, :after_1, :after_2)
        order by day, customer_id, id
        limit :step
      )
    where held = 0
    group by day, eventname, product, currency
    limit 50001
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (day), 0) + ifnull(octet_length (eventname), 0) + ifnull(octet_length (product), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (count), 0) + ifnull(octet_length (amount_0), 0) + ifnull(octet_length (amount_1), 0) + ifnull(octet_length (amount_2), 0) + ifnull(octet_length (amount_3), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, day, null) as day, iif(excess is null, eventname, null) as eventname,
  iif(excess is null, product, null) as product, iif(excess is null, currency, null) as currency,
  iif(excess is null, count, null) as count, iif(excess is null, amount_0, null) as amount_0,
  iif(excess is null, amount_1, null) as amount_1, iif(excess is null, amount_2, null) as amount_2,
  iif(excess is null, amount_3, null) as amount_3, excess
from
  e
  cross join p
order by day;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         CO-ROUTINE (subquery-1)
--           SEARCH events USING PRIMARY KEY (account=? AND (day,customer_id,id)>(?,?,?) AND day<?)
--         SCAN (subquery-1)
--         USE TEMP B-TREE FOR GROUP BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- sumKpisStep
-- Sums the KPIs of a step by day.
with
  p as materialized (
    select
      day as day, eventname as eventname, product as product, currency as currency, k.key as kpi,
      sum(cast(k.value as integer) / 1000000) as sum_0,
      sum(cast(k.value as integer) % 1000000) as sum_1,
      sum(
        cast(
          round(
            (k.value - cast(k.value as integer)) * case
              when abs(k.value) < 1e3 then 1e12
              when abs(k.value) < 1e4 then 1e11
              when abs(k.value) < 1e5 then 1e10
              when abs(k.value) < 1e6 then 1e9
              when abs(k.value) < 1e7 then 1e8
              when abs(k.value) < 1e8 then 1e7
              when abs(k.value) < 1e9 then 1e6
              when abs(k.value) < 1e10 then 1e5
              when abs(k.value) < 1e11 then 1e4
              when abs(k.value) < 1e12 then 1e3
              when abs(k.value) < 1e13 then 1e2
              when abs(k.value) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(k.value) < 1e3 then 1e12
              when abs(k.value) < 1e4 then 1e11
              when abs(k.value) < 1e5 then 1e10
              when abs(k.value) < 1e6 then 1e9
              when abs(k.value) < 1e7 then 1e8
              when abs(k.value) < 1e8 then 1e7
              when abs(k.value) < 1e9 then 1e6
              when abs(k.value) < 1e10 then 1e5
              when abs(k.value) < 1e11 then 1e4
              when abs(k.value) < 1e12 then 1e3
              when abs(k.value) < 1e13 then 1e2
              when abs(k.value) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as sum_2,
      sum(
        cast(
          round(
            (k.value - cast(k.value as integer)) * case
              when abs(k.value) < 1e3 then 1e12
              when abs(k.value) < 1e4 then 1e11
              when abs(k.value) < 1e5 then 1e10
              when abs(k.value) < 1e6 then 1e9
              when abs(k.value) < 1e7 then 1e8
              when abs(k.value) < 1e8 then 1e7
              when abs(k.value) < 1e9 then 1e6
              when abs(k.value) < 1e10 then 1e5
              when abs(k.value) < 1e11 then 1e4
              when abs(k.value) < 1e12 then 1e3
              when abs(k.value) < 1e13 then 1e2
              when abs(k.value) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(k.value) < 1e3 then 1e12
              when abs(k.value) < 1e4 then 1e11
              when abs(k.value) < 1e5 then 1e10
              when abs(k.value) < 1e6 then 1e9
              when abs(k.value) < 1e7 then 1e8
              when abs(k.value) < 1e8 then 1e7
              when abs(k.value) < 1e9 then 1e6
              when abs(k.value) < 1e10 then 1e5
              when abs(k.value) < 1e11 then 1e4
              when abs(k.value) < 1e12 then 1e3
              when abs(k.value) < 1e13 then 1e2
              when abs(k.value) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as sum_3
    from
      (
        select day, held, eventname, product, currency, kpis
        from events not indexed
        where
          account = :account
          and day <= :last_day
          and (day, customer_id, id) > (:after_0, :after_1, :after_2)
        order by day, customer_id, id
        limit :step
      )
      cross join json_each(kpis) k
    where held = 0
    group by day, eventname, product, currency, k.key
    limit 50001
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (day), 0) + ifnull(octet_length (eventname), 0) + ifnull(octet_length (product), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (kpi), 0) + ifnull(octet_length (sum_0), 0) + ifnull(octet_length (sum_1), 0) + ifnull(octet_length (sum_2), 0) + ifnull(octet_length (sum_3), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, day, null) as day, iif(excess is null, eventname, null) as eventname,
  iif(excess is null, product, null) as product, iif(excess is null, currency, null) as currency,
  iif(excess is null, kpi, null) as kpi, iif(excess is null, sum_0, null) as sum_0,
  iif(excess is null, sum_1, null) as sum_1, iif(excess is null, sum_2, null) as sum_2,
  iif(excess is null, sum_3, null) as sum_3, excess
from
  e
  cross join p
order by day;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         CO-ROUTINE (subquery-1)
--           SEARCH events USING PRIMARY KEY (account=? AND (day,customer_id,id)>(?,?,?) AND day<?)
--         SCAN (subquery-1)
--         SCAN k VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR GROUP BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY
