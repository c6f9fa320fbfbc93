-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Stores a delivery of partner-customers; the account's policy for unknown references is warn.

-- insertDelivery
-- Inserts the delivery row and classifies every record; the statements after it read that row.
insert into
  deliveries (
    account, id, attempt, received_at, received_day, resource, form, dry_run, lenient, received,
    errors_total, rejected, refused, held, stale, created, listed, held_change, hold_refused,
    reused, yesterday, today, days, errors, unknown_at, unknown_keys, stale_at, moved, erased_at,
    verdicts, affiliated, written_bytes, record_bytes, over_quota
  )
with
  sent (value) as (
    select value
    from jsonb_each (:lookup_1)
  ),
  missing (reference) as materialized (
    select value
    from
      (
        select value
        from jsonb_each (:references_1)
      )
    where
      not exists (
        select 1
        from affiliates r
        where
          r.account = :account
          and r.affiliate_id = value
      )
  ),
  classified as not materialized (
    select
      value, t.account is null as is_new,
      iif(
        iif(
          exists (
            select 1
            from missing
          ),
          value ->> 2 in (
            select reference
            from missing
          ),
          0
        ),
        1, 0
      ) as unknown,
      (value ->> 4 < t.last_modified_date) is true as stale,
      iif(t.account is null, 0, not (t.day) is (value ->> 3)) as moved,
      exists (
        select 1
        from erasures e
        where
          e.account = :account
          and e.customer_id = value ->> 1
      ) as erased,
      iif(
        t.account is null
        or value ->> 2 is null
        or t.affiliate_id is value ->> 2, null,
        iif(
          exists (
            select 1
            from customer_affiliations h
            where
              h.account = :account
              and h.customer_id = value ->> 1
          ),
          iif(
            (
              select h.affiliate_id
              from customer_affiliations h
              where
                h.account = :account
                and h.customer_id = value ->> 1
              order by h.day desc
              limit 1
            ) is value ->> 2,
            null,
            iif(
              (
                t.first_seen_at > :received_at - 86400000
                and not exists (
                  select 1
                  from customer_affiliations h
                  where
                    h.account = :account
                    and h.customer_id = value ->> 1
                    and (
                      h.day > -719528
                      or h.delivery is null
                    )
                )
                and not exists (
                  select 1
                  from statements s
                  where
                    s.account = :account
                    and s.affiliate_id = t.affiliate_id
                    and s.status <> 'draft'
                    and s.approved_at >= t.first_seen_at
                    and s.period >= strftime(iif(s.period like '%-W%', '%G-W%V', '%Y-%m'), t.day * 86400, 'unixepoch')
                )
              ),
              json_array(value ->> 3, 1),
              json_array(
                max(
                  :received_day,
                  ifnull(
                    (
                      select h.day
                      from customer_affiliations h
                      where
                        h.account = :account
                        and h.customer_id = value ->> 1
                      order by h.day desc
                      limit 1
                    ),
                    :received_day
                  )
                ),
                0
              )
            )
          ),
          iif(
            t.affiliate_id is null, null,
            iif(
              (
                t.first_seen_at > :received_at - 86400000
                and not exists (
                  select 1
                  from customer_affiliations h
                  where
                    h.account = :account
                    and h.customer_id = value ->> 1
                    and (
                      h.day > -719528
                      or h.delivery is null
                    )
                )
                and not exists (
                  select 1
                  from statements s
                  where
                    s.account = :account
                    and s.affiliate_id = t.affiliate_id
                    and s.status <> 'draft'
                    and s.approved_at >= t.first_seen_at
                    and s.period >= strftime(iif(s.period like '%-W%', '%G-W%V', '%Y-%m'), t.day * 86400, 'unixepoch')
                )
              ),
              json_array(value ->> 3, 1),
              json_array(
                max(
                  :received_day,
                  ifnull(
                    (
                      select h.day
                      from customer_affiliations h
                      where
                        h.account = :account
                        and h.customer_id = value ->> 1
                      order by h.day desc
                      limit 1
                    ),
                    :received_day
                  )
                ),
                0
              )
            )
          )
        )
      ) as affiliated
    from
      sent
      left join customers t on t.account = :account
      and t.customer_id = value ->> 1
    limit -1
  ),
  counted as (
    select
      0 as errors, 0 as rejected, 0 as held, count(*) filter (where stale) as stale,
      count(*) filter (where is_new) as created,
      0 as repeated_created, 0 as leaves_held, 0 as becomes_held, 0 as new_held,
      nullif(json_group_array(value ->> 0) filter (where unknown), '[]') as unknown_at,
      nullif(json_group_array(value ->> 0) filter (where stale), '[]') as stale_at,
      nullif(
        json_group_array(value ->> 0) filter (
          where
            moved
            and not stale
        ),
        '[]'
      ) as moved,
      nullif(json_group_array(value ->> 0) filter (where erased), '[]') as erased_at,
      nullif(
        json_group_object(value ->> 0, json(affiliated)) filter (
          where
            affiliated is not null
            and not stale
        ),
        '{}'
      ) as affiliated,
      null as verdicts,
      exists (
        select 1
        from idempotency_keys
        where
          account = :account
          and resource = :resource
          and key = :idempotency_key
          and digest not in (
            select value
            from json_each(:records_digests)
          )
      ) as reused,
      (
        coalesce(
          (
            select bytes
            from storage
            where account = :account
          ),
          0
        ) + coalesce(
          (
            select sum(logged_bytes + written_bytes)
            from arrivals
            where
              account = :account
              and hour >= coalesce(
                (
                  select until_hour
                  from storage
                  where account = :account
                ),
                0
              )
          ),
          0
        )
      ) as usage
    from classified
  ),
  decided as (
    select
      *, reused
      or (
        rejected > 0
        and not :lenient
      ) as is_refused,
      usage >= :storage_quota
      and not (
        reused
        or (
          rejected > 0
          and not :lenient
        )
      ) as is_full
    from counted
  )
select
  :account, :delivery, :attempt, :received_at, :received_day, :resource, :form, :dry_run, :lenient,
  :received, iif(reused, 1, :errors_total + errors), iif(reused, :received, :invalid + rejected),
  iif(
    reused
    or (
      is_full
      and not :dry_run
    ),
    :received, iif(:lenient, 0, :invalid + rejected)
  ),
  held, stale, created, created - repeated_created + leaves_held - becomes_held,
  new_held + becomes_held - leaves_held, :hold_refused, reused, :has_yesterday, :has_today,
  iif(
    :dry_run
    or is_refused
    or (
      :invalid
      and not :lenient
    )
    or is_full, '[]', :days
  ),
  :errors, unknown_at,
  iif(
    errors,
    (
      select json_group_array(json(named))
      from
        (
          select named, sum(octet_length (named)) over (order by idx) as bytes
          from
            (
              select
                value ->> 0 as idx,
                json_array(
                  value ->> 0,
                  iif(length(value ->> 1) > 40, substr(value ->> 1, 1, 40) || char(8230), value ->> 1),
                  iif(length(value ->> 2) > 40, substr(value ->> 2, 1, 40) || char(8230), value ->> 2)
                ) as named
              from classified
              where unknown
              order by idx
              limit 1000
            )
        )
      where bytes < 262144
    ),
    null
  ),
  stale_at, moved, erased_at, verdicts, affiliated, iif(is_refused, 0, :written_bytes),
  :record_bytes, iif(is_full, usage, null)
from decided
where
  not exists (
    select 1
    from delivery_conditions
    where
      account = :account
      and (
        resetting
        or book_zone <> :book_zone
      )
  )
  and (
    moved is null
    or is_refused
    or is_full
  )
on conflict (account, id) do nothing
returning
  *,
  iif(
    rejected > 0,
    exists (
      select 1
      from webhook_wants
      where
        account = :account
        and type in ('delivery.refused', '*')
    ),
    0
  ) as notifies;
-- Query plan:
--   CO-ROUTINE counted
--     CO-ROUTINE classified
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--       SCALAR SUBQUERY 5
--         MATERIALIZE missing
--           SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--           CORRELATED SCALAR SUBQUERY 3
--             SEARCH r USING PRIMARY KEY (account=? AND affiliate_id=?)
--         SCAN missing
--       LIST SUBQUERY 6
--         SCAN missing
--         CREATE BLOOM FILTER
--       CORRELATED SCALAR SUBQUERY 7
--         SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 8
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 9
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 10
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 11
--         SEARCH s USING PRIMARY KEY (account=?)
--       CORRELATED SCALAR SUBQUERY 12
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 13
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 14
--         SEARCH s USING PRIMARY KEY (account=?)
--       CORRELATED SCALAR SUBQUERY 15
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--     SCAN classified
--     SCALAR SUBQUERY 18
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       LIST SUBQUERY 17
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--     SCALAR SUBQUERY 19
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 21
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 20
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 18
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 17
--     SCALAR SUBQUERY 27
--       SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 18
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 17
--     SCALAR SUBQUERY 19
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 21
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 20
--         SEARCH storage USING PRIMARY KEY (account=?)
--   SCAN counted
--   SCALAR SUBQUERY 27
--     SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--   SCALAR SUBQUERY 26
--     CO-ROUTINE (subquery-25)
--       CO-ROUTINE (subquery-30)
--         CO-ROUTINE (subquery-24)
--           CO-ROUTINE classified
--             SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--             SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--             SCALAR SUBQUERY 5
--               SCAN missing
--             LIST SUBQUERY 6
--               SCAN missing
--               CREATE BLOOM FILTER
--             CORRELATED SCALAR SUBQUERY 7
--               SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 8
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 9
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 10
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 11
--               SEARCH s USING PRIMARY KEY (account=?)
--             CORRELATED SCALAR SUBQUERY 12
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 13
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 14
--               SEARCH s USING PRIMARY KEY (account=?)
--             CORRELATED SCALAR SUBQUERY 15
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--           SCAN classified
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN (subquery-24)
--       SCAN (subquery-30)
--     SCAN (subquery-25)
--   SCALAR SUBQUERY 29
--     SEARCH e USING PRIMARY KEY (account=?)
--     SCAN w VIRTUAL TABLE INDEX 1:

-- upsert
-- Stores the records that do not move; a record that equals the stored one writes nothing.
-- Key: account, customer_id.
-- Updated: signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code,
--   kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type,
--   leverage, first_name, last_name, email, verdict, link; delivery and idx, which name the last
--   write; revision, the number of writes.
-- Not updated: day. SQLite would write an entry of an index even where the value is equal.
--   upsertMoved updates indexed columns.
-- The new record replaces the stored one: what it leaves out becomes null.
-- Not stored: a record whose last_modified_date is earlier than the stored one.
-- Stored as null if the customer was erased: first_name, last_name, email.
insert into
  customers as t (
    account, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id,
    country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size,
    trading_account_type, leverage, first_name, last_name, email, day, verdict, link, first_seen_at,
    delivery, idx, revision
  )
with
  delivery as materialized (
    select refused, unknown_at, unknown_keys, moved, erased_at
    from deliveries
    where
      account = :account
      and id = :delivery
      and attempt = :attempt
  )
select
  :account, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
  value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
  value ->> 14,
  iif(
    (
      (
        select erased_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select erased_at
              from delivery
            )
          )
      )
    ),
    null, value ->> 15
  ),
  iif(
    (
      (
        select erased_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select erased_at
              from delivery
            )
          )
      )
    ),
    null, value ->> 16
  ),
  iif(
    (
      (
        select erased_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select erased_at
              from delivery
            )
          )
      )
    ),
    null, value ->> 17
  ),
  value ->> 18, value ->> 19, value ->> 20, :received_at, :delivery, value ->> 0, 1
from jsonb_each (:rows)
where
  (
    select refused
    from delivery
  ) = 0
  and (
    (
      select unknown_keys
      from delivery
    ) is null
    or not (
      (
        select unknown_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select unknown_at
              from delivery
            )
          )
      )
    )
  )
on conflict (account, customer_id) do update
set
  signup_date = excluded.signup_date, last_modified_date = excluded.last_modified_date,
  affiliate_id = excluded.affiliate_id, tracking_data = excluded.tracking_data,
  lang_id = excluded.lang_id, country_code = excluded.country_code,
  kyc_status_id = excluded.kyc_status_id, sales_status_id = excluded.sales_status_id,
  challenge_type = excluded.challenge_type, phase = excluded.phase,
  account_size = excluded.account_size, trading_account_type = excluded.trading_account_type,
  leverage = excluded.leverage, first_name = excluded.first_name, last_name = excluded.last_name,
  email = excluded.email, verdict = excluded.verdict, link = excluded.link,
  delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
where
  (
    excluded.signup_date, excluded.last_modified_date, excluded.affiliate_id,
    excluded.tracking_data, excluded.lang_id, excluded.country_code, excluded.kyc_status_id,
    excluded.sales_status_id, excluded.challenge_type, excluded.phase, excluded.account_size,
    excluded.trading_account_type, excluded.leverage, excluded.first_name, excluded.last_name,
    excluded.email, excluded.verdict, excluded.link
  ) is not (
    t.signup_date, t.last_modified_date, t.affiliate_id, t.tracking_data, t.lang_id, t.country_code,
    t.kyc_status_id, t.sales_status_id, t.challenge_type, t.phase, t.account_size,
    t.trading_account_type, t.leverage, t.first_name, t.last_name, t.email, t.verdict, t.link
  )
  and not (excluded.last_modified_date < t.last_modified_date) is true
returning idx, revision;
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 11
--     MATERIALIZE delivery
--       SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN delivery
--   SCALAR SUBQUERY 12
--     SCAN delivery
--   SCALAR SUBQUERY 13
--     SCAN delivery
--   LIST SUBQUERY 15
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 14
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 2
--     SCAN delivery
--   LIST SUBQUERY 4
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 3
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 5
--     SCAN delivery
--   LIST SUBQUERY 7
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 6
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 8
--     SCAN delivery
--   LIST SUBQUERY 10
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 9
--       SCAN delivery
--     CREATE BLOOM FILTER

-- countWritten
-- Counts what the statement before wrote.
update deliveries
set written = written + changes()
where
  changes() > 0
  and account = :account
  and id = :delivery
  and attempt = :attempt
returning written, held_written, changed_events;
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)

-- release transactions
-- Releases the records that waited for these customers.
update transactions
set held = 0
where
  (
    select created
    from deliveries
    where
      account = :account
      and id = :delivery
      and attempt = :attempt
      and refused = 0
  ) > 0
  and (account, transaction_id) in (
    select w.account, w.transaction_id
    from
      jsonb_each (:rows)
      cross join transactions w indexed by transactions_held on w.account = :account
      and w.held = 1
      and w.customer_id = value ->> 1
    where
      exists (
        select 1
        from customers c
        where
          c.account = :account
          and c.customer_id = w.customer_id
      )
    limit :max_released
  );
-- Query plan:
--   SEARCH transactions USING INDEX transactions_key (account=? AND transaction_id=?)
--   LIST SUBQUERY 4
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SEARCH w USING COVERING INDEX transactions_held (account=? AND customer_id=?)
--     SEARCH c EXISTS USING PRIMARY KEY (account=? AND customer_id=?)
--   SCALAR SUBQUERY 1
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)

-- addReleased
-- Adds what was released to its total.
insert into totals (account, resource, total, held, releasing)
select
  :account, 'transactions', changes(), - changes(),
  iif(
    changes() >= :max_released
    and exists (
      select 1
      from transactions indexed by transactions_held
      where
        account = :account
        and held = 1
    ),
    :delivery, null
  )
where changes() > 0
on conflict (account, resource) do update
set
  total = total + excluded.total, held = held + excluded.held,
  releasing = coalesce(excluded.releasing, releasing)
returning releasing is :delivery as releasing;
-- Query plan:
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 1
--     SEARCH transactions USING COVERING INDEX transactions_held (account=?)

-- release trading-activity
-- Releases the records that waited for these customers.
update activity
set held = 0
where
  (
    select created
    from deliveries
    where
      account = :account
      and id = :delivery
      and attempt = :attempt
      and refused = 0
  ) > 0
  and (account, date, customer_id, instrument, currency) in (
    select w.account, w.date, w.customer_id, w.instrument, w.currency
    from
      jsonb_each (:rows)
      cross join activity w indexed by activity_held on w.account = :account
      and w.held = 1
      and w.customer_id = value ->> 1
    where
      exists (
        select 1
        from customers c
        where
          c.account = :account
          and c.customer_id = w.customer_id
      )
    limit :max_released
  );
-- Query plan:
--   SEARCH activity USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?)
--   LIST SUBQUERY 4
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SEARCH w USING COVERING INDEX activity_held (account=? AND customer_id=?)
--     SEARCH c EXISTS USING PRIMARY KEY (account=? AND customer_id=?)
--   SCALAR SUBQUERY 1
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)

-- addReleased
-- Adds what was released to its total.
insert into totals (account, resource, total, held, releasing)
select
  :account, 'trading-activity', changes(), - changes(),
  iif(
    changes() >= :max_released
    and exists (
      select 1
      from activity indexed by activity_held
      where
        account = :account
        and held = 1
    ),
    :delivery, null
  )
where changes() > 0
on conflict (account, resource) do update
set
  total = total + excluded.total, held = held + excluded.held,
  releasing = coalesce(excluded.releasing, releasing)
returning releasing is :delivery as releasing;
-- Query plan:
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 1
--     SEARCH activity USING COVERING INDEX activity_held (account=?)

-- upsertMoved
-- Stores the records that move to another day or customer; runs before upsert, in a second batch.
-- Key: account, customer_id.
-- Updated: signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code,
--   kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type,
--   leverage, first_name, last_name, email, verdict, link, day; delivery and idx, which name the
--   last write; revision, the number of writes.
-- The new record replaces the stored one: what it leaves out becomes null.
-- Stored as null if the customer was erased: first_name, last_name, email.
insert into
  customers as t (
    account, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id,
    country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size,
    trading_account_type, leverage, first_name, last_name, email, day, verdict, link, first_seen_at,
    delivery, idx, revision
  )
with
  delivery as materialized (
    select refused, unknown_at, unknown_keys, moved, erased_at
    from deliveries
    where
      account = :account
      and id = :delivery
      and attempt = :attempt
  )
select
  :account, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
  value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
  value ->> 14,
  iif(
    (
      (
        select erased_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select erased_at
              from delivery
            )
          )
      )
    ),
    null, value ->> 15
  ),
  iif(
    (
      (
        select erased_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select erased_at
              from delivery
            )
          )
      )
    ),
    null, value ->> 16
  ),
  iif(
    (
      (
        select erased_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select erased_at
              from delivery
            )
          )
      )
    ),
    null, value ->> 17
  ),
  value ->> 18, value ->> 19, value ->> 20, :received_at, :delivery, value ->> 0, 1
from
  jsonb_each (:rows)
  left join customers t on t.account = :account
  and t.customer_id = value ->> 1
where
  (
    (
      select moved
      from delivery
    ) is not null
    and value ->> 0 in (
      select value
      from
        json_each(
          (
            select moved
            from delivery
          )
        )
    )
  )
  and (
    select refused
    from delivery
  ) = 0
  and (
    (
      select unknown_keys
      from delivery
    ) is null
    or not (
      (
        select unknown_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select unknown_at
              from delivery
            )
          )
      )
    )
  )
on conflict (account, customer_id) do update
set
  signup_date = excluded.signup_date, last_modified_date = excluded.last_modified_date,
  affiliate_id = excluded.affiliate_id, tracking_data = excluded.tracking_data,
  lang_id = excluded.lang_id, country_code = excluded.country_code,
  kyc_status_id = excluded.kyc_status_id, sales_status_id = excluded.sales_status_id,
  challenge_type = excluded.challenge_type, phase = excluded.phase,
  account_size = excluded.account_size, trading_account_type = excluded.trading_account_type,
  leverage = excluded.leverage, first_name = excluded.first_name, last_name = excluded.last_name,
  email = excluded.email, verdict = excluded.verdict, link = excluded.link, day = excluded.day,
  delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
where
  (
    excluded.signup_date, excluded.last_modified_date, excluded.affiliate_id,
    excluded.tracking_data, excluded.lang_id, excluded.country_code, excluded.kyc_status_id,
    excluded.sales_status_id, excluded.challenge_type, excluded.phase, excluded.account_size,
    excluded.trading_account_type, excluded.leverage, excluded.first_name, excluded.last_name,
    excluded.email, excluded.verdict, excluded.link
  ) is not (
    t.signup_date, t.last_modified_date, t.affiliate_id, t.tracking_data, t.lang_id, t.country_code,
    t.kyc_status_id, t.sales_status_id, t.challenge_type, t.phase, t.account_size,
    t.trading_account_type, t.leverage, t.first_name, t.last_name, t.email, t.verdict, t.link
  )
  or (excluded.day) is not (t.day)
returning idx, revision;
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 11
--     MATERIALIZE delivery
--       SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN delivery
--   LIST SUBQUERY 13
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 12
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 14
--     SCAN delivery
--   SCALAR SUBQUERY 15
--     SCAN delivery
--   SCALAR SUBQUERY 16
--     SCAN delivery
--   LIST SUBQUERY 18
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 17
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 2
--     SCAN delivery
--   LIST SUBQUERY 4
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 3
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 5
--     SCAN delivery
--   LIST SUBQUERY 7
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 6
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 8
--     SCAN delivery
--   LIST SUBQUERY 10
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 9
--       SCAN delivery
--     CREATE BLOOM FILTER

-- selectDelivery
-- After a lost answer: reads the row that the earlier attempt inserted.
select *
from deliveries
where
  account = :account
  and id = :delivery;
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)

-- selectEarlierWrites
-- After a lost answer: lists what the earlier attempt wrote.
select t.idx as idx, t.revision as revision, 1 as is_own
from
  jsonb_each (:rows)
  cross join customers t on t.account = :account
  and t.customer_id = value ->> 1
where t.delivery = :delivery
union all
select value ->> 0, t.revision, 0
from
  jsonb_each (:rows)
  cross join customers t on t.account = :account
  and t.customer_id = value ->> 1
where t.delivery > :delivery;
-- Query plan:
--   COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING PRIMARY KEY (account=? AND customer_id=?)
--     UNION ALL
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING PRIMARY KEY (account=? AND customer_id=?)

-- countDryRun
-- Dry run: counts what would be written.
with
  delivery as materialized (
    select refused, unknown_at, unknown_keys, moved, erased_at
    from deliveries
    where
      account = :account
      and id = :delivery
  ),
  would_write as materialized (
    select
      count(*) filter (where true) + ifnull(sum(null) filter (where true), 0) as written, 0 as held
    from
      (
        select value
        from
          jsonb_each (:rows)
          left join customers t on t.account = :account
          and t.customer_id = value ->> 1
        where
          (
            select refused
            from delivery
          ) = 0
          and (
            (
              select unknown_keys
              from delivery
            ) is null
            or not (
              (
                select unknown_at
                from delivery
              ) is not null
              and value ->> 0 in (
                select value
                from
                  json_each(
                    (
                      select unknown_at
                      from delivery
                    )
                  )
              )
            )
          )
          and not (value ->> 3 < t.last_modified_date) is true
          and (
            t.account is null
            or (
              value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
              value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
              value ->> 14,
              iif(
                (
                  (
                    select erased_at
                    from delivery
                  ) is not null
                  and value ->> 0 in (
                    select value
                    from
                      json_each(
                        (
                          select erased_at
                          from delivery
                        )
                      )
                  )
                ),
                null, value ->> 15
              ),
              iif(
                (
                  (
                    select erased_at
                    from delivery
                  ) is not null
                  and value ->> 0 in (
                    select value
                    from
                      json_each(
                        (
                          select erased_at
                          from delivery
                        )
                      )
                  )
                ),
                null, value ->> 16
              ),
              iif(
                (
                  (
                    select erased_at
                    from delivery
                  ) is not null
                  and value ->> 0 in (
                    select value
                    from
                      json_each(
                        (
                          select erased_at
                          from delivery
                        )
                      )
                  )
                ),
                null, value ->> 17
              ),
              value ->> 18, value ->> 19, value ->> 20
            ) is not (
              t.signup_date, t.last_modified_date, t.affiliate_id, t.tracking_data, t.lang_id,
              t.country_code, t.kyc_status_id, t.sales_status_id, t.challenge_type, t.phase,
              t.account_size, t.trading_account_type, t.leverage, t.first_name, t.last_name,
              t.email, t.day, t.verdict, t.link
            )
          )
      )
  )
update deliveries
set
  written = deliveries.written + would_write.written,
  held_written = deliveries.held_written + would_write.held
from would_write
where
  account = :account
  and id = :delivery
  and attempt = :attempt
returning written, held_written, changed_events;
-- Query plan:
--   MATERIALIZE would_write
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 2
--       MATERIALIZE delivery
--         SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--       SCAN delivery
--     SCALAR SUBQUERY 3
--       SCAN delivery
--     SCALAR SUBQUERY 4
--       SCAN delivery
--     LIST SUBQUERY 6
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 5
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--     SCALAR SUBQUERY 7
--       SCAN delivery
--     LIST SUBQUERY 9
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 8
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 10
--       SCAN delivery
--     LIST SUBQUERY 12
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 11
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 13
--       SCAN delivery
--     LIST SUBQUERY 15
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 14
--         SCAN delivery
--       CREATE BLOOM FILTER
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--   SCAN would_write

-- selectDryRun
-- Dry run: lists what would be written.
with
  delivery as materialized (
    select refused, unknown_at, unknown_keys, moved, erased_at
    from deliveries
    where
      account = :account
      and id = :delivery
  )
select value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision, 0 as changes_kind
from
  jsonb_each (:rows)
  left join customers t on t.account = :account
  and t.customer_id = value ->> 1
where
  (
    select refused
    from delivery
  ) = 0
  and (
    (
      select unknown_keys
      from delivery
    ) is null
    or not (
      (
        select unknown_at
        from delivery
      ) is not null
      and value ->> 0 in (
        select value
        from
          json_each(
            (
              select unknown_at
              from delivery
            )
          )
      )
    )
  )
  and not (value ->> 3 < t.last_modified_date) is true
  and (
    t.account is null
    or (
      value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
      value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14,
      iif(
        (
          (
            select erased_at
            from delivery
          ) is not null
          and value ->> 0 in (
            select value
            from
              json_each(
                (
                  select erased_at
                  from delivery
                )
              )
          )
        ),
        null, value ->> 15
      ),
      iif(
        (
          (
            select erased_at
            from delivery
          ) is not null
          and value ->> 0 in (
            select value
            from
              json_each(
                (
                  select erased_at
                  from delivery
                )
              )
          )
        ),
        null, value ->> 16
      ),
      iif(
        (
          (
            select erased_at
            from delivery
          ) is not null
          and value ->> 0 in (
            select value
            from
              json_each(
                (
                  select erased_at
                  from delivery
                )
              )
          )
        ),
        null, value ->> 17
      ),
      value ->> 18, value ->> 19, value ->> 20
    ) is not (
      t.signup_date, t.last_modified_date, t.affiliate_id, t.tracking_data, t.lang_id,
      t.country_code, t.kyc_status_id, t.sales_status_id, t.challenge_type, t.phase, t.account_size,
      t.trading_account_type, t.leverage, t.first_name, t.last_name, t.email, t.day, t.verdict,
      t.link
    )
  );
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 2
--     MATERIALIZE delivery
--       SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN delivery
--   SCALAR SUBQUERY 3
--     SCAN delivery
--   SCALAR SUBQUERY 4
--     SCAN delivery
--   LIST SUBQUERY 6
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 5
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--   SCALAR SUBQUERY 7
--     SCAN delivery
--   LIST SUBQUERY 9
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 8
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 10
--     SCAN delivery
--   LIST SUBQUERY 12
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 11
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 13
--     SCAN delivery
--   LIST SUBQUERY 15
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 14
--       SCAN delivery
--     CREATE BLOOM FILTER

-- discardDryRun
-- Dry run: deletes its row if the log of this day is full.
delete from deliveries
where
  account = :account
  and id = :delivery
  and (
    :probes
    or (
      over_quota is not null
      and written > 0
    )
    or (
      select sum(logged_bytes)
      from arrivals
      where
        account = :account
        and hour >= cast(:received_at as integer) / 86400000 * 24
        and hour < cast(:received_at as integer) / 86400000 * 24 + 24
    ) >= 16777216
  );
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--   SCALAR SUBQUERY 1
--     SEARCH arrivals USING PRIMARY KEY (account=? AND hour>? AND hour<?)
