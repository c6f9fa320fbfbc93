-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Counts and measures what accounts store.

-- rollUp
-- Adds the counts of past hours to what accounts store.
insert into storage (account, bytes, until_hour)
select r.account, sum(r.logged_bytes + r.written_bytes), :hour
from
  json_each(:accounts) a
  left join storage s on s.account = a.value
  cross join arrivals r on r.account = a.value
  and r.hour < :hour
  and r.hour >= coalesce(s.until_hour, 0)
group by r.account
on conflict (account) do update
set bytes = bytes + excluded.bytes, until_hour = :hour;
-- Query plan:
--   SCAN a VIRTUAL TABLE INDEX 1:
--   SEARCH s USING PRIMARY KEY (account=?) LEFT-JOIN
--   SEARCH r USING PRIMARY KEY (account=? AND hour>? AND hour<?)
--   USE TEMP B-TREE FOR GROUP BY

-- selectUsages
-- Reads what accounts store.
select
  a.value as account,
  (
    coalesce(
      (
        select bytes
        from storage
        where account = a.value
      ),
      0
    ) + coalesce(
      (
        select sum(logged_bytes + written_bytes)
        from arrivals
        where
          account = a.value
          and hour >= coalesce(
            (
              select until_hour
              from storage
              where account = a.value
            ),
            0
          )
      ),
      0
    )
  ) as bytes,
  s.measured_at, s.measured_bytes, s.measuring
from
  json_each(:accounts) a
  left join storage s on s.account = a.value;
-- Query plan:
--   SCAN a VIRTUAL TABLE INDEX 1:
--   SEARCH s USING PRIMARY KEY (account=?) LEFT-JOIN
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH storage USING PRIMARY KEY (account=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--     CORRELATED SCALAR SUBQUERY 2
--       SEARCH storage USING PRIMARY KEY (account=?)

-- selectCounted
-- Reads what is counted when a measurement begins.
select coalesce(sum(logged_bytes + written_bytes), 0) as bytes
from arrivals
where
  account = :account
  and hour >= :hour;
-- Query plan:
--   SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)

