-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Reads transactions: lists, one record, control totals.

-- list
-- Reads the first page of all records.
with
  p as materialized (
    select
      transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
      status, amount_usd, transaction_subtype, note
    from transactions indexed by transactions_key
    where
      account = :account
      and held = 0
    order by transaction_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (transaction_id), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (amount_currency), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (transaction_date), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (amount_usd), 0) + ifnull(octet_length (transaction_subtype), 0) + ifnull(octet_length (note), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, transaction_id, null) as transaction_id,
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, amount_currency, null) as amount_currency,
  iif(excess is null, currency, null) as currency,
  iif(excess is null, transaction_date, null) as transaction_date,
  iif(excess is null, status, null) as status, iif(excess is null, amount_usd, null) as amount_usd,
  iif(excess is null, transaction_subtype, null) as transaction_subtype,
  iif(excess is null, note, null) as note, excess
from
  e
  cross join p
order by transaction_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH transactions USING INDEX transactions_key (account=?)
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
      transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
      status, amount_usd, transaction_subtype, note
    from transactions indexed by transactions_key
    where
      account = :account
      and held = 0
      and (transaction_id) > (:after_0)
    order by transaction_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (transaction_id), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (amount_currency), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (transaction_date), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (amount_usd), 0) + ifnull(octet_length (transaction_subtype), 0) + ifnull(octet_length (note), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, transaction_id, null) as transaction_id,
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, amount_currency, null) as amount_currency,
  iif(excess is null, currency, null) as currency,
  iif(excess is null, transaction_date, null) as transaction_date,
  iif(excess is null, status, null) as status, iif(excess is null, amount_usd, null) as amount_usd,
  iif(excess is null, transaction_subtype, null) as transaction_subtype,
  iif(excess is null, note, null) as note, excess
from
  e
  cross join p
order by transaction_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH transactions USING INDEX transactions_key (account=? AND transaction_id>?)
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
        from transactions not indexed
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
        from transactions not indexed
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
            from transactions not indexed
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
--         SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--     RECURSIVE STEP
--       SCAN d
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--       CORRELATED SCALAR SUBQUERY 5
--         CO-ROUTINE (subquery-4)
--           SEARCH transactions USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--         SCAN (subquery-4)
--   SCAN days

-- list
-- Reads the first page of the records of a customer.
with
  p as materialized (
    select
      transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
      status, amount_usd, transaction_subtype, note, day
    from transactions not indexed
    where
      account = :account
      and customer_id = :customer_id
      and held = 0
      and day in (
        select value
        from json_each(:days)
      )
    order by day, transaction_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (transaction_id), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (amount_currency), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (transaction_date), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (amount_usd), 0) + ifnull(octet_length (transaction_subtype), 0) + ifnull(octet_length (note), 0) + ifnull(octet_length (day), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, transaction_id, null) as transaction_id,
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, amount_currency, null) as amount_currency,
  iif(excess is null, currency, null) as currency,
  iif(excess is null, transaction_date, null) as transaction_date,
  iif(excess is null, status, null) as status, iif(excess is null, amount_usd, null) as amount_usd,
  iif(excess is null, transaction_subtype, null) as transaction_subtype,
  iif(excess is null, note, null) as note, iif(excess is null, day, null) as day, excess
from
  e
  cross join p
order by day, transaction_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH transactions USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
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
        from transactions not indexed
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
        from transactions not indexed
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
            from transactions not indexed
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
--         SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--     RECURSIVE STEP
--       SCAN d
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--       CORRELATED SCALAR SUBQUERY 5
--         CO-ROUTINE (subquery-4)
--           SEARCH transactions USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--         SCAN (subquery-4)
--   SCAN days

-- list
-- Reads the page after a cursor of the records of a customer.
with
  p as materialized (
    select
      transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
      status, amount_usd, transaction_subtype, note, day
    from
      (
        select
          transaction_id, customer_id, transaction_type, amount_currency, currency,
          transaction_date, status, amount_usd, transaction_subtype, note, day
        from transactions not indexed
        where
          account = :account
          and customer_id = :customer_id
          and held = 0
          and day = :after_0
          and (transaction_id) > (:after_1)
        union all
        select
          transaction_id, customer_id, transaction_type, amount_currency, currency,
          transaction_date, status, amount_usd, transaction_subtype, note, day
        from transactions not indexed
        where
          account = :account
          and customer_id = :customer_id
          and held = 0
          and day in (
            select value
            from json_each(:days)
          )
      )
    order by day, transaction_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (transaction_id), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (amount_currency), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (transaction_date), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (amount_usd), 0) + ifnull(octet_length (transaction_subtype), 0) + ifnull(octet_length (note), 0) + ifnull(octet_length (day), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, transaction_id, null) as transaction_id,
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, amount_currency, null) as amount_currency,
  iif(excess is null, currency, null) as currency,
  iif(excess is null, transaction_date, null) as transaction_date,
  iif(excess is null, status, null) as status, iif(excess is null, amount_usd, null) as amount_usd,
  iif(excess is null, transaction_subtype, null) as transaction_subtype,
  iif(excess is null, note, null) as note, iif(excess is null, day, null) as day, excess
