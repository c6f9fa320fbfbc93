-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Reads transactions: lists, one record, control totals.

-- list
-- Reads the first page of all records.
with
  p as materialized (
    with
      k as materialized (
        select transaction_id
        from transactions indexed by transactions_key
        where
          account = :account
          and held = 0
        order by transaction_id
        limit 51
        offset
          0
      )
    select
      t.transaction_id, t.customer_id, t.transaction_type, t.amount_currency, t.currency,
      t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note
    from
      k
      cross join transactions t on t.account = :account
      and t.transaction_id = k.transaction_id
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
--         MATERIALIZE k
--           SEARCH transactions USING INDEX transactions_key (account=?)
--         SCAN k
--         SEARCH t USING INDEX transactions_key (account=? AND transaction_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of all records.
with
  p as materialized (
    with
      k as materialized (
        select transaction_id
        from transactions indexed by transactions_key
        where
          account = :account
          and held = 0
          and (transaction_id) > (:after_0)
        order by transaction_id
        limit 51
        offset
          0
      )
    select
      t.transaction_id, t.customer_id, t.transaction_type, t.amount_currency, t.currency,
      t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note
    from
      k
      cross join transactions t on t.account = :account
      and t.transaction_id = k.transaction_id
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
--         MATERIALIZE k
--           SEARCH transactions USING INDEX transactions_key (account=? AND transaction_id>?)
--         SCAN k
--         SEARCH t USING INDEX transactions_key (account=? AND transaction_id=?)
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
-- Reads the first page of the records of a customer.
with
  p as materialized (
    with
      k as materialized (
        select transaction_id
        from
          (
            with recursive
              days (stored_day) as (
                select min(day)
                from transactions
                where account = :account
                union all
                select
                  (
                    select min(day)
                    from transactions
                    where
                      account = :account
                      and day > stored_day
                  )
                from days
                where stored_day is not null
              )
            select r.transaction_id
            from
              days
              cross join transactions r
            where
              r.account = :account
              and r.day = stored_day
              and r.customer_id = :customer_id
              and r.held = 0
          )
        where true
        order by transaction_id
        limit 51
        offset
          0
      )
    select
      t.transaction_id, t.customer_id, t.transaction_type, t.amount_currency, t.currency,
      t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note
    from
      k
      cross join transactions t on t.account = :account
      and t.transaction_id = k.transaction_id
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
--         MATERIALIZE k
--           CO-ROUTINE days
--             SETUP
--               SEARCH transactions USING PRIMARY KEY (account=?)
--             RECURSIVE STEP
--               SCAN days
--               CORRELATED SCALAR SUBQUERY 2
--                 SEARCH transactions USING PRIMARY KEY (account=? AND day>?)
--           SCAN days
--           SEARCH r USING PRIMARY KEY (account=? AND day=? AND customer_id=?)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t USING INDEX transactions_key (account=? AND transaction_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of the records of a customer.
with
  p as materialized (
    with
      k as materialized (
        select transaction_id
        from
          (
            with recursive
              days (stored_day) as (
                select min(day)
                from transactions
                where account = :account
                union all
                select
                  (
                    select min(day)
                    from transactions
                    where
                      account = :account
                      and day > stored_day
                  )
                from days
                where stored_day is not null
              )
            select r.transaction_id
            from
              days
              cross join transactions r
            where
              r.account = :account
              and r.day = stored_day
              and r.customer_id = :customer_id
              and r.held = 0
          )
        where
          true
          and (transaction_id) > (:after_0)
        order by transaction_id
        limit 51
        offset
          0
      )
    select
      t.transaction_id, t.customer_id, t.transaction_type, t.amount_currency, t.currency,
      t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note
    from
      k
      cross join transactions t on t.account = :account
      and t.transaction_id = k.transaction_id
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
--         MATERIALIZE k
--           CO-ROUTINE days
--             SETUP
--               SEARCH transactions USING PRIMARY KEY (account=?)
--             RECURSIVE STEP
--               SCAN days
--               CORRELATED SCALAR SUBQUERY 2
--                 SEARCH transactions USING PRIMARY KEY (account=? AND day>?)
--           SCAN days
--           SEARCH r USING PRIMARY KEY (account=? AND day=? AND customer_id=? AND transaction_id>?)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t USING INDEX transactions_key (account=? AND transaction_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Counts the records of a customer.
select count(*) as total
from
  (
    with recursive
      days (stored_day) as (
        select min(day)
        from transactions
        where account = :account
        union all
        select
          (
            select min(day)
            from transactions
            where
              account = :account
              and day > stored_day
          )
        from days
        where stored_day is not null
      )
    select r.transaction_id
    from
      days
      cross join transactions r
    where
      r.account = :account
      and r.day = stored_day
      and r.customer_id = :customer_id
      and r.held = 0
  )
where true;
-- Query plan:
--   CO-ROUTINE days
--     SETUP
--       SEARCH transactions USING PRIMARY KEY (account=?)
--     RECURSIVE STEP
--       SCAN days
--       CORRELATED SCALAR SUBQUERY 2
--         SEARCH transactions USING PRIMARY KEY (account=? AND day>?)
--   SCAN days
--   SEARCH r USING PRIMARY KEY (account=? AND day=? AND customer_id=?)

-- list
-- Reads the first page of the records of some days.
with
  p as materialized (
    with
      k as materialized (
        select transaction_id
        from transactions not indexed
        where
          account = :account
          and held = 0
          and day >= :first_day
          and day <= :last_day
        order by transaction_id
        limit 51
        offset
          0
      )
    select
      t.transaction_id, t.customer_id, t.transaction_type, t.amount_currency, t.currency,
      t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note
    from
      k
      cross join transactions t on t.account = :account
      and t.transaction_id = k.transaction_id
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
--         MATERIALIZE k
--           SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN k
--         SEARCH t USING INDEX transactions_key (account=? AND transaction_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Reads the page after a cursor of the records of some days.
with
  p as materialized (
    with
      k as materialized (
        select transaction_id
        from transactions not indexed
        where
          account = :account
          and held = 0
          and day >= :first_day
          and day <= :last_day
          and (transaction_id) > (:after_0)
        order by transaction_id
        limit 51
        offset
          0
      )
    select
      t.transaction_id, t.customer_id, t.transaction_type, t.amount_currency, t.currency,
      t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note
    from
      k
      cross join transactions t on t.account = :account
      and t.transaction_id = k.transaction_id
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
--         MATERIALIZE k
--           SEARCH transactions USING INDEX transactions_key (account=? AND transaction_id>?)
--         SCAN k
--         SEARCH t USING INDEX transactions_key (account=? AND transaction_id=?)
--       SCAN p
--     SCAN b
--   SCAN e
--   SCAN p
--   USE TEMP B-TREE FOR ORDER BY

-- list
-- Counts the records of some days.
select count(*) as total
from transactions not indexed
where
  account = :account
  and held = 0
  and day >= :first_day
  and day <= :last_day;
-- Query plan:
--   SEARCH transactions USING PRIMARY KEY (account=? AND day>? AND day<?)

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