-- measure
-- Measures the first rows of customers.
with
  step as materialized (
    select
      customer_id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (signup_date), 0) + coalesce(octet_length (last_modified_date), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (tracking_data), 0) + coalesce(octet_length (lang_id), 0) + coalesce(octet_length (country_code), 0) + coalesce(octet_length (kyc_status_id), 0) + coalesce(octet_length (sales_status_id), 0) + coalesce(octet_length (challenge_type), 0) + coalesce(octet_length (phase), 0) + coalesce(octet_length (account_size), 0) + coalesce(octet_length (trading_account_type), 0) + coalesce(octet_length (leverage), 0) + coalesce(octet_length (first_name), 0) + coalesce(octet_length (last_name), 0) + coalesce(octet_length (email), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + coalesce(octet_length (regtime), 0) + coalesce(octet_length (extras), 0) + coalesce(octet_length (first_day), 0) + coalesce(octet_length (verdict), 0) + coalesce(octet_length (link), 0) + coalesce(octet_length (first_seen_at), 0) + coalesce(octet_length (first_seen_day), 0) + 29 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + 2 as entry
    from customers
    where account = :account
    order by customer_id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(customer_id)
    from step
    order by customer_id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH customers USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of customers.
with
  step as materialized (
    select
      customer_id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (signup_date), 0) + coalesce(octet_length (last_modified_date), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (tracking_data), 0) + coalesce(octet_length (lang_id), 0) + coalesce(octet_length (country_code), 0) + coalesce(octet_length (kyc_status_id), 0) + coalesce(octet_length (sales_status_id), 0) + coalesce(octet_length (challenge_type), 0) + coalesce(octet_length (phase), 0) + coalesce(octet_length (account_size), 0) + coalesce(octet_length (trading_account_type), 0) + coalesce(octet_length (leverage), 0) + coalesce(octet_length (first_name), 0) + coalesce(octet_length (last_name), 0) + coalesce(octet_length (email), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + coalesce(octet_length (regtime), 0) + coalesce(octet_length (extras), 0) + coalesce(octet_length (first_day), 0) + coalesce(octet_length (verdict), 0) + coalesce(octet_length (link), 0) + coalesce(octet_length (first_seen_at), 0) + coalesce(octet_length (first_seen_day), 0) + 29 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + 2 as entry
    from customers
    where
      account = :account
      and (customer_id) > (:after_0)
    order by customer_id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(customer_id)
    from step
    order by customer_id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH customers USING PRIMARY KEY (account=? AND customer_id>?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of transactions.
with
  step as materialized (
    select
      day, customer_id, transaction_id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (transaction_id), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (transaction_type), 0) + coalesce(octet_length (amount_currency), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (transaction_date), 0) + coalesce(octet_length (status), 0) + coalesce(octet_length (amount_usd), 0) + coalesce(octet_length (transaction_subtype), 0) + coalesce(octet_length (note), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + 16 as payload,
      octet_length (account) + coalesce(octet_length (day), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (transaction_id), 0) + 4 as entry
    from transactions
    where account = :account
    order by day, customer_id, transaction_id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(day, customer_id, transaction_id)
    from step
    order by day desc, customer_id desc, transaction_id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH transactions USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of transactions.
with
  step as materialized (
    select
      day, customer_id, transaction_id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (transaction_id), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (transaction_type), 0) + coalesce(octet_length (amount_currency), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (transaction_date), 0) + coalesce(octet_length (status), 0) + coalesce(octet_length (amount_usd), 0) + coalesce(octet_length (transaction_subtype), 0) + coalesce(octet_length (note), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + 16 as payload,
      octet_length (account) + coalesce(octet_length (day), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (transaction_id), 0) + 4 as entry
    from transactions
    where
      account = :account
      and (day, customer_id, transaction_id) > (:after_0, :after_1, :after_2)
    order by day, customer_id, transaction_id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(day, customer_id, transaction_id)
    from step
    order by day desc, customer_id desc, transaction_id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH transactions USING PRIMARY KEY (account=? AND (day,customer_id,transaction_id)>(?,?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of activity.
with
  step as materialized (
    select
      date, customer_id, instrument, currency,
      coalesce(octet_length (account), 0) + coalesce(octet_length (date), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (instrument), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (lots_traded), 0) + coalesce(octet_length (pnl), 0) + coalesce(octet_length (drawdown), 0) + coalesce(octet_length (max_drawdown), 0) + coalesce(octet_length (volume_usd), 0) + coalesce(octet_length (spread_cost), 0) + coalesce(octet_length (commission), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + 16 as payload,
      octet_length (account) + coalesce(octet_length (date), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (instrument), 0) + coalesce(octet_length (currency), 0) + 5 as entry
    from activity
    where account = :account
    order by date, customer_id, instrument, currency
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(date, customer_id, instrument, currency)
    from step
    order by date desc, customer_id desc, instrument desc, currency desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH activity USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of activity.
with
  step as materialized (
    select
      date, customer_id, instrument, currency,
      coalesce(octet_length (account), 0) + coalesce(octet_length (date), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (instrument), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (lots_traded), 0) + coalesce(octet_length (pnl), 0) + coalesce(octet_length (drawdown), 0) + coalesce(octet_length (max_drawdown), 0) + coalesce(octet_length (volume_usd), 0) + coalesce(octet_length (spread_cost), 0) + coalesce(octet_length (commission), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + 16 as payload,
      octet_length (account) + coalesce(octet_length (date), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (instrument), 0) + coalesce(octet_length (currency), 0) + 5 as entry
    from activity
    where
      account = :account
      and (date, customer_id, instrument, currency) > (:after_0, :after_1, :after_2, :after_3)
    order by date, customer_id, instrument, currency
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(date, customer_id, instrument, currency)
    from step
    order by date desc, customer_id desc, instrument desc, currency desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH activity USING PRIMARY KEY (account=? AND (date,customer_id,instrument,currency)>(?,?,?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of events.
with
  step as materialized (
    select
      day, customer_id, id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (eventname), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (eventid), 0) + coalesce(octet_length (createtime), 0) + coalesce(octet_length (amount), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (product), 0) + coalesce(octet_length (kpis), 0) + coalesce(octet_length (details), 0) + coalesce(octet_length (record), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (first_day), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + 18 as payload,
      octet_length (account) + coalesce(octet_length (day), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (id), 0) + 4 as entry
    from events
    where account = :account
    order by day, customer_id, id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(day, customer_id, id)
    from step
    order by day desc, customer_id desc, id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH events USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of events.
with
  step as materialized (
    select
      day, customer_id, id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (eventname), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (eventid), 0) + coalesce(octet_length (createtime), 0) + coalesce(octet_length (amount), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (product), 0) + coalesce(octet_length (kpis), 0) + coalesce(octet_length (details), 0) + coalesce(octet_length (record), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (first_day), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (delivery), 0) + coalesce(octet_length (idx), 0) + coalesce(octet_length (revision), 0) + 18 as payload,
      octet_length (account) + coalesce(octet_length (day), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (id), 0) + 4 as entry
    from events
    where
      account = :account
      and (day, customer_id, id) > (:after_0, :after_1, :after_2)
    order by day, customer_id, id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(day, customer_id, id)
    from step
    order by day desc, customer_id desc, id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH events USING PRIMARY KEY (account=? AND (day,customer_id,id)>(?,?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of deliveries.
with
  step as materialized (
    select
      id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (attempt), 0) + coalesce(octet_length (received_at), 0) + coalesce(octet_length (resource), 0) + coalesce(octet_length (form), 0) + coalesce(octet_length (dry_run), 0) + coalesce(octet_length (lenient), 0) + coalesce(octet_length (received), 0) + coalesce(octet_length (errors_total), 0) + coalesce(octet_length (rejected), 0) + coalesce(octet_length (refused), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (stale), 0) + coalesce(octet_length (created), 0) + coalesce(octet_length (listed), 0) + coalesce(octet_length (written), 0) + coalesce(octet_length (held_written), 0) + coalesce(octet_length (errors), 0) + coalesce(octet_length (unknown_at), 0) + coalesce(octet_length (unknown_keys), 0) + coalesce(octet_length (stale_at), 0) + coalesce(octet_length (moved), 0) + coalesce(octet_length (erased_at), 0) + coalesce(octet_length (verdicts), 0) + coalesce(octet_length (reused), 0) + coalesce(octet_length (yesterday), 0) + coalesce(octet_length (today), 0) + coalesce(octet_length (written_bytes), 0) + coalesce(octet_length (over_quota), 0) + coalesce(octet_length (days), 0) + coalesce(octet_length (held_change), 0) + coalesce(octet_length (hold_refused), 0) + coalesce(octet_length (record_bytes), 0) + coalesce(octet_length (received_day), 0) + coalesce(octet_length (changed_events), 0) + coalesce(octet_length (affiliated), 0) + 37 as payload,
      octet_length (account) + coalesce(octet_length (id), 0) + 2 as entry
    from deliveries
    where account = :account
    order by id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(id)
    from step
    order by id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH deliveries USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of deliveries.
with
  step as materialized (
    select
      id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (attempt), 0) + coalesce(octet_length (received_at), 0) + coalesce(octet_length (resource), 0) + coalesce(octet_length (form), 0) + coalesce(octet_length (dry_run), 0) + coalesce(octet_length (lenient), 0) + coalesce(octet_length (received), 0) + coalesce(octet_length (errors_total), 0) + coalesce(octet_length (rejected), 0) + coalesce(octet_length (refused), 0) + coalesce(octet_length (held), 0) + coalesce(octet_length (stale), 0) + coalesce(octet_length (created), 0) + coalesce(octet_length (listed), 0) + coalesce(octet_length (written), 0) + coalesce(octet_length (held_written), 0) + coalesce(octet_length (errors), 0) + coalesce(octet_length (unknown_at), 0) + coalesce(octet_length (unknown_keys), 0) + coalesce(octet_length (stale_at), 0) + coalesce(octet_length (moved), 0) + coalesce(octet_length (erased_at), 0) + coalesce(octet_length (verdicts), 0) + coalesce(octet_length (reused), 0) + coalesce(octet_length (yesterday), 0) + coalesce(octet_length (today), 0) + coalesce(octet_length (written_bytes), 0) + coalesce(octet_length (over_quota), 0) + coalesce(octet_length (days), 0) + coalesce(octet_length (held_change), 0) + coalesce(octet_length (hold_refused), 0) + coalesce(octet_length (record_bytes), 0) + coalesce(octet_length (received_day), 0) + coalesce(octet_length (changed_events), 0) + coalesce(octet_length (affiliated), 0) + 37 as payload,
      octet_length (account) + coalesce(octet_length (id), 0) + 2 as entry
    from deliveries
    where
      account = :account
      and (id) > (:after_0)
    order by id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(id)
    from step
    order by id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id>?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of delivery_terms.
with
  step as materialized (
    select
      day, term, delivery,
      coalesce(octet_length (account), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (term), 0) + coalesce(octet_length (delivery), 0) + 4 as payload,
      octet_length (account) + coalesce(octet_length (day), 0) + coalesce(octet_length (term), 0) + coalesce(octet_length (delivery), 0) + 4 as entry
    from delivery_terms
    where account = :account
    order by day, term, delivery
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(day, term, delivery)
    from step
    order by day desc, term desc, delivery desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH delivery_terms USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of delivery_terms.
with
  step as materialized (
    select
      day, term, delivery,
      coalesce(octet_length (account), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (term), 0) + coalesce(octet_length (delivery), 0) + 4 as payload,
      octet_length (account) + coalesce(octet_length (day), 0) + coalesce(octet_length (term), 0) + coalesce(octet_length (delivery), 0) + 4 as entry
    from delivery_terms
    where
      account = :account
      and (day, term, delivery) > (:after_0, :after_1, :after_2)
    order by day, term, delivery
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(day, term, delivery)
    from step
    order by day desc, term desc, delivery desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH delivery_terms USING PRIMARY KEY (account=? AND (day,term,delivery)>(?,?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of idempotency_keys.
with
  step as materialized (
    select
      resource, key,
      coalesce(octet_length (account), 0) + coalesce(octet_length (resource), 0) + coalesce(octet_length (key), 0) + coalesce(octet_length (digest), 0) + coalesce(octet_length (delivery), 0) + 5 as payload,
      octet_length (account) + coalesce(octet_length (resource), 0) + coalesce(octet_length (key), 0) + 3 as entry
    from idempotency_keys
    where account = :account
    order by resource, key
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(resource, key)
    from step
    order by resource desc, key desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH idempotency_keys USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of idempotency_keys.
with
  step as materialized (
    select
      resource, key,
      coalesce(octet_length (account), 0) + coalesce(octet_length (resource), 0) + coalesce(octet_length (key), 0) + coalesce(octet_length (digest), 0) + coalesce(octet_length (delivery), 0) + 5 as payload,
      octet_length (account) + coalesce(octet_length (resource), 0) + coalesce(octet_length (key), 0) + 3 as entry
    from idempotency_keys
    where
      account = :account
      and (resource, key) > (:after_0, :after_1)
    order by resource, key
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(resource, key)
    from step
    order by resource desc, key desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH idempotency_keys USING PRIMARY KEY (account=? AND (resource,key)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of day_totals.
with
  step as materialized (
    select
      resource, day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (resource), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (form), 0) + coalesce(octet_length (totals), 0) + coalesce(octet_length (computation), 0) + coalesce(octet_length (checked_at), 0) + coalesce(octet_length (records), 0) + 8 as payload,
      octet_length (account) + coalesce(octet_length (resource), 0) + coalesce(octet_length (day), 0) + 3 as entry
    from day_totals
    where account = :account
    order by resource, day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(resource, day)
    from step
    order by resource desc, day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH day_totals USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of day_totals.
with
  step as materialized (
    select
      resource, day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (resource), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (form), 0) + coalesce(octet_length (totals), 0) + coalesce(octet_length (computation), 0) + coalesce(octet_length (checked_at), 0) + coalesce(octet_length (records), 0) + 8 as payload,
      octet_length (account) + coalesce(octet_length (resource), 0) + coalesce(octet_length (day), 0) + 3 as entry
    from day_totals
    where
      account = :account
      and (resource, day) > (:after_0, :after_1)
    order by resource, day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(resource, day)
    from step
    order by resource desc, day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH day_totals USING PRIMARY KEY (account=? AND (resource,day)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of customer_affiliations.
with
  step as materialized (
    select
      customer_id, day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (link), 0) + coalesce(octet_length (previous_affiliate_id), 0) + coalesce(octet_length (previous_link), 0) + coalesce(octet_length (delivery), 0) + 8 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + 3 as entry
    from customer_affiliations
    where account = :account
    order by customer_id, day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(customer_id, day)
    from step
    order by customer_id desc, day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH customer_affiliations USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of customer_affiliations.
with
  step as materialized (
    select
      customer_id, day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (link), 0) + coalesce(octet_length (previous_affiliate_id), 0) + coalesce(octet_length (previous_link), 0) + coalesce(octet_length (delivery), 0) + 8 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + 3 as entry
    from customer_affiliations
    where
      account = :account
      and (customer_id, day) > (:after_0, :after_1)
    order by customer_id, day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(customer_id, day)
    from step
    order by customer_id desc, day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH customer_affiliations USING PRIMARY KEY (account=? AND (customer_id,day)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of customer_fields.
with
  step as materialized (
    select
      customer_id, day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (country_code), 0) + coalesce(octet_length (trading_account_type), 0) + coalesce(octet_length (challenge_type), 0) + coalesce(octet_length (phase), 0) + coalesce(octet_length (kyc_status_id), 0) + coalesce(octet_length (sales_status_id), 0) + coalesce(octet_length (account_size), 0) + coalesce(octet_length (link), 0) + coalesce(octet_length (delivery), 0) + 12 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + 3 as entry
    from customer_fields
    where account = :account
    order by customer_id, day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(customer_id, day)
    from step
    order by customer_id desc, day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH customer_fields USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of customer_fields.
with
  step as materialized (
    select
      customer_id, day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + coalesce(octet_length (country_code), 0) + coalesce(octet_length (trading_account_type), 0) + coalesce(octet_length (challenge_type), 0) + coalesce(octet_length (phase), 0) + coalesce(octet_length (kyc_status_id), 0) + coalesce(octet_length (sales_status_id), 0) + coalesce(octet_length (account_size), 0) + coalesce(octet_length (link), 0) + coalesce(octet_length (delivery), 0) + 12 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (day), 0) + 3 as entry
    from customer_fields
    where
      account = :account
      and (customer_id, day) > (:after_0, :after_1)
    order by customer_id, day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(customer_id, day)
    from step
    order by customer_id desc, day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH customer_fields USING PRIMARY KEY (account=? AND (customer_id,day)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of kept_facts.
with
  step as materialized (
    select
      customer_id, first_day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (first_day), 0) + coalesce(octet_length (generation), 0) + coalesce(octet_length (facts), 0) + coalesce(octet_length (rows), 0) + 6 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (first_day), 0) + 3 as entry
    from kept_facts
    where account = :account
    order by customer_id, first_day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(customer_id, first_day)
    from step
    order by customer_id desc, first_day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH kept_facts USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of kept_facts.
with
  step as materialized (
    select
      customer_id, first_day,
      coalesce(octet_length (account), 0) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (first_day), 0) + coalesce(octet_length (generation), 0) + coalesce(octet_length (facts), 0) + coalesce(octet_length (rows), 0) + 6 as payload,
      octet_length (account) + coalesce(octet_length (customer_id), 0) + coalesce(octet_length (first_day), 0) + 3 as entry
    from kept_facts
    where
      account = :account
      and (customer_id, first_day) > (:after_0, :after_1)
    order by customer_id, first_day
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(customer_id, first_day)
    from step
    order by customer_id desc, first_day desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH kept_facts USING PRIMARY KEY (account=? AND (customer_id,first_day)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of statements.
with
  step as materialized (
    select
      period, affiliate_id, plan,
      coalesce(octet_length (account), 0) + coalesce(octet_length (period), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (plan), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (status), 0) + coalesce(octet_length (hash), 0) + coalesce(octet_length (digest), 0) + coalesce(octet_length (payable), 0) + coalesce(octet_length (closing), 0) + coalesce(octet_length (statement), 0) + coalesce(octet_length (lines), 0) + coalesce(octet_length (parts), 0) + coalesce(octet_length (state), 0) + coalesce(octet_length (read_at), 0) + coalesce(octet_length (computed_at), 0) + coalesce(octet_length (previous), 0) + coalesce(octet_length (approval), 0) + coalesce(octet_length (approved_at), 0) + coalesce(octet_length (payment), 0) + coalesce(octet_length (returned), 0) + 21 as payload,
      octet_length (account) + coalesce(octet_length (period), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (plan), 0) + 4 as entry
    from statements
    where account = :account
    order by period, affiliate_id, plan
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(period, affiliate_id, plan)
    from step
    order by period desc, affiliate_id desc, plan desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH statements USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of statements.
with
  step as materialized (
    select
      period, affiliate_id, plan,
      coalesce(octet_length (account), 0) + coalesce(octet_length (period), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (plan), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (status), 0) + coalesce(octet_length (hash), 0) + coalesce(octet_length (digest), 0) + coalesce(octet_length (payable), 0) + coalesce(octet_length (closing), 0) + coalesce(octet_length (statement), 0) + coalesce(octet_length (lines), 0) + coalesce(octet_length (parts), 0) + coalesce(octet_length (state), 0) + coalesce(octet_length (read_at), 0) + coalesce(octet_length (computed_at), 0) + coalesce(octet_length (previous), 0) + coalesce(octet_length (approval), 0) + coalesce(octet_length (approved_at), 0) + coalesce(octet_length (payment), 0) + coalesce(octet_length (returned), 0) + 21 as payload,
      octet_length (account) + coalesce(octet_length (period), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (plan), 0) + 4 as entry
    from statements
    where
      account = :account
      and (period, affiliate_id, plan) > (:after_0, :after_1, :after_2)
    order by period, affiliate_id, plan
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(
      sum(
        iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096) + iif(entry <= 1000, (entry + 12) * 1.2, 700 + (entry / 4092 + 1) * 4096)
      ),
      0
    ) as integer
  ) as bytes,
  (
    select json_array(period, affiliate_id, plan)
    from step
    order by period desc, affiliate_id desc, plan desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH statements USING PRIMARY KEY (account=? AND (period,affiliate_id,plan)>(?,?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of statement_lines.
with
  step as materialized (
    select
      id, part,
      coalesce(octet_length (account), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (part), 0) + coalesce(octet_length (lines), 0) + 4 as payload,
      octet_length (account) + coalesce(octet_length (id), 0) + coalesce(octet_length (part), 0) + 3 as entry
    from statement_lines
    where account = :account
    order by id, part
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(id, part)
    from step
    order by id desc, part desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH statement_lines USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of statement_lines.
with
  step as materialized (
    select
      id, part,
      coalesce(octet_length (account), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (part), 0) + coalesce(octet_length (lines), 0) + 4 as payload,
      octet_length (account) + coalesce(octet_length (id), 0) + coalesce(octet_length (part), 0) + 3 as entry
    from statement_lines
    where
      account = :account
      and (id, part) > (:after_0, :after_1)
    order by id, part
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(id, part)
    from step
    order by id desc, part desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH statement_lines USING PRIMARY KEY (account=? AND (id,part)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the first rows of ledger.
with
  step as materialized (
    select
      affiliate_id, id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (kind), 0) + coalesce(octet_length (plan), 0) + coalesce(octet_length (period), 0) + coalesce(octet_length (statement), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (amount), 0) + coalesce(octet_length (reference), 0) + coalesce(octet_length (actor), 0) + coalesce(octet_length (at), 0) + 12 as payload,
      octet_length (account) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (id), 0) + 3 as entry
    from ledger
    where account = :account
    order by affiliate_id, id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(affiliate_id, id)
    from step
    order by affiliate_id desc, id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH ledger USING PRIMARY KEY (account=?)
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step

-- measure
-- Measures the next rows of ledger.
with
  step as materialized (
    select
      affiliate_id, id,
      coalesce(octet_length (account), 0) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (id), 0) + coalesce(octet_length (kind), 0) + coalesce(octet_length (plan), 0) + coalesce(octet_length (period), 0) + coalesce(octet_length (statement), 0) + coalesce(octet_length (currency), 0) + coalesce(octet_length (amount), 0) + coalesce(octet_length (reference), 0) + coalesce(octet_length (actor), 0) + coalesce(octet_length (at), 0) + 12 as payload,
      octet_length (account) + coalesce(octet_length (affiliate_id), 0) + coalesce(octet_length (id), 0) + 3 as entry
    from ledger
    where
      account = :account
      and (affiliate_id, id) > (:after_0, :after_1)
    order by affiliate_id, id
    limit 10000
  )
select
  count(*) as found,
  cast(
    coalesce(sum(iif(payload <= 1000, (payload + 12) * 1.2, 700 + (payload / 4092 + 1) * 4096)), 0) as integer
  ) as bytes,
  (
    select json_array(affiliate_id, id)
    from step
    order by affiliate_id desc, id desc
    limit 1
  ) as last
from step;
-- Query plan:
--   MATERIALIZE step
--     SEARCH ledger USING PRIMARY KEY (account=? AND (affiliate_id,id)>(?,?))
--   SCAN step
--   SCALAR SUBQUERY 2
--     SCAN step