from
  e
  cross join p
order by day, transaction_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         MERGE (UNION ALL)
--           LEFT
--             SEARCH transactions USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND transaction_id>?)
--           RIGHT
--             SEARCH transactions USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
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
      transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
      status, amount_usd, transaction_subtype, note, day
    from transactions not indexed
    where
      account = :account
      and held = 0
      and day <= :last_day
      and day >= :first_day
    order by day, customer_id, transaction_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (transaction_id), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (amount_currency), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (transaction_date), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (amount_usd), 0) + ifnull(octet_length (transaction_subtype), 0) + ifnull(octet_length (note), 0) + ifnull(octet_length (day), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, transaction_id, null) as transaction_id,
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, amount_currency, null) as amount_currency,
  iif(excess is null, currency, null) as currency,
  iif(excess is null, transaction_date, null) as transaction_date,
  iif(excess is null, status, null) as status, iif(excess is null, amount_usd, null) as amount_usd,
  iif(excess is null, transaction_subtype, null) as transaction_subtype,
  iif(excess is null, note, null) as note, iif(excess is null, day, null) as day, excess
from
  e
  cross join p
order by day, customer_id, transaction_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
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
      transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
      status, amount_usd, transaction_subtype, note, day
    from transactions not indexed
    where
      account = :account
      and held = 0
      and day <= :last_day
      and (day, customer_id, transaction_id) > (:after_0, :after_1, :after_2)
    order by day, customer_id, transaction_id
    limit 51
    offset
      0
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (transaction_id), 0) + ifnull(octet_length (customer_id), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (amount_currency), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (transaction_date), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (amount_usd), 0) + ifnull(octet_length (transaction_subtype), 0) + ifnull(octet_length (note), 0) + ifnull(octet_length (day), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, transaction_id, null) as transaction_id,
  iif(excess is null, customer_id, null) as customer_id,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, amount_currency, null) as amount_currency,
  iif(excess is null, currency, null) as currency,
  iif(excess is null, transaction_date, null) as transaction_date,
  iif(excess is null, status, null) as status, iif(excess is null, amount_usd, null) as amount_usd,
  iif(excess is null, transaction_subtype, null) as transaction_subtype,
  iif(excess is null, note, null) as note, iif(excess is null, day, null) as day, excess
from
  e
  cross join p
order by day, customer_id, transaction_id;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         SEARCH transactions USING PRIMARY KEY (account=? AND (day,customer_id,transaction_id)>(?,?,?) AND day<?)
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
    from transactions not indexed
    where
      account = :account
      and held = 0
      and day <= :last_day
      and day >= :first_day
    limit 100001
  );
-- Query plan:
--   CO-ROUTINE (subquery-1)
--     SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--   SCAN (subquery-1)

-- findRecord
-- Reads one record.
select
  transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date,
  status, amount_usd, transaction_subtype, note
from transactions
where
  account = :account
  and transaction_id = :id
  and held = 0;
-- Query plan:
--   SEARCH transactions USING INDEX transactions_key (account=? AND transaction_id=?)

