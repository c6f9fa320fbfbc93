-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Stores a delivery of trading-activity; the account's policy for unknown references is reject.

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
        from customers r
        where
          r.account = :account
          and r.customer_id = value
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
      ) as unknown
    from
      sent
      left join activity t on t.account = :account
      and t.date = value ->> 1
      and t.customer_id = value ->> 2
      and t.instrument = value ->> 3
      and t.currency = value ->> 4
    limit -1
  ),
  counted as (
    select
      count(*) filter (where unknown) as errors, count(*) filter (where unknown) as rejected,
      0 as held, 0 as stale,
      count(*) filter (
        where
          is_new
          and not unknown
      ) as created,
      0 as repeated_created, 0 as leaves_held, 0 as becomes_held, 0 as new_held,
      nullif(json_group_array(value ->> 0) filter (where unknown), '[]') as unknown_at,
      null as stale_at, null as moved, null as erased_at, null as affiliated, null as verdicts,
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
                  iif(length(value ->> 2) > 40, substr(value ->> 2, 1, 40) || char(8230), value ->> 2),
                  iif(length(value ->> 3) > 40, substr(value ->> 3, 1, 40) || char(8230), value ->> 3),
                  iif(length(value ->> 4) > 40, substr(value ->> 4, 1, 40) || char(8230), value ->> 4),
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
--       SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?) LEFT-JOIN
--       SCALAR SUBQUERY 5
--         MATERIALIZE missing
--           SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--           CORRELATED SCALAR SUBQUERY 3
--             SEARCH r USING PRIMARY KEY (account=? AND customer_id=?)
--         SCAN missing
--       LIST SUBQUERY 6
--         SCAN missing
--         CREATE BLOOM FILTER
--     SCAN classified
--     SCALAR SUBQUERY 9
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       LIST SUBQUERY 8
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--     SCALAR SUBQUERY 10
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 12
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 11
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 9
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 8
--     SCALAR SUBQUERY 18
--       SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 9
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 8
--     SCALAR SUBQUERY 10
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 12
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 11
--         SEARCH storage USING PRIMARY KEY (account=?)
--   SCAN counted
--   SCALAR SUBQUERY 18
--     SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--   SCALAR SUBQUERY 17
--     CO-ROUTINE (subquery-16)
--       CO-ROUTINE (subquery-21)
--         CO-ROUTINE (subquery-15)
--           CO-ROUTINE classified
--             SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--             SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?) LEFT-JOIN
--             SCALAR SUBQUERY 5
--               SCAN missing
--             LIST SUBQUERY 6
--               SCAN missing
--               CREATE BLOOM FILTER
--           SCAN classified
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN (subquery-15)
--       SCAN (subquery-21)
--     SCAN (subquery-16)
--   SCALAR SUBQUERY 20
--     SEARCH e USING PRIMARY KEY (account=?)
--     SCAN w VIRTUAL TABLE INDEX 1:

-- upsert
-- Stores the records that do not move; a record that equals the stored one writes nothing.
-- Key: account, date, customer_id, instrument, currency.
-- Updated: lots_traded, pnl, drawdown, max_drawdown, volume_usd, spread_cost, commission; delivery
--   and idx, which name the last write; revision, the number of writes.
-- Not updated: held. Only a release changes it, since day and customer are part of the key.
-- The new record replaces the stored one: what it leaves out becomes null.
insert into
  activity as t (
    account, date, customer_id, instrument, currency, lots_traded, pnl, drawdown, max_drawdown,
    volume_usd, spread_cost, commission, held, delivery, idx, revision
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
  value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11,
  (
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
  ),
  :delivery, value ->> 0, 1
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
on conflict (account, date, customer_id, instrument, currency) do update
set
  lots_traded = excluded.lots_traded, pnl = excluded.pnl, drawdown = excluded.drawdown,
  max_drawdown = excluded.max_drawdown, volume_usd = excluded.volume_usd,
  spread_cost = excluded.spread_cost, commission = excluded.commission,
  delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
where
  (
    excluded.lots_traded, excluded.pnl, excluded.drawdown, excluded.max_drawdown,
    excluded.volume_usd, excluded.spread_cost, excluded.commission
  ) is not (t.lots_traded, t.pnl, t.drawdown, t.max_drawdown, t.volume_usd, t.spread_cost, t.commission)
  and not false
returning idx, revision;
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 5
--     MATERIALIZE delivery
--       SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN delivery
--   SCALAR SUBQUERY 6
--     SCAN delivery
--   SCALAR SUBQUERY 7
--     SCAN delivery
--   LIST SUBQUERY 9
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 8
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 2
--     SCAN delivery
--   LIST SUBQUERY 4
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 3
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
  cross join activity t on t.account = :account
  and t.date = value ->> 1
  and t.customer_id = value ->> 2
  and t.instrument = value ->> 3
  and t.currency = value ->> 4
where t.delivery = :delivery
union all
select value ->> 0, t.revision, 0
from
  jsonb_each (:rows)
  cross join activity t on t.account = :account
  and t.date = value ->> 1
  and t.customer_id = value ->> 2
  and t.instrument = value ->> 3
  and t.currency = value ->> 4
where t.delivery > :delivery;
-- Query plan:
--   COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?)
--     UNION ALL
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?)

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
      count(*) filter (where true) + ifnull(sum(null) filter (where true), 0) as written,
      count(*) filter (
        where
          (
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
      ) + ifnull(
        sum(null) filter (
          where
            (
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
        ),
        0
      ) as held
    from
      (
        select value
        from
          jsonb_each (:rows)
          left join activity t on t.account = :account
          and t.date = value ->> 1
          and t.customer_id = value ->> 2
          and t.instrument = value ->> 3
          and t.currency = value ->> 4
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
          and not false
          and (
            t.account is null
            or (value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11) is not (t.lots_traded, t.pnl, t.drawdown, t.max_drawdown, t.volume_usd, t.spread_cost, t.commission)
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
--     SCALAR SUBQUERY 8
--       MATERIALIZE delivery
--         SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--       SCAN delivery
--     SCALAR SUBQUERY 9
--       SCAN delivery
--     SCALAR SUBQUERY 10
--       SCAN delivery
--     LIST SUBQUERY 12
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 11
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?) LEFT-JOIN
--     SCALAR SUBQUERY 2
--       SCAN delivery
--     LIST SUBQUERY 4
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 3
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 5
--       SCAN delivery
--     LIST SUBQUERY 7
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 6
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
  left join activity t on t.account = :account
  and t.date = value ->> 1
  and t.customer_id = value ->> 2
  and t.instrument = value ->> 3
  and t.currency = value ->> 4
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
  and not false
  and (
    t.account is null
    or (value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11) is not (t.lots_traded, t.pnl, t.drawdown, t.max_drawdown, t.volume_usd, t.spread_cost, t.commission)
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
--   SEARCH t USING PRIMARY KEY (account=? AND date=? AND customer_id=? AND instrument=? AND currency=?) LEFT-JOIN

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
