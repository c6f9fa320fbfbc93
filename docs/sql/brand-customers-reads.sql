-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Reads brand-customers: lists, one record, control totals.

-- list
-- Reads the first page of all records.
with
  p as materialized (
    select customer_id, regtime, country_code, first_name, last_name, tracking_data, extras
    from customers not indexed
    where account = :account
    order by customer_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (customer_id), 0) + ifnull(octet_length (regtime), 0) + ifnull(octet_length (country_code), 0) + ifnull(octet_length (first_name), 0) + ifnull(octet_length (last_name), 0) + ifnull(octet_length (tracking_data), 0) + ifnull(octet_length (extras), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, regtime, null) as regtime,
  iif(excess is null, country_code, null) as country_code,
  iif(excess is null, first_name, null) as first_name,
  iif(excess is null, last_name, null) as last_name,
  iif(excess is null, tracking_data, null) as tracking_data,
  iif(excess is null, extras, null) as extras, excess
from
  e
  cross join p
order by customer_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH customers USING PRIMARY KEY (account=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of all records.
with
  p as materialized (
    select customer_id, regtime, country_code, first_name, last_name, tracking_data, extras
    from customers not indexed
    where
      account = :account
      and (customer_id) > (:after_0)
    order by customer_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (customer_id), 0) + ifnull(octet_length (regtime), 0) + ifnull(octet_length (country_code), 0) + ifnull(octet_length (first_name), 0) + ifnull(octet_length (last_name), 0) + ifnull(octet_length (tracking_data), 0) + ifnull(octet_length (extras), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, regtime, null) as regtime,
  iif(excess is null, country_code, null) as country_code,
  iif(excess is null, first_name, null) as first_name,
  iif(excess is null, last_name, null) as last_name,
  iif(excess is null, tracking_data, null) as tracking_data,
  iif(excess is null, extras, null) as extras, excess
from
  e
  cross join p
order by customer_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH customers USING PRIMARY KEY (account=? AND customer_id>?)
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
-- Reads the first page of the record of a customer.
with
  p as materialized (
    select customer_id, regtime, country_code, first_name, last_name, tracking_data, extras
    from customers not indexed
    where
      account = :account
      and customer_id = :customer_id
    order by customer_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (customer_id), 0) + ifnull(octet_length (regtime), 0) + ifnull(octet_length (country_code), 0) + ifnull(octet_length (first_name), 0) + ifnull(octet_length (last_name), 0) + ifnull(octet_length (tracking_data), 0) + ifnull(octet_length (extras), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, regtime, null) as regtime,
  iif(excess is null, country_code, null) as country_code,
  iif(excess is null, first_name, null) as first_name,
  iif(excess is null, last_name, null) as last_name,
  iif(excess is null, tracking_data, null) as tracking_data,
  iif(excess is null, extras, null) as extras, excess
from
  e
  cross join p
order by customer_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH customers USING PRIMARY KEY (account=? AND customer_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of the record of a customer.
with
  p as materialized (
    select customer_id, regtime, country_code, first_name, last_name, tracking_data, extras
    from customers not indexed
    where
      account = :account
      and customer_id = :customer_id
      and (customer_id) > (:after_0)
    order by customer_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (customer_id), 0) + ifnull(octet_length (regtime), 0) + ifnull(octet_length (country_code), 0) + ifnull(octet_length (first_name), 0) + ifnull(octet_length (last_name), 0) + ifnull(octet_length (tracking_data), 0) + ifnull(octet_length (extras), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, regtime, null) as regtime,
  iif(excess is null, country_code, null) as country_code,
  iif(excess is null, first_name, null) as first_name,
  iif(excess is null, last_name, null) as last_name,
  iif(excess is null, tracking_data, null) as tracking_data,
  iif(excess is null, extras, null) as extras, excess
from
  e
  cross join p
order by customer_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH customers USING PRIMARY KEY (account=? AND customer_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Counts the record of a customer.
select count(*) as total
from
  (
    select 1
    from customers not indexed
    where
      account = :account
      and customer_id = :customer_id
    limit 100001
  );
-- Query plan:
--   CO-ROUTINE (subquery-1)
--     SEARCH customers USING PRIMARY KEY (account=? AND customer_id=?)
--   SCAN (subquery-1)

-- findRecord
-- Reads one record.
select customer_id, regtime, country_code, first_name, last_name, tracking_data, extras
from customers
where
  account = :account
  and customer_id = :id;
-- Query plan:
--   SEARCH customers USING PRIMARY KEY (account=? AND customer_id=?)

-- keptDays
-- Reads the kept totals of the days with records.
with
  p as materialized (
    with recursive
      days (stored_day) as (
        select min(day)
        from customers indexed by customers_day
        where
          account = :account
          and day <= :last_day
          and day >= :first_day
        union all
        select
          (
            select min(day)
            from customers indexed by customers_day
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
--             SEARCH customers USING COVERING INDEX customers_day (account=? AND day>? AND day<?)
--           RECURSIVE STEP
--             SCAN days
--             CORRELATED SCALAR SUBQUERY 2
--               SEARCH customers USING COVERING INDEX customers_day (account=? AND day>? AND day<?)
--         SCAN days
--         SEARCH k USING PRIMARY KEY (account=? AND resource=? AND day=?) LEFT-JOIN
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- stepEnd
-- Finds the last record of a step that sums.
select day, customer_id
from customers indexed by customers_day
where
  account = :account
  and day <= :last_day
  and (day, customer_id) > (:after_0, :after_1)
order by day, customer_id
limit 1
offset
  :step - 1;
-- Query plan:
--   SEARCH customers USING COVERING INDEX customers_day (account=? AND (day,customer_id)>(?,?) AND day<?)

-- sumStep
-- Sums the records of a step by day.
with
  p as materialized (
    select day as day, count(*) as count
    from
      (
        select day
        from customers indexed by customers_day
        where
          account = :account
          and day <= :last_day
          and (day, customer_id) > (:after_0, :after_1)
        order by day, customer_id
        limit :step
      )
    group by day
    limit 50001
  ),
  b as materialized (
    select sum(ifnull(octet_length (day), 0) + ifnull(octet_length (count), 0)) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select iif(excess is null, day, null) as day, iif(excess is null, count, null) as count, excess
from
  e
  cross join p
order by day;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         CO-ROUTINE (subquery-1)
--           SEARCH customers USING COVERING INDEX customers_day (account=? AND (day,customer_id)>(?,?) AND day<?)
--         SCAN (subquery-1)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY
