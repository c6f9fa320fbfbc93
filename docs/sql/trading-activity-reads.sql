-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Reads trading-activity: lists, one record, control totals.

-- list
-- Reads the first page of all records.
with
  p as materialized (
    select
      date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
    from activity not indexed
    where
      account = :account
      and held = 0
    order by date, customer_id, instrument, currency
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (date), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (instrument), 0) + ifnull(octet_length (lots_traded), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (pnl), 0) + ifnull(octet_length (volume_usd), 0) + ifnull(octet_length (spread_cost), 0) + ifnull(octet_length (commission), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, date, null) as date, iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, instrument, null) as instrument,
  iif(excess is null, lots_traded, null) as lots_traded,
  iif(excess is null, currency, null) as currency, iif(excess is null, pnl, null) as pnl,
  iif(excess is null, volume_usd, null) as volume_usd,
  iif(excess is null, spread_cost, null) as spread_cost,
  iif(excess is null, commission, null) as commission, excess
from
  e
  cross join p
order by date, customer_id, instrument, currency;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH activity USING PRIMARY KEY (account=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of all records.
with
  p as materialized (
    select
      date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
    from activity not indexed
    where
      account = :account
      and held = 0
      and (date, customer_id, instrument, currency) > (:after_0, :after_1, :after_2, :after_3)
    order by date, customer_id, instrument, currency
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (date), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (instrument), 0) + ifnull(octet_length (lots_traded), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (pnl), 0) + ifnull(octet_length (volume_usd), 0) + ifnull(octet_length (spread_cost), 0) + ifnull(octet_length (commission), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, date, null) as date, iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, instrument, null) as instrument,
  iif(excess is null, lots_traded, null) as lots_traded,
  iif(excess is null, currency, null) as currency, iif(excess is null, pnl, null) as pnl,
  iif(excess is null, volume_usd, null) as volume_usd,
  iif(excess is null, spread_cost, null) as spread_cost,
  iif(excess is null, commission, null) as commission, excess
from
  e
  cross join p