-- keptDays
-- Reads the kept totals of the days with records.
with
  p as materialized (
    with recursive
      days (stored_day) as (
        select min(day)
        from transactions not indexed
        where
          account = :account
          and day <= :last_day
          and day >= :first_day
        union all
        select
          (
            select min(day)
            from transactions not indexed
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
--             SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--           RECURSIVE STEP
--             SCAN days
--             CORRELATED SCALAR SUBQUERY 2
--               SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--         SCAN days
--         SEARCH k USING PRIMARY KEY (account=? AND resource=? AND day=?) LEFT-JOIN
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- stepEnd
-- Finds the last record of a step that sums.
select day, customer_id, transaction_id
from transactions not indexed
where
  account = :account
  and day <= :last_day
  and (day, customer_id, transaction_id) > (:after_0, :after_1, :after_2)
order by day, customer_id, transaction_id
limit 1
offset
  :step - 1;
-- Query plan:
--   SEARCH transactions USING PRIMARY KEY (account=? AND (day,customer_id,transaction_id)>(?,?,?) AND day<?)

-- sumStep
-- Sums the records of a step by day.
with
  p as materialized (
    select
      day as day, transaction_type as transaction_type, status as status, currency as currency,
      count(*) as count, sum(cast(amount_currency as integer) / 1000000) as amount_currency_0,
      sum(cast(amount_currency as integer) % 1000000) as amount_currency_1,
      sum(
        cast(
          round(
            (amount_currency - cast(amount_currency as integer)) * case
              when abs(amount_currency) < 1e3 then 1e12
              when abs(amount_currency) < 1e4 then 1e11
              when abs(amount_currency) < 1e5 then 1e10
              when abs(amount_currency) < 1e6 then 1e9
              when abs(amount_currency) < 1e7 then 1e8
              when abs(amount_currency) < 1e8 then 1e7
              when abs(amount_currency) < 1e9 then 1e6
              when abs(amount_currency) < 1e10 then 1e5
              when abs(amount_currency) < 1e11 then 1e4
              when abs(amount_currency) < 1e12 then 1e3
              when abs(amount_currency) < 1e13 then 1e2
              when abs(amount_currency) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(amount_currency) < 1e3 then 1e12
              when abs(amount_currency) < 1e4 then 1e11
              when abs(amount_currency) < 1e5 then 1e10
              when abs(amount_currency) < 1e6 then 1e9
              when abs(amount_currency) < 1e7 then 1e8
              when abs(amount_currency) < 1e8 then 1e7
              when abs(amount_currency) < 1e9 then 1e6
              when abs(amount_currency) < 1e10 then 1e5
              when abs(amount_currency) < 1e11 then 1e4
              when abs(amount_currency) < 1e12 then 1e3
              when abs(amount_currency) < 1e13 then 1e2
              when abs(amount_currency) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) / 1000000
      ) as amount_currency_2,
      sum(
        cast(
          round(
            (amount_currency - cast(amount_currency as integer)) * case
              when abs(amount_currency) < 1e3 then 1e12
              when abs(amount_currency) < 1e4 then 1e11
              when abs(amount_currency) < 1e5 then 1e10
              when abs(amount_currency) < 1e6 then 1e9
              when abs(amount_currency) < 1e7 then 1e8
              when abs(amount_currency) < 1e8 then 1e7
              when abs(amount_currency) < 1e9 then 1e6
              when abs(amount_currency) < 1e10 then 1e5
              when abs(amount_currency) < 1e11 then 1e4
              when abs(amount_currency) < 1e12 then 1e3
              when abs(amount_currency) < 1e13 then 1e2
              when abs(amount_currency) < 1e14 then 1e1
              else 1
            end
          ) * (
            1e12 / case
              when abs(amount_currency) < 1e3 then 1e12
              when abs(amount_currency) < 1e4 then 1e11
              when abs(amount_currency) < 1e5 then 1e10
              when abs(amount_currency) < 1e6 then 1e9
              when abs(amount_currency) < 1e7 then 1e8
              when abs(amount_currency) < 1e8 then 1e7
              when abs(amount_currency) < 1e9 then 1e6
              when abs(amount_currency) < 1e10 then 1e5
              when abs(amount_currency) < 1e11 then 1e4
              when abs(amount_currency) < 1e12 then 1e3
              when abs(amount_currency) < 1e13 then 1e2
              when abs(amount_currency) < 1e14 then 1e1
              else 1
            end
          ) as integer
        ) % 1000000
      ) as amount_currency_3
    from
      (
        select day, held, transaction_type, status, currency, amount_currency
        from transactions not indexed
        where
          account = :account
          and day <= :last_day
          and (day, customer_id, transaction_id) > (:after_0, :after_1, :after_2)
        order by day, customer_id, transaction_id
        limit :step
      )
    where held = 0
    group by day, transaction_type, status, currency
    limit 50001
  ),
  b as materialized (
    select
      sum(
        ifnull(octet_length (day), 0) + ifnull(octet_length (transaction_type), 0) + ifnull(octet_length (status), 0) + ifnull(octet_length (currency), 0) + ifnull(octet_length (count), 0) + ifnull(octet_length (amount_currency_0), 0) + ifnull(octet_length (amount_currency_1), 0) + ifnull(octet_length (amount_currency_2), 0) + ifnull(octet_length (amount_currency_3), 0)
      ) as bytes
    from p
  ),
  e as materialized (
    select iif(bytes > 2097152, bytes, null) as excess
    from b
  )
select
  iif(excess is null, day, null) as day,
  iif(excess is null, transaction_type, null) as transaction_type,
  iif(excess is null, status, null) as status, iif(excess is null, currency, null) as currency,
  iif(excess is null, count, null) as count,
  iif(excess is null, amount_currency_0, null) as amount_currency_0,
  iif(excess is null, amount_currency_1, null) as amount_currency_1,
  iif(excess is null, amount_currency_2, null) as amount_currency_2,
  iif(excess is null, amount_currency_3, null) as amount_currency_3, excess
from
  e
  cross join p
order by day;
-- Query plan:
--   MATERIALIZE e
--     MATERIALIZE b
--       MATERIALIZE p
--         CO-ROUTINE (subquery-1)
--           SEARCH transactions USING PRIMARY KEY (account=? AND (day,customer_id,transaction_id)>(?,?,?) AND day<?)
--         SCAN (subquery-1)
--         USE TEMP B-TREE FOR GROUP BY
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY
