-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Stores a delivery of brand-activities; the account's policy for unknown references is hold.

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
        1,
        iif(
          (
            select releasing
            from totals
            where
              account = :account
              and resource = :resource
          ) is null,
          0,
          iif(
            value ->> 2 is not null
            and (t.customer_id, t.day) is (value ->> 2, coalesce(value ->> 3, t.first_day)),
            ifnull(
              (
                select h.held
                from events h
                where
                  h.account = :account
                  and h.id = value ->> 1
              ),
              0
            ),
            0
          )
        )
      ) as unknown,
      iif(
        t.account is null, 0,
        not (t.customer_id, t.day) is (value ->> 2, coalesce(value ->> 3, t.first_day))
      ) as moved,
      iif(
        value ->> 4
        and exists (
          select 1
          from erasures
          where account = :account
        ),
        exists (
          select 1
          from erasures e
          where
            e.account = :account
            and e.customer_id = value ->> 2
        ),
        0
      ) as erased
    from
      sent
      left join events t indexed by events_key on t.account = :account
      and t.id = value ->> 1
    limit -1
  ),
  counted as (
    select
      0 as errors, 0 as rejected, count(*) filter (where unknown) as held, 0 as stale,
      count(*) filter (
        where
          is_new
          and not unknown
      ) as created,
      0 as repeated_created,
      count(*) filter (
        where
          iif(
            moved,
            ifnull(
              (
                select h.held
                from events h
                where
                  h.account = :account
                  and h.id = value ->> 1
              ),
              0
            ),
            0
          )
          and moved
          and not unknown
      ) as leaves_held,
      count(*) filter (
        where
          moved
          and unknown
          and not iif(
            moved,
            ifnull(
              (
                select h.held
                from events h
                where
                  h.account = :account
                  and h.id = value ->> 1
              ),
              0
            ),
            0
          )
      ) as becomes_held,
      count(*) filter (
        where
          is_new
          and unknown
      ) as new_held,
      nullif(json_group_array(value ->> 0) filter (where unknown), '[]') as unknown_at,
      null as stale_at, nullif(json_group_array(value ->> 0) filter (where moved), '[]') as moved,
      nullif(json_group_array(value ->> 0) filter (where erased), '[]') as erased_at,
      null as affiliated, null as verdicts,
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
                  iif(
                    value ->> 1 like 'd [%',
                    'd ' || json_array(substr(value ->> 1, 3) ->> 0, substr(value ->> 1, 3) ->> 1),
                    iif(length(value ->> 1) > 40, substr(value ->> 1, 1, 40) || char(8230), value ->> 1)
                  ),
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
  and (
    (
      is_full
      and not :dry_run
    )
    or (
      new_held + becomes_held = 0
      or new_held + becomes_held + (
        select coalesce(sum(held), 0)
        from totals
        where account = :account
      ) <= :max_held
    )
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
--       SEARCH t USING INDEX events_key (account=? AND id=?) LEFT-JOIN
--       SCALAR SUBQUERY 5
--         MATERIALIZE missing
--           SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--           CORRELATED SCALAR SUBQUERY 3
--             SEARCH r USING PRIMARY KEY (account=? AND customer_id=?)
--         SCAN missing
--       LIST SUBQUERY 6
--         SCAN missing
--         CREATE BLOOM FILTER
--       SCALAR SUBQUERY 7
--         SEARCH totals USING PRIMARY KEY (account=? AND resource=?)
--       CORRELATED SCALAR SUBQUERY 8
--         SEARCH h USING INDEX events_key (account=? AND id=?)
--       SCALAR SUBQUERY 9
--         SEARCH erasures USING PRIMARY KEY (account=?)
--       CORRELATED SCALAR SUBQUERY 10
--         SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--     SCAN classified
--     CORRELATED SCALAR SUBQUERY 12
--       SEARCH h USING INDEX events_key (account=? AND id=?)
--     CORRELATED SCALAR SUBQUERY 13
--       SEARCH h USING INDEX events_key (account=? AND id=?)
--     CORRELATED SCALAR SUBQUERY 13
--       SEARCH h USING INDEX events_key (account=? AND id=?)
--     CORRELATED SCALAR SUBQUERY 13
--       SEARCH h USING INDEX events_key (account=? AND id=?)
--     SCALAR SUBQUERY 15
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       LIST SUBQUERY 14
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--     SCALAR SUBQUERY 16
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 18
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 17
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 15
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 14
--     SCALAR SUBQUERY 16
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 18
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 17
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 15
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 14
--     SCALAR SUBQUERY 25
--       SEARCH totals USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 24
--       SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 15
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 14
--     SCALAR SUBQUERY 16
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 18
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 17
--         SEARCH storage USING PRIMARY KEY (account=?)
--   SCAN counted
--   SCALAR SUBQUERY 24
--     SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--   SCALAR SUBQUERY 25
--     SEARCH totals USING PRIMARY KEY (account=?)
--   SCALAR SUBQUERY 23
--     CO-ROUTINE (subquery-22)
--       CO-ROUTINE (subquery-28)
--         CO-ROUTINE (subquery-21)
--           CO-ROUTINE classified
--             SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--             SEARCH t USING INDEX events_key (account=? AND id=?) LEFT-JOIN
--             SCALAR SUBQUERY 5
--               SCAN missing
--             REUSE LIST SUBQUERY 6
--             SCALAR SUBQUERY 7
--               SEARCH totals USING PRIMARY KEY (account=? AND resource=?)
--             CORRELATED SCALAR SUBQUERY 8
--               SEARCH h USING INDEX events_key (account=? AND id=?)
--             SCALAR SUBQUERY 9
--               SEARCH erasures USING PRIMARY KEY (account=?)
--             CORRELATED SCALAR SUBQUERY 10
--               SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--           SCAN classified
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN (subquery-21)
--       SCAN (subquery-28)
--     SCAN (subquery-22)
--   SCALAR SUBQUERY 27
--     SEARCH e USING PRIMARY KEY (account=?)
--     SCAN w VIRTUAL TABLE INDEX 1:

-- upsert
-- Stores the records that do not move; a record that equals the stored one writes nothing.
-- Key: account, id.
-- Updated: eventname, eventid, createtime, amount, currency, product, kpis, details, record;
--   delivery and idx, which name the last write; revision, the number of writes.
-- Not updated: customer_id, day, held. SQLite would write an entry of an index even where the value
--   is equal. upsertMoved updates indexed columns.
-- Not updated: first_day, the day on which the record was first received.
-- The new record replaces the stored one: what it leaves out becomes null. A record without a day
--   keeps the day on which it was first received.
-- Of record, only the texts are compared, in any order, without createtime, Value and the members
--   of kpis, which are compared as columns.
-- Stored as null if the customer was erased: details.
-- Stored with its known members only if the customer was erased: record.
insert into
  events as t (
    account, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis,
    details, record, day, first_day, held, delivery, idx, revision
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
  value ->> 7, value ->> 8, value ->> 9,
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
    null, value ->> 10
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
    json_patch(value ->> 11, value ->> 14), value ->> 11
  ),
  coalesce(value ->> 12, value ->> 13), value ->> 13,
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
on conflict (account, id) do update
set
  eventname = excluded.eventname, eventid = excluded.eventid, createtime = excluded.createtime,
  amount = excluded.amount, currency = excluded.currency, product = excluded.product,
  kpis = excluded.kpis, details = excluded.details, record = excluded.record,
  delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
where
  (
    (
      excluded.eventname, excluded.eventid, excluded.createtime, excluded.amount, excluded.currency,
      excluded.product, excluded.kpis, excluded.details
    ) is not (t.eventname, t.eventid, t.createtime, t.amount, t.currency, t.product, t.kpis, t.details)
    or iif(
      excluded.record is t.record, 0,
      exists (
        select m.key, m.value
        from
          (select excluded.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
        except
        select m.key, m.value
        from
          (select t.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
      )
      or exists (
        select m.key, m.value
        from
          (select t.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
        except
        select m.key, m.value
        from
          (select excluded.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
      )
    )
  )
  and not false
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
--   CORRELATED SCALAR SUBQUERY 22
--     MERGE (EXCEPT)
--       LEFT
--         CO-ROUTINE (subquery-17)
--           SCAN CONSTANT ROW
--         SCAN (subquery-17)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 18
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       RIGHT
--         CO-ROUTINE (subquery-20)
--           SCAN CONSTANT ROW
--         SCAN (subquery-20)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 21
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--   CORRELATED SCALAR SUBQUERY 28
--     MERGE (EXCEPT)
--       LEFT
--         CO-ROUTINE (subquery-23)
--           SCAN CONSTANT ROW
--         SCAN (subquery-23)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 24
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       RIGHT
--         CO-ROUTINE (subquery-26)
--           SCAN CONSTANT ROW
--         SCAN (subquery-26)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 27
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY

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

-- countHeld
-- Counts the held records among them.
update deliveries
set
  held_written = held_written + (
    select count(*)
    from
      (
        select value
        from jsonb_each (:lookup_1)
      )
      cross join events t on t.account = :account
      and t.id = value ->> 1
    where
      t.held = 1
      and t.delivery = :delivery
  )
where
  unknown_at is not null
  and refused = 0
  and account = :account
  and id = :delivery
  and attempt = :attempt
returning written, held_written, changed_events;
-- Query plan:
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--   SCALAR SUBQUERY 2
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SEARCH t USING INDEX events_key (account=? AND id=?)

-- upsertMoved
-- Stores the records that move to another day or customer; runs before upsert, in a second batch.
-- Key: account, id.
-- Updated: eventname, eventid, createtime, amount, currency, product, kpis, details, record,
--   customer_id, day, held; delivery and idx, which name the last write; revision, the number of
--   writes.
-- Not updated: first_day, the day on which the record was first received.
-- The new record replaces the stored one: what it leaves out becomes null. A record without a day
--   keeps the day on which it was first received.
-- Of record, only the texts are compared, in any order, without createtime, Value and the members
--   of kpis, which are compared as columns.
-- Stored as null if the customer was erased: details.
-- Stored with its known members only if the customer was erased: record.
insert into
  events as t (
    account, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis,
    details, record, day, first_day, held, delivery, idx, revision
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
  value ->> 7, value ->> 8, value ->> 9,
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
    null, value ->> 10
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
    json_patch(value ->> 11, value ->> 14), value ->> 11
  ),
  coalesce(coalesce(value ->> 12, t.first_day), value ->> 13), value ->> 13,
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
from
  jsonb_each (:rows)
  left join events t on t.account = :account
  and t.id = value ->> 1
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
on conflict (account, id) do update
set
  eventname = excluded.eventname, eventid = excluded.eventid, createtime = excluded.createtime,
  amount = excluded.amount, currency = excluded.currency, product = excluded.product,
  kpis = excluded.kpis, details = excluded.details, record = excluded.record,
  customer_id = excluded.customer_id,
  day = coalesce(iif(excluded.createtime is null, null, excluded.day), t.first_day),
  held = excluded.held, delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
where
  (
    (
      excluded.eventname, excluded.eventid, excluded.createtime, excluded.amount, excluded.currency,
      excluded.product, excluded.kpis, excluded.details
    ) is not (t.eventname, t.eventid, t.createtime, t.amount, t.currency, t.product, t.kpis, t.details)
    or iif(
      excluded.record is t.record, 0,
      exists (
        select m.key, m.value
        from
          (select excluded.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
        except
        select m.key, m.value
        from
          (select t.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
      )
      or exists (
        select m.key, m.value
        from
          (select t.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
        except
        select m.key, m.value
        from
          (select excluded.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
      )
    )
  )
  or (
    excluded.customer_id,
    coalesce(iif(excluded.createtime is null, null, excluded.day), t.first_day)
  ) is not (t.customer_id, t.day)
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
--   SEARCH t USING INDEX events_key (account=? AND id=?) LEFT-JOIN
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
--   CORRELATED SCALAR SUBQUERY 25
--     MERGE (EXCEPT)
--       LEFT
--         CO-ROUTINE (subquery-20)
--           SCAN CONSTANT ROW
--         SCAN (subquery-20)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 21
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       RIGHT
--         CO-ROUTINE (subquery-23)
--           SCAN CONSTANT ROW
--         SCAN (subquery-23)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 24
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--   CORRELATED SCALAR SUBQUERY 31
--     MERGE (EXCEPT)
--       LEFT
--         CO-ROUTINE (subquery-26)
--           SCAN CONSTANT ROW
--         SCAN (subquery-26)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 27
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       RIGHT
--         CO-ROUTINE (subquery-29)
--           SCAN CONSTANT ROW
--         SCAN (subquery-29)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 30
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY

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
  cross join events t on t.account = :account
  and t.id = value ->> 1
where t.delivery = :delivery
union all
select value ->> 0, t.revision, 0
from
  jsonb_each (:rows)
  cross join events t on t.account = :account
  and t.id = value ->> 1
where t.delivery > :delivery;
-- Query plan:
--   COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING INDEX events_key (account=? AND id=?)
--     UNION ALL
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING INDEX events_key (account=? AND id=?)

-- countRepeated
-- Counts the records that were merged into one that was written.
update deliveries
set written = deliveries.written + n.written, held_written = deliveries.held_written + n.held
from
  (
    select count(*) as written, count(*) filter (where t.held = 1) as held
    from
      (
        select value
        from jsonb_each (:flagged_1)
      )
      cross join events t on t.account = :account
      and t.id = value ->> 1
    where
      (value ->> 5) is 'repeated'
      and t.delivery = :delivery
  ) n
where
  refused = 0
  and account = :account
  and id = :delivery
  and attempt = :attempt
returning written, held_written, changed_events;
-- Query plan:
--   MATERIALIZE n
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SEARCH t USING INDEX events_key (account=? AND id=?)
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--   SCAN n

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
          left join events t on t.account = :account
          and t.id = value ->> 1
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
            or (
              value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
              value ->> 8, value ->> 9,
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
                null, value ->> 10
              ),
              coalesce(value ->> 12, t.first_day)
            ) is not (
              t.eventname, t.customer_id, t.eventid, t.createtime, t.amount, t.currency, t.product,
              t.kpis, t.details, t.day
            )
            or iif(
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
                json_patch(value ->> 11, value ->> 14), value ->> 11
              ) is t.record,
              0,
              exists (
                select m.key, m.value
                from
                  (
                    select
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
                        json_patch(value ->> 11, value ->> 14), value ->> 11
                      ) as members
                  )
                  cross join json_each(members) m
                where
                  m.type = 'text'
                  and m.key not in ('createtime', 'Value')
                  and m.key not in (
                    select key
                    from json_each(t.kpis)
                  )
                except
                select m.key, m.value
                from
                  (select t.record as members)
                  cross join json_each(members) m
                where
                  m.type = 'text'
                  and m.key not in ('createtime', 'Value')
                  and m.key not in (
                    select key
                    from json_each(t.kpis)
                  )
              )
              or exists (
                select m.key, m.value
                from
                  (select t.record as members)
                  cross join json_each(members) m
                where
                  m.type = 'text'
                  and m.key not in ('createtime', 'Value')
                  and m.key not in (
                    select key
                    from json_each(t.kpis)
                  )
                except
                select m.key, m.value
                from
                  (
                    select
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
                        json_patch(value ->> 11, value ->> 14), value ->> 11
                      ) as members
                  )
                  cross join json_each(members) m
                where
                  m.type = 'text'
                  and m.key not in ('createtime', 'Value')
                  and m.key not in (
                    select key
                    from json_each(t.kpis)
                  )
              )
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
--     SEARCH t USING INDEX events_key (account=? AND id=?) LEFT-JOIN
--     SCALAR SUBQUERY 13
--       SCAN delivery
--     LIST SUBQUERY 15
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 14
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 16
--       SCAN delivery
--     LIST SUBQUERY 18
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 17
--         SCAN delivery
--       CREATE BLOOM FILTER
--     CORRELATED SCALAR SUBQUERY 27
--       MERGE (EXCEPT)
--         LEFT
--           CO-ROUTINE (subquery-22)
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 19
--               SCAN delivery
--             LIST SUBQUERY 21
--               SCAN json_each VIRTUAL TABLE INDEX 1:
--               SCALAR SUBQUERY 20
--                 SCAN delivery
--               CREATE BLOOM FILTER
--           SCAN (subquery-22)
--           SCAN m VIRTUAL TABLE INDEX 1:
--           CORRELATED LIST SUBQUERY 23
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           USE TEMP B-TREE FOR ORDER BY
--         RIGHT
--           CO-ROUTINE (subquery-25)
--             SCAN CONSTANT ROW
--           SCAN (subquery-25)
--           SCAN m VIRTUAL TABLE INDEX 1:
--           CORRELATED LIST SUBQUERY 26
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           USE TEMP B-TREE FOR ORDER BY
--     CORRELATED SCALAR SUBQUERY 36
--       MERGE (EXCEPT)
--         LEFT
--           CO-ROUTINE (subquery-28)
--             SCAN CONSTANT ROW
--           SCAN (subquery-28)
--           SCAN m VIRTUAL TABLE INDEX 1:
--           CORRELATED LIST SUBQUERY 29
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           USE TEMP B-TREE FOR ORDER BY
--         RIGHT
--           CO-ROUTINE (subquery-34)
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 31
--               SCAN delivery
--             LIST SUBQUERY 33
--               SCAN json_each VIRTUAL TABLE INDEX 1:
--               SCALAR SUBQUERY 32
--                 SCAN delivery
--               CREATE BLOOM FILTER
--           SCAN (subquery-34)
--           SCAN m VIRTUAL TABLE INDEX 1:
--           CORRELATED LIST SUBQUERY 35
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           USE TEMP B-TREE FOR ORDER BY
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
select
  value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision, t.account is not null
  and (t.eventname, t.customer_id) is not (value ->> 2, value ->> 3) as changes_kind
from
  jsonb_each (:rows)
  left join events t on t.account = :account
  and t.id = value ->> 1
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
    or (
      value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
      value ->> 9,
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
        null, value ->> 10
      ),
      coalesce(value ->> 12, t.first_day)
    ) is not (
      t.eventname, t.customer_id, t.eventid, t.createtime, t.amount, t.currency, t.product, t.kpis,
      t.details, t.day
    )
    or iif(
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
        json_patch(value ->> 11, value ->> 14), value ->> 11
      ) is t.record,
      0,
      exists (
        select m.key, m.value
        from
          (
            select
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
                json_patch(value ->> 11, value ->> 14), value ->> 11
              ) as members
          )
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
        except
        select m.key, m.value
        from
          (select t.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
      )
      or exists (
        select m.key, m.value
        from
          (select t.record as members)
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
        except
        select m.key, m.value
        from
          (
            select
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
                json_patch(value ->> 11, value ->> 14), value ->> 11
              ) as members
          )
          cross join json_each(members) m
        where
          m.type = 'text'
          and m.key not in ('createtime', 'Value')
          and m.key not in (
            select key
            from json_each(t.kpis)
          )
      )
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
--   SEARCH t USING INDEX events_key (account=? AND id=?) LEFT-JOIN
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
--   CORRELATED SCALAR SUBQUERY 21
--     MERGE (EXCEPT)
--       LEFT
--         CO-ROUTINE (subquery-16)
--           SCAN CONSTANT ROW
--           SCALAR SUBQUERY 13
--             SCAN delivery
--           LIST SUBQUERY 15
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--             SCALAR SUBQUERY 14
--               SCAN delivery
--             CREATE BLOOM FILTER
--         SCAN (subquery-16)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 17
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       RIGHT
--         CO-ROUTINE (subquery-19)
--           SCAN CONSTANT ROW
--         SCAN (subquery-19)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 20
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--   CORRELATED SCALAR SUBQUERY 30
--     MERGE (EXCEPT)
--       LEFT
--         CO-ROUTINE (subquery-22)
--           SCAN CONSTANT ROW
--         SCAN (subquery-22)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 23
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       RIGHT
--         CO-ROUTINE (subquery-28)
--           SCAN CONSTANT ROW
--           SCALAR SUBQUERY 25
--             SCAN delivery
--           LIST SUBQUERY 27
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--             SCALAR SUBQUERY 26
--               SCAN delivery
--             CREATE BLOOM FILTER
--         SCAN (subquery-28)
--         SCAN m VIRTUAL TABLE INDEX 1:
--         CORRELATED LIST SUBQUERY 29
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY

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