order by date, customer_id, instrument, currency;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH activity USING PRIMARY KEY (account=? AND (date,customer_id,instrument,currency)>(?,?,?,?))
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
        select min(date)
        from activity not indexed
        where
          account = :account
          and date >= :first_day
          and date <= :last_day
      ),
      null, 0, 0, 0
    union all
    select
      (
        select min(date)
        from activity not indexed
        where
          account = :account
          and date > d.next_day
          and date <= :last_day
      ),
      d.next_day,
      (
        select count(*)
        from
          (
            select 1
            from activity not indexed
            where
              account = :account
              and date = d.next_day
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
--         SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--     RECURSIVE STEP
--       SCAN d
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--       CORRELATED SCALAR SUBQUERY 5
--         CO-ROUTINE (subquery-4)
--           SEARCH activity USING PRIMARY KEY (account=? AND date=? AND customer_id=?)
--         SCAN (subquery-4)
--   SCAN days

-- list
-- Reads the first page of the records of a customer.
with
  p as materialized (
    select
      date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
    from activity not indexed
    where
      account = :account
      and customer_id = :customer_id
      and held = 0
      and date in (
        select value
        from json_each(:days)
      )
    order by date, instrument, currency
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (date), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (instrument), 0) + ifnull(octet_length (lots_traded), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (pnl), 0) + ifnull(octet_length (volume_usd), 0) + ifnull(octet_length (spread_cost), 0) + ifnull(octet_length (commission), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, date, null) as date, iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, instrument, null) as instrument,
  iif(excess is null, lots_traded, null) as lots_traded,
  iif(excess is null, currency, null) as currency, iif(excess is null, pnl, null) as pnl,
  iif(excess is null, volume_usd, null) as volume_usd,
  iif(excess is null, spread_cost, null) as spread_cost,
  iif(excess is null, commission, null) as commission, excess
from
  e
  cross join p
order by date, instrument, currency;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH activity USING PRIMARY KEY (account=? AND date=? AND customer_id=?)
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
        select min(date)
        from activity not indexed
        where
          account = :account
          and date > :after_0
          and date <= :last_day
      ),
      null, 0, 0, 0
    union all
    select
      (
        select min(date)
        from activity not indexed
        where
          account = :account
          and date > d.next_day
          and date <= :last_day
      ),
      d.next_day,
      (
        select count(*)
        from
          (
            select 1
            from activity not indexed
            where
              account = :account
              and date = d.next_day
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
--         SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--     RECURSIVE STEP
--       SCAN d
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--       CORRELATED SCALAR SUBQUERY 5
--         CO-ROUTINE (subquery-4)
--           SEARCH activity USING PRIMARY KEY (account=? AND date=? AND customer_id=?)
--         SCAN (subquery-4)
--   SCAN days

-- list
-- Reads the page after a cursor of the records of a customer.
with
  p as materialized (
    select
      date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
    from
      (
        select
          date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost,
          commission
        from activity not indexed
        where
          account = :account
          and customer_id = :customer_id
          and held = 0
          and date = :after_0
          and (instrument, currency) > (:after_1, :after_2)
        union all
        select
          date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost,
          commission
        from activity not indexed
        where
          account = :account
          and customer_id = :customer_id
          and held = 0
          and date in (
            select value
            from json_each(:days)
          )
      )
    order by date, instrument, currency
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (date), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (instrument), 0) + ifnull(octet_length (lots_traded), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (pnl), 0) + ifnull(octet_length (volume_usd), 0) + ifnull(octet_length (spread_cost), 0) + ifnull(octet_length (commission), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, date, null) as date, iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, instrument, null) as instrument,
  iif(excess is null, lots_traded, null) as lots_traded,
  iif(excess is null, currency, null) as currency, iif(excess is null, pnl, null) as pnl,
  iif(excess is null, volume_usd, null) as volume_usd,
  iif(excess is null, spread_cost, null) as spread_cost,
  iif(excess is null, commission, null) as commission, excess
from
  e
  cross join p
order by date, instrument, currency;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MERGE (UNION ALL)
--           LEFT
--             SEARCH activity USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND (instrument,currency)>(?,?))
--           RIGHT
--             SEARCH activity USING PRIMARY KEY (account=? AND date=? AND customer_id=?)
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
    select
      date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
    from activity not indexed
    where
      account = :account
      and held = 0
      and date <= :last_day
      and date >= :first_day
    order by date, customer_id, instrument, currency
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (date), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (instrument), 0) + ifnull(octet_length (lots_traded), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (pnl), 0) + ifnull(octet_length (volume_usd), 0) + ifnull(octet_length (spread_cost), 0) + ifnull(octet_length (commission), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, date, null) as date, iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, instrument, null) as instrument,
  iif(excess is null, lots_traded, null) as lots_traded,
  iif(excess is null, currency, null) as currency, iif(excess is null, pnl, null) as pnl,
  iif(excess is null, volume_usd, null) as volume_usd,
  iif(excess is null, spread_cost, null) as spread_cost,
  iif(excess is null, commission, null) as commission, excess
from
  e
  cross join p
order by date, customer_id, instrument, currency;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of the records of some days.
with
  p as materialized (
    select
      date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
    from activity not indexed
    where
      account = :account
      and held = 0
      and date <= :last_day
      and (date, customer_id, instrument, currency) > (:after_0, :after_1, :after_2, :after_3)
    order by date, customer_id, instrument, currency
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (date), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (instrument), 0) + ifnull(octet_length (lots_traded), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (pnl), 0) + ifnull(octet_length (volume_usd), 0) + ifnull(octet_length (spread_cost), 0) + ifnull(octet_length (commission), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, date, null) as date, iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, instrument, null) as instrument,
  iif(excess is null, lots_traded, null) as lots_traded,
  iif(excess is null, currency, null) as currency, iif(excess is null, pnl, null) as pnl,
  iif(excess is null, volume_usd, null) as volume_usd,
  iif(excess is null, spread_cost, null) as spread_cost,
  iif(excess is null, commission, null) as commission, excess
from
  e
  cross join p
order by date, customer_id, instrument, currency;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH activity USING PRIMARY KEY (account=? AND (date,customer_id,instrument,currency)>(?,?,?,?) AND date<?)
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
    from activity not indexed
    where
      account = :account
      and held = 0
      and date <= :last_day
      and date >= :first_day
    limit 100001
  );
-- Query plan:
--   CO-ROUTINE (subquery-1)
--     SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--   SCAN (subquery-1)

-- findRecord
-- Reads one record.
select
  date, customer_id, instrument, lots_traded, currency, pnl, volume_usd, spread_cost, commission
from activity
where
  account = :account
  and date = :id
  and held = 0;
-- Query plan:
--   SEARCH activity USING PRIMARY KEY (account=? AND date=?)

-- keptDays
-- Reads the kept totals of the days with records.
with
  p as materialized (
    with recursive
      days (stored_day) as (
        select min(date)
        from activity not indexed
        where
          account = :account
          and date <= :last_day
          and date >= :first_day
        union all
        select
          (
            select min(date)
            from activity not indexed
            where
              account = :account
              and date <= :last_day
              and date > stored_day
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
--             SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--           RECURSIVE STEP
--             SCAN days
--             CORRELATED SCALAR SUBQUERY 2
--               SEARCH activity USING PRIMARY KEY (account=? AND date>? AND date<?)
--         SCAN days
--         SEARCH k USING PRIMARY KEY (account=? AND resource=? AND day=?) LEFT-JOIN
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- stepEnd
-- Finds the last record of a step that sums.
select date, customer_id, instrument, currency
from activity not indexed
where
  account = :account
  and date <= :last_day
  and (date, customer_id, instrument, currency) > (:after_0, :after_1, :after_2, :after_3)
order by date, customer_id, instrument, currency
limit 1
offset
  :step - 1;
-- Query plan:
--   SEARCH activity USING PRIMARY KEY (account=? AND (date,customer_id,instrument,currency)>(?,?,?,?) AND date<?)

-- sumStep
-- Sums the records of a step by day.
with
  p as materialized (
    select
      date as day, currency as currency, count(*) as count,
      sum(cast(lots_traded as integer) / 1000000) as lots_traded_0,
      sum(cast(lots_traded as integer) % 1000000) as lots_traded_1,
      sum(
        cast(
          round(
            (lots_traded - cast(lots_traded as integer)) * case
              when abs(lots_traded) < 1e3 then 1e12
              when abs(lots_traded) < 1e4 then 1e11
              when abs(lots_traded) < 1e5 then 1e10
              when abs(lots_traded) < 1e6 then 1e9
              when abs(lots_traded) < 1e7 then 1e8
              when abs(lots_traded) < 1e8 then 1e7
              when abs(lots_traded) < 1e9 then 1e6
              when abs(lots_traded) < 1e10 then 1e5
              when abs(lots_traded) < 1e11 then 1e4
              when abs(lots_traded) < 1e12 then 1e3
              when abs(lots_traded) < 1e13 then 1e2
              when abs(lots_traded) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(lots_traded) < 1e3 then 1e12
              when abs(lots_traded) < 1e4 then 1e11
              when abs(lots_traded) < 1e5 then 1e10
              when abs(lots_traded) < 1e6 then 1e9
              when abs(lots_traded) < 1e7 then 1e8
              when abs(lots_traded) < 1e8 then 1e7
              when abs(lots_traded) < 1e9 then 1e6
              when abs(lots_traded) < 1e10 then 1e5
              when abs(lots_traded) < 1e11 then 1e4
              when abs(lots_traded) < 1e12 then 1e3
              when abs(lots_traded) < 1e13 then 1e2
              when abs(lots_traded) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as lots_traded_2,
      sum(
        cast(
          round(
            (lots_traded - cast(lots_traded as integer)) * case
              when abs(lots_traded) < 1e3 then 1e12
              when abs(lots_traded) < 1e4 then 1e11
              when abs(lots_traded) < 1e5 then 1e10
              when abs(lots_traded) < 1e6 then 1e9
              when abs(lots_traded) < 1e7 then 1e8
              when abs(lots_traded) < 1e8 then 1e7
              when abs(lots_traded) < 1e9 then 1e6
              when abs(lots_traded) < 1e10 then 1e5
              when abs(lots_traded) < 1e11 then 1e4
              when abs(lots_traded) < 1e12 then 1e3
              when abs(lots_traded) < 1e13 then 1e2
              when abs(lots_traded) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(lots_traded) < 1e3 then 1e12
              when abs(lots_traded) < 1e4 then 1e11
              when abs(lots_traded) < 1e5 then 1e10
              when abs(lots_traded) < 1e6 then 1e9
              when abs(lots_traded) < 1e7 then 1e8
              when abs(lots_traded) < 1e8 then 1e7
              when abs(lots_traded) < 1e9 then 1e6
              when abs(lots_traded) < 1e10 then 1e5
              when abs(lots_traded) < 1e11 then 1e4
              when abs(lots_traded) < 1e12 then 1e3
              when abs(lots_traded) < 1e13 then 1e2
              when abs(lots_traded) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as lots_traded_3,
      sum(cast(pnl as integer) / 1000000) as pnl_0, sum(cast(pnl as integer) % 1000000) as pnl_1,
      sum(
        cast(
          round(
            (pnl - cast(pnl as integer)) * case
              when abs(pnl) < 1e3 then 1e12
              when abs(pnl) < 1e4 then 1e11
              when abs(pnl) < 1e5 then 1e10
              when abs(pnl) < 1e6 then 1e9
              when abs(pnl) < 1e7 then 1e8
              when abs(pnl) < 1e8 then 1e7
              when abs(pnl) < 1e9 then 1e6
              when abs(pnl) < 1e10 then 1e5
              when abs(pnl) < 1e11 then 1e4
              when abs(pnl) < 1e12 then 1e3
              when abs(pnl) < 1e13 then 1e2
              when abs(pnl) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(pnl) < 1e3 then 1e12
              when abs(pnl) < 1e4 then 1e11
              when abs(pnl) < 1e5 then 1e10
              when abs(pnl) < 1e6 then 1e9
              when abs(pnl) < 1e7 then 1e8
              when abs(pnl) < 1e8 then 1e7
              when abs(pnl) < 1e9 then 1e6
              when abs(pnl) < 1e10 then 1e5
              when abs(pnl) < 1e11 then 1e4
              when abs(pnl) < 1e12 then 1e3
              when abs(pnl) < 1e13 then 1e2
              when abs(pnl) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as pnl_2,
      sum(
        cast(
          round(
            (pnl - cast(pnl as integer)) * case
              when abs(pnl) < 1e3 then 1e12
              when abs(pnl) < 1e4 then 1e11
              when abs(pnl) < 1e5 then 1e10
              when abs(pnl) < 1e6 then 1e9
              when abs(pnl) < 1e7 then 1e8
              when abs(pnl) < 1e8 then 1e7
              when abs(pnl) < 1e9 then 1e6
              when abs(pnl) < 1e10 then 1e5
              when abs(pnl) < 1e11 then 1e4
              when abs(pnl) < 1e12 then 1e3
              when abs(pnl) < 1e13 then 1e2
              when abs(pnl) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(pnl) < 1e3 then 1e12
              when abs(pnl) < 1e4 then 1e11
              when abs(pnl) < 1e5 then 1e10
              when abs(pnl) < 1e6 then 1e9
              when abs(pnl) < 1e7 then 1e8
              when abs(pnl) < 1e8 then 1e7
              when abs(pnl) < 1e9 then 1e6
              when abs(pnl) < 1e10 then 1e5
              when abs(pnl) < 1e11 then 1e4
              when abs(pnl) < 1e12 then 1e3
              when abs(pnl) < 1e13 then 1e2
              when abs(pnl) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as pnl_3,
      sum(cast(volume_usd as integer) / 1000000) as volume_usd_0,
      sum(cast(volume_usd as integer) % 1000000) as volume_usd_1,
      sum(
        cast(
          round(
            (volume_usd - cast(volume_usd as integer)) * case
              when abs(volume_usd) < 1e3 then 1e12
              when abs(volume_usd) < 1e4 then 1e11
              when abs(volume_usd) < 1e5 then 1e10
              when abs(volume_usd) < 1e6 then 1e9
              when abs(volume_usd) < 1e7 then 1e8
              when abs(volume_usd) < 1e8 then 1e7
              when abs(volume_usd) < 1e9 then 1e6
              when abs(volume_usd) < 1e10 then 1e5
              when abs(volume_usd) < 1e11 then 1e4
              when abs(volume_usd) < 1e12 then 1e3
              when abs(volume_usd) < 1e13 then 1e2
              when abs(volume_usd) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(volume_usd) < 1e3 then 1e12
              when abs(volume_usd) < 1e4 then 1e11
              when abs(volume_usd) < 1e5 then 1e10
              when abs(volume_usd) < 1e6 then 1e9
              when abs(volume_usd) < 1e7 then 1e8
              when abs(volume_usd) < 1e8 then 1e7
              when abs(volume_usd) < 1e9 then 1e6
              when abs(volume_usd) < 1e10 then 1e5
              when abs(volume_usd) < 1e11 then 1e4
              when abs(volume_usd) < 1e12 then 1e3
              when abs(volume_usd) < 1e13 then 1e2
              when abs(volume_usd) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as volume_usd_2,
      sum(
        cast(
          round(
            (volume_usd - cast(volume_usd as integer)) * case
              when abs(volume_usd) < 1e3 then 1e12
              when abs(volume_usd) < 1e4 then 1e11
              when abs(volume_usd) < 1e5 then 1e10
              when abs(volume_usd) < 1e6 then 1e9
              when abs(volume_usd) < 1e7 then 1e8
              when abs(volume_usd) < 1e8 then 1e7
              when abs(volume_usd) < 1e9 then 1e6
              when abs(volume_usd) < 1e10 then 1e5
              when abs(volume_usd) < 1e11 then 1e4
              when abs(volume_usd) < 1e12 then 1e3
              when abs(volume_usd) < 1e13 then 1e2
              when abs(volume_usd) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(volume_usd) < 1e3 then 1e12
              when abs(volume_usd) < 1e4 then 1e11
              when abs(volume_usd) < 1e5 then 1e10
              when abs(volume_usd) < 1e6 then 1e9
              when abs(volume_usd) < 1e7 then 1e8
              when abs(volume_usd) < 1e8 then 1e7
              when abs(volume_usd) < 1e9 then 1e6
              when abs(volume_usd) < 1e10 then 1e5
              when abs(volume_usd) < 1e11 then 1e4
              when abs(volume_usd) < 1e12 then 1e3
              when abs(volume_usd) < 1e13 then 1e2
              when abs(volume_usd) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as volume_usd_3,
      sum(cast(spread_cost as integer) / 1000000) as spread_cost_0,
      sum(cast(spread_cost as integer) % 1000000) as spread_cost_1,
      sum(
        cast(
          round(
            (spread_cost - cast(spread_cost as integer)) * case
              when abs(spread_cost) < 1e3 then 1e12
              when abs(spread_cost) < 1e4 then 1e11
              when abs(spread_cost) < 1e5 then 1e10
              when abs(spread_cost) < 1e6 then 1e9
              when abs(spread_cost) < 1e7 then 1e8
              when abs(spread_cost) < 1e8 then 1e7
              when abs(spread_cost) < 1e9 then 1e6
              when abs(spread_cost) < 1e10 then 1e5
              when abs(spread_cost) < 1e11 then 1e4
              when abs(spread_cost) < 1e12 then 1e3
              when abs(spread_cost) < 1e13 then 1e2
              when abs(spread_cost) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(spread_cost) < 1e3 then 1e12
              when abs(spread_cost) < 1e4 then 1e11
              when abs(spread_cost) < 1e5 then 1e10
              when abs(spread_cost) < 1e6 then 1e9
              when abs(spread_cost) < 1e7 then 1e8
              when abs(spread_cost) < 1e8 then 1e7
              when abs(spread_cost) < 1e9 then 1e6
              when abs(spread_cost) < 1e10 then 1e5
              when abs(spread_cost) < 1e11 then 1e4
              when abs(spread_cost) < 1e12 then 1e3
              when abs(spread_cost) < 1e13 then 1e2
              when abs(spread_cost) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as spread_cost_2,
      sum(
        cast(
          round(
            (spread_cost - cast(spread_cost as integer)) * case
              when abs(spread_cost) < 1e3 then 1e12
              when abs(spread_cost) < 1e4 then 1e11
              when abs(spread_cost) < 1e5 then 1e10
              when abs(spread_cost) < 1e6 then 1e9
              when abs(spread_cost) < 1e7 then 1e8
              when abs(spread_cost) < 1e8 then 1e7
              when abs(spread_cost) < 1e9 then 1e6
              when abs(spread_cost) < 1e10 then 1e5
              when abs(spread_cost) < 1e11 then 1e4
              when abs(spread_cost) < 1e12 then 1e3
              when abs(spread_cost) < 1e13 then 1e2
              when abs(spread_cost) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(spread_cost) < 1e3 then 1e12
              when abs(spread_cost) < 1e4 then 1e11
              when abs(spread_cost) < 1e5 then 1e10
              when abs(spread_cost) < 1e6 then 1e9
              when abs(spread_cost) < 1e7 then 1e8
              when abs(spread_cost) < 1e8 then 1e7
              when abs(spread_cost) < 1e9 then 1e6
              when abs(spread_cost) < 1e10 then 1e5
              when abs(spread_cost) < 1e11 then 1e4
              when abs(spread_cost) < 1e12 then 1e3
              when abs(spread_cost) < 1e13 then 1e2
              when abs(spread_cost) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as spread_cost_3,
      sum(cast(commission as integer) / 1000000) as commission_0,
      sum(cast(commission as integer) % 1000000) as commission_1,
      sum(
        cast(
          round(
            (commission - cast(commission as integer)) * case
              when abs(commission) < 1e3 then 1e12
              when abs(commission) < 1e4 then 1e11
              when abs(commission) < 1e5 then 1e10
              when abs(commission) < 1e6 then 1e9
              when abs(commission) < 1e7 then 1e8
              when abs(commission) < 1e8 then 1e7
              when abs(commission) < 1e9 then 1e6
              when abs(commission) < 1e10 then 1e5
              when abs(commission) < 1e11 then 1e4
              when abs(commission) < 1e12 then 1e3
              when abs(commission) < 1e13 then 1e2
              when abs(commission) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(commission) < 1e3 then 1e12
              when abs(commission) < 1e4 then 1e11
              when abs(commission) < 1e5 then 1e10
              when abs(commission) < 1e6 then 1e9
              when abs(commission) < 1e7 then 1e8
              when abs(commission) < 1e8 then 1e7
              when abs(commission) < 1e9 then 1e6
              when abs(commission) < 1e10 then 1e5
              when abs(commission) < 1e11 then 1e4
              when abs(commission) < 1e12 then 1e3
              when abs(commission) < 1e13 then 1e2
              when abs(commission) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as commission_2,
      sum(
        cast(
          round(
            (commission - cast(commission as integer)) * case
              when abs(commission) < 1e3 then 1e12
              when abs(commission) < 1e4 then 1e11
              when abs(commission) < 1e5 then 1e10
              when abs(commission) < 1e6 then 1e9
              when abs(commission) < 1e7 then 1e8
              when abs(commission) < 1e8 then 1e7
              when abs(commission) < 1e9 then 1e6
              when abs(commission) < 1e10 then 1e5
              when abs(commission) < 1e11 then 1e4
              when abs(commission) < 1e12 then 1e3
              when abs(commission) < 1e13 then 1e2
              when abs(commission) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(commission) < 1e3 then 1e12
              when abs(commission) < 1e4 then 1e11
              when abs(commission) < 1e5 then 1e10
              when abs(commission) < 1e6 then 1e9
              when abs(commission) < 1e7 then 1e8
              when abs(commission) < 1e8 then 1e7
              when abs(commission) < 1e9 then 1e6
              when abs(commission) < 1e10 then 1e5
              when abs(commission) < 1e11 then 1e4
              when abs(commission) < 1e12 then 1e3
              when abs(commission) < 1e13 then 1e2
              when abs(commission) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as commission_3
    from
      (
        select date, held, currency, lots_traded, pnl, volume_usd, spread_cost, commission
        from activity not indexed
        where
          account = :account
          and date <= :last_day
          and (date, customer_id, instrument, currency) > (:after_0, :after_1, :after_2, :after_3)
        order by date, customer_id, instrument, currency
        limit :step
      )
    where held = 0
    group by date, currency
    limit 50001
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (day), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (count), 0) + ifnull(octet_length (lots_traded_0), 0) + ifnull(octet_length (lots_traded_1), 0) + ifnull(octet_length (lots_traded_2), 0) + ifnull(octet_length (lots_traded_3), 0) + ifnull(octet_length (pnl_0), 0) + ifnull(octet_length (pnl_1), 0) + ifnull(octet_length (pnl_2), 0) + ifnull(octet_length (pnl_3), 0) + ifnull(octet_length (volume_usd_0), 0) + ifnull(octet_length (volume_usd_1), 0) + ifnull(octet_length (volume_usd_2), 0) + ifnull(octet_length (volume_usd_3), 0) + ifnull(octet_length (spread_cost_0), 0) + ifnull(octet_length (spread_cost_1), 0) + ifnull(octet_length (spread_cost_2), 0) + ifnull(octet_length (spread_cost_3), 0) + ifnull(octet_length (commission_0), 0) + ifnull(octet_length (commission_1), 0) + ifnull(octet_length (commission_2), 0) + ifnull(octet_length (commission_3), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, day, null) as day, iif(excess is null, currency, null) as currency,
  iif(excess is null, count, null) as count,
  iif(excess is null, lots_traded_0, null) as lots_traded_0,
  iif(excess is null, lots_traded_1, null) as lots_traded_1,
  iif(excess is null, lots_traded_2, null) as lots_traded_2,
  iif(excess is null, lots_traded_3, null) as lots_traded_3,
  iif(excess is null, pnl_0, null) as pnl_0, iif(excess is null, pnl_1, null) as pnl_1,
  iif(excess is null, pnl_2, null) as pnl_2, iif(excess is null, pnl_3, null) as pnl_3,
  iif(excess is null, volume_usd_0, null) as volume_usd_0,
  iif(excess is null, volume_usd_1, null) as volume_usd_1,
  iif(excess is null, volume_usd_2, null) as volume_usd_2,
  iif(excess is null, volume_usd_3, null) as volume_usd_3,
  iif(excess is null, spread_cost_0, null) as spread_cost_0,
  iif(excess is null, spread_cost_1, null) as spread_cost_1,
  iif(excess is null, spread_cost_2, null) as spread_cost_2,
  iif(excess is null, spread_cost_3, null) as spread_cost_3,
  iif(excess is null, commission_0, null) as commission_0,
  iif(excess is null, commission_1, null) as commission_1,
  iif(excess is null, commission_2, null) as commission_2,
  iif(excess is null, commission_3, null) as commission_3, excess
from
  e
  cross join p
order by day;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         CO-ROUTINE (subquery-1)
--           SEARCH activity USING PRIMARY KEY (account=? AND (date,customer_id,instrument,currency)>(?,?,?,?) AND date<?)
--         SCAN (subquery-1)
--         USE TEMP B-TREE FOR GROUP BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY
