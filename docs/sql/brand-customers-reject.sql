-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Stores a delivery of brand-customers; the account's policy for unknown references is reject.

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
  classified as not materialized (
    select
      value, t.account is null as is_new, value ->> 7 is 1 as unknown,
      iif(
        value ->> 8 is null,
        iif(
          value ->> 6 > 0
          and ifnull(octet_length (t.extras), 1) + value ->> 5 > 1792,
          iif(
            ifnull(octet_length (t.extras), 1) + value ->> 5 > 65536
            or (
              select count(*)
              from json_each(t.extras)
            ) + value ->> 6 > 256,
            not exists (
              select 1
              from erasures e
              where
                e.account = :account
                and e.customer_id = value ->> 1
            ),
            0
          ),
          0
        ),
        ifnull(t.delivery, '') is not value ->> 8
      ) as undecided,
      max(ifnull(octet_length (t.extras), 0) - value ->> 5, 0) as rewritten,
      iif(t.account is null, 0, not (t.day) is (coalesce(value ->> 2, t.day))) as moved,
      exists (
        select 1
        from erasures e
        where
          e.account = :account
          and e.customer_id = value ->> 1
      ) as erased,
      iif(
        t.account is null
        or value ->> 3 is null
        or t.link is value ->> 3, null,
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
              select h.link
              from customer_affiliations h
              where
                h.account = :account
                and h.customer_id = value ->> 1
              order by h.day desc
              limit 1
            ) is value ->> 3,
            null,
            iif(
              false, json_array(value ->> 2, 1),
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
            t.link is null, null,
            iif(
              false, json_array(value ->> 2, 1),
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
      ) as affiliated,
      ifnull(value ->> 4, 'unusable') is 'unusable'
      and coalesce(
        iif(
          value ->> 4 is 'unusable'
          and t.tracking_data is null, 'altered', t.verdict
        ),
        'organic'
      ) is not 'attributed' as not_attributed,
      coalesce(
        iif(
          value ->> 4 is 'unusable'
          and t.tracking_data is null, 'altered', t.verdict
        ),
        'organic'
      ) as verdict
    from
      sent
      left join customers t on t.account = :account
      and t.customer_id = value ->> 1
    limit -1
  ),
  counted as (
    select
      count(*) filter (where unknown) as errors, count(*) filter (where unknown) as rejected,
      0 as held, 0 as stale, count(*) filter (where undecided) as undecided,
      total(rewritten) as rewritten,
      count(*) filter (
        where
          is_new
          and not unknown
      ) as created,
      0 as repeated_created, 0 as leaves_held, 0 as becomes_held, 0 as new_held,
      nullif(json_group_array(value ->> 0) filter (where unknown), '[]') as unknown_at,
      null as stale_at,
      nullif(
        json_group_array(value ->> 0) filter (
          where
            moved
            and not unknown
        ),
        '[]'
      ) as moved,
      nullif(json_group_array(value ->> 0) filter (where erased), '[]') as erased_at,
      nullif(
        json_group_object(value ->> 0, json(affiliated)) filter (
          where
            affiliated is not null
            and not unknown
        ),
        '{}'
      ) as affiliated,
      nullif(
        json_group_array(json_array(value ->> 0, verdict)) filter (where not_attributed), '[]'
      ) as verdicts,
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
                  null
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
    undecided = 0
    or reused
    or (
      is_full
      and not :dry_run
    )
  )
  and (
    rewritten <= 4194304
    or is_refused
    or (
      :invalid
      and not :lenient
    )
    or (
      is_full
      and not :dry_run
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
--       SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--       CORRELATED SCALAR SUBQUERY 2
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 4
--         SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 6
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 7
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--       CORRELATED SCALAR SUBQUERY 8
--         SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--     SCAN classified
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       LIST SUBQUERY 10
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--     SCALAR SUBQUERY 12
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 14
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 13
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 10
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 10
--     SCALAR SUBQUERY 12
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 14
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 13
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 10
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 10
--     SCALAR SUBQUERY 12
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 14
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 13
--         SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 10
--     SCALAR SUBQUERY 20
--       SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 11
--       SEARCH idempotency_keys USING PRIMARY KEY (account=? AND resource=? AND key=?)
--       REUSE LIST SUBQUERY 10
--     SCALAR SUBQUERY 12
--       SEARCH storage USING PRIMARY KEY (account=?)
--     SCALAR SUBQUERY 14
--       SEARCH arrivals USING PRIMARY KEY (account=? AND hour>?)
--       SCALAR SUBQUERY 13
--         SEARCH storage USING PRIMARY KEY (account=?)
--   SCAN counted
--   SCALAR SUBQUERY 20
--     SEARCH delivery_conditions USING PRIMARY KEY (account=?)
--   SCALAR SUBQUERY 19
--     CO-ROUTINE (subquery-18)
--       CO-ROUTINE (subquery-23)
--         CO-ROUTINE (subquery-17)
--           CO-ROUTINE classified
--             SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--             SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--             CORRELATED SCALAR SUBQUERY 2
--               SCAN json_each VIRTUAL TABLE INDEX 1:
--             CORRELATED SCALAR SUBQUERY 3
--               SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 4
--               SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 5
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 6
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 7
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--             CORRELATED SCALAR SUBQUERY 8
--               SEARCH h USING PRIMARY KEY (account=? AND customer_id=?)
--           SCAN classified
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN (subquery-17)
--       SCAN (subquery-23)
--     SCAN (subquery-18)
--   SCALAR SUBQUERY 22
--     SEARCH e USING PRIMARY KEY (account=?)
--     SCAN w VIRTUAL TABLE INDEX 1:

-- upsert
-- Stores the records that do not move; a record that equals the stored one writes nothing.
-- Key: account, customer_id.
-- Updated: signup_date, tracking_data, country_code, first_name, last_name, regtime, extras,
--   verdict, link; delivery and idx, which name the last write; revision, the number of writes.
-- Not updated: day. SQLite would write an entry of an index even where the value is equal.
--   upsertMoved updates indexed columns.
-- Not updated: first_day, the day on which the record was first received.
-- What the new record leaves out keeps its stored value. `extras` is merged name by name. `verdict`
--   and `link` are kept or replaced together with `tracking_data`.
-- A record that differs from the stored one only in regtime is not stored.
-- Stored as null if the customer was erased: first_name, last_name, country_code, extras.
-- Stored as an empty text if the customer was erased, unless the service issued it: tracking_data.
insert into
  customers as t (
    account, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day,
    regtime, extras, first_day, verdict, link, first_seen_at, delivery, idx, revision
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
  :account, value ->> 1, value ->> 2,
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
    iif(
      value ->> 3 is null
      or value ->> 11 is 'attributed', value ->> 3, ''
    ),
    value ->> 3
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
    null, value ->> 4
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
    null, value ->> 5
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
    null, value ->> 6
  ),
  coalesce(value ->> 7, value ->> 10), value ->> 8,
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
    null, value ->> 9
  ),
  value ->> 10, value ->> 11, value ->> 12, :received_at, :delivery, value ->> 0, 1
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
  signup_date = coalesce(excluded.signup_date, t.signup_date),
  tracking_data = coalesce(excluded.tracking_data, t.tracking_data),
  country_code = coalesce(excluded.country_code, t.country_code),
  first_name = coalesce(excluded.first_name, t.first_name),
  last_name = coalesce(excluded.last_name, t.last_name),
  regtime = coalesce(excluded.regtime, t.regtime),
  extras = iif(excluded.extras is null, t.extras, json_patch(coalesce(t.extras, '{}'), excluded.extras)),
  verdict = iif(
    excluded.tracking_data is null
    and t.tracking_data is not null, t.verdict, coalesce(excluded.verdict, t.verdict)
  ),
  link = iif(excluded.tracking_data is null, t.link, excluded.link), delivery = excluded.delivery,
  idx = excluded.idx, revision = t.revision + 1
where
  (
    coalesce(excluded.signup_date, t.signup_date),
    coalesce(excluded.tracking_data, t.tracking_data),
    coalesce(excluded.country_code, t.country_code), coalesce(excluded.first_name, t.first_name),
    coalesce(excluded.last_name, t.last_name),
    iif(excluded.extras is null, t.extras, json_patch(coalesce(t.extras, '{}'), excluded.extras)),
    iif(
      excluded.tracking_data is null
      and t.tracking_data is not null, t.verdict, coalesce(excluded.verdict, t.verdict)
    ),
    iif(excluded.tracking_data is null, t.link, excluded.link)
  ) is not (
    t.signup_date, t.tracking_data, t.country_code, t.first_name, t.last_name, t.extras, t.verdict,
    t.link
  )
  and not false
returning idx, revision;
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 17
--     MATERIALIZE delivery
--       SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN delivery
--   SCALAR SUBQUERY 18
--     SCAN delivery
--   SCALAR SUBQUERY 19
--     SCAN delivery
--   LIST SUBQUERY 21
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 20
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
--   SCALAR SUBQUERY 11
--     SCAN delivery
--   LIST SUBQUERY 13
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 12
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 14
--     SCAN delivery
--   LIST SUBQUERY 16
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 15
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

-- signUp
-- Sets when new customers signed up who were sent without a time.
with
  waiting as materialized (
    select 1
    from totals
    where
      account = :account
      and resource = 'activities'
      and held > 0
      and (
        select created
        from deliveries
        where
          account = :account
          and id = :delivery
          and attempt = :attempt
          and refused = 0
      ) > 0
  ),
  first as materialized (
    select
      c.account, c.customer_id, w.day,
      iif(count(*) = count(w.createtime), min(w.createtime), null) as time
    from
      waiting
      cross join jsonb_each (:rows)
      cross join customers c on c.account = :account
      and c.customer_id = value ->> 1
      and c.delivery = :delivery
      and c.revision = 1
      and c.signup_date is null
      cross join events w indexed by events_held on w.account = :account
      and w.held = 1
      and w.customer_id = c.customer_id
    where
      w.day = (
        select e.day
        from events e indexed by events_held
        where
          e.account = :account
          and e.held = 1
          and e.customer_id = c.customer_id
          and e.day >= 10957
        order by e.day
        limit 1
      )
    group by c.customer_id
    having
      w.day < c.day
      or (
        w.day = c.day
        and ifnull(time < c.first_seen_at, true)
      )
  )
update customers
set first_seen_day = f.day, first_seen_at = f.time
from first f
where
  customers.account = f.account
  and customers.customer_id = f.customer_id;
-- Query plan:
--   MATERIALIZE first
--     MATERIALIZE waiting
--       SEARCH totals USING PRIMARY KEY (account=? AND resource=?)
--       SCALAR SUBQUERY 1
--         SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN waiting
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SEARCH c USING PRIMARY KEY (account=? AND customer_id=?)
--     SEARCH w USING INDEX events_held (account=? AND customer_id=? AND day=?)
--     CORRELATED SCALAR SUBQUERY 3
--       SEARCH e USING COVERING INDEX events_held (account=? AND customer_id=? AND day>?)
--     USE TEMP B-TREE FOR GROUP BY
--   SCAN f
--   SEARCH customers USING PRIMARY KEY (account=? AND customer_id=?)

-- release activities
-- Releases the records that waited for these customers.
update events
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
  and (account, id) in (
    select w.account, w.id
    from
      jsonb_each (:rows)
      cross join events w indexed by events_held on w.account = :account
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
--   SEARCH events USING INDEX events_key (account=? AND id=?)
--   LIST SUBQUERY 4
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--     SEARCH w USING COVERING INDEX events_held (account=? AND customer_id=?)
--     SEARCH c EXISTS USING PRIMARY KEY (account=? AND customer_id=?)
--   SCALAR SUBQUERY 1
--     SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)

-- addReleased
-- Adds what was released to its total.
insert into totals (account, resource, total, held, releasing)
select
  :account, 'activities', changes(), - changes(),
  iif(
    changes() >= :max_released
    and exists (
      select 1
      from events indexed by events_held
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
--     SEARCH events USING COVERING INDEX events_held (account=?)

-- upsertMoved
-- Stores the records that move to another day or customer; runs before upsert, in a second batch.
-- Key: account, customer_id.
-- Updated: signup_date, tracking_data, country_code, first_name, last_name, regtime, extras,
--   verdict, link, day; delivery and idx, which name the last write; revision, the number of
--   writes.
-- Not updated: first_day, the day on which the record was first received.
-- What the new record leaves out keeps its stored value. `extras` is merged name by name. `verdict`
--   and `link` are kept or replaced together with `tracking_data`.
-- A record that differs from the stored one only in regtime is not stored.
-- Stored as null if the customer was erased: first_name, last_name, country_code, extras.
-- Stored as an empty text if the customer was erased, unless the service issued it: tracking_data.
insert into
  customers as t (
    account, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day,
    regtime, extras, first_day, verdict, link, first_seen_at, delivery, idx, revision
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
  :account, value ->> 1, value ->> 2,
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
    iif(
      value ->> 3 is null
      or value ->> 11 is 'attributed', value ->> 3, ''
    ),
    value ->> 3
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
    null, value ->> 4
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
    null, value ->> 5
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
    null, value ->> 6
  ),
  coalesce(coalesce(value ->> 7, t.day), value ->> 10), value ->> 8,
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
    null, value ->> 9
  ),
  value ->> 10, value ->> 11, value ->> 12, :received_at, :delivery, value ->> 0, 1
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
  signup_date = coalesce(excluded.signup_date, t.signup_date),
  tracking_data = coalesce(excluded.tracking_data, t.tracking_data),
  country_code = coalesce(excluded.country_code, t.country_code),
  first_name = coalesce(excluded.first_name, t.first_name),
  last_name = coalesce(excluded.last_name, t.last_name),
  regtime = coalesce(excluded.regtime, t.regtime),
  extras = iif(excluded.extras is null, t.extras, json_patch(coalesce(t.extras, '{}'), excluded.extras)),
  verdict = iif(
    excluded.tracking_data is null
    and t.tracking_data is not null, t.verdict, coalesce(excluded.verdict, t.verdict)
  ),
  link = iif(excluded.tracking_data is null, t.link, excluded.link),
  day = coalesce(iif(excluded.signup_date is null, null, excluded.day), t.day),
  delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
where
  (
    coalesce(excluded.signup_date, t.signup_date),
    coalesce(excluded.tracking_data, t.tracking_data),
    coalesce(excluded.country_code, t.country_code), coalesce(excluded.first_name, t.first_name),
    coalesce(excluded.last_name, t.last_name),
    iif(excluded.extras is null, t.extras, json_patch(coalesce(t.extras, '{}'), excluded.extras)),
    iif(
      excluded.tracking_data is null
      and t.tracking_data is not null, t.verdict, coalesce(excluded.verdict, t.verdict)
    ),
    iif(excluded.tracking_data is null, t.link, excluded.link)
  ) is not (
    t.signup_date, t.tracking_data, t.country_code, t.first_name, t.last_name, t.extras, t.verdict,
    t.link
  )
  or (coalesce(iif(excluded.signup_date is null, null, excluded.day), t.day)) is not (t.day)
returning idx, revision;
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 17
--     MATERIALIZE delivery
--       SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--     SCAN delivery
--   LIST SUBQUERY 19
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 18
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 20
--     SCAN delivery
--   SCALAR SUBQUERY 21
--     SCAN delivery
--   SCALAR SUBQUERY 22
--     SCAN delivery
--   LIST SUBQUERY 24
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 23
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
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
--   SCALAR SUBQUERY 11
--     SCAN delivery
--   LIST SUBQUERY 13
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 12
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 14
--     SCAN delivery
--   LIST SUBQUERY 16
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 15
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

-- countRepeated
-- Counts the records that were merged into one that was written.
update deliveries
set written = deliveries.written + n.written, held_written = deliveries.held_written + n.held
from
  (
    select count(*) as written, 0 as held
    from
      (
        select value
        from jsonb_each (:flagged_1)
      )
      cross join customers t on t.account = :account
      and t.customer_id = value ->> 1
    where
      (value ->> 9) is 'repeated'
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
--     SEARCH t USING PRIMARY KEY (account=? AND customer_id=?)
--   SEARCH deliveries USING PRIMARY KEY (account=? AND id=?)
--   SCAN n

-- selectUndecided
-- If insertDelivery cannot decide whether a record is too large: lists the keys of such records.
with
  sent (value) as (
    select value
    from jsonb_each (:lookup_1)
  ),
  request as materialized (
    select
      exists (
        select 1
        from
          (
            select
              sum(max(ifnull(octet_length (t.extras), 0) - value ->> 5, 0)) over (rows unbounded preceding) as total
            from
              sent
              left join customers t on t.account = :account
              and t.customer_id = value ->> 1
          )
        where total > 4194304
      ) as rewrites_too_much
  )
select null as key, null as bytes, rewrites_too_much
from request
union all
select distinct
  value ->> 1, ifnull(octet_length (t.extras), 0), null
from
  request
  cross join sent
  left join customers t on t.account = :account
  and t.customer_id = value ->> 1
where
  not rewrites_too_much
  and iif(
    value ->> 8 is null,
    iif(
      value ->> 6 > 0
      and ifnull(octet_length (t.extras), 1) + value ->> 5 > 1792,
      iif(
        ifnull(octet_length (t.extras), 1) + value ->> 5 > 65536
        or (
          select count(*)
          from json_each(t.extras)
        ) + value ->> 6 > 256,
        not exists (
          select 1
          from erasures e
          where
            e.account = :account
            and e.customer_id = value ->> 1
        ),
        0
      ),
      0
    ),
    ifnull(t.delivery, '') is not value ->> 8
  );
-- Query plan:
--   COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--       MATERIALIZE request
--         SCAN CONSTANT ROW
--         SCALAR SUBQUERY 3
--           CO-ROUTINE (subquery-2)
--             CO-ROUTINE (subquery-9)
--               SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--               SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--             SCAN (subquery-9)
--           SCAN (subquery-2)
--       SCAN request
--     UNION ALL
--       SCAN request
--       SCAN jsonb_each VIRTUAL TABLE INDEX 1:
--       SEARCH t USING PRIMARY KEY (account=? AND customer_id=?) LEFT-JOIN
--       CORRELATED SCALAR SUBQUERY 6
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--       CORRELATED SCALAR SUBQUERY 7
--         SEARCH e USING PRIMARY KEY (account=? AND customer_id=?)
--       USE TEMP B-TREE FOR DISTINCT

-- selectStoredMembers
-- Reads the sizes of the stored fields of these records; the Worker then decides.
select t.customer_id as key, t.delivery as delivery, t.extras as members
from
  jsonb_each (:keys) k
  cross join customers t on t.account = :account
  and t.customer_id = k.value;
-- Query plan:
--   SCAN k VIRTUAL TABLE INDEX 1:
--   SEARCH t USING PRIMARY KEY (account=? AND customer_id=?)

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
          and not false
          and (
            t.account is null
            or (
              coalesce(value ->> 2, t.signup_date),
              coalesce(
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
                  iif(
                    value ->> 3 is null
                    or value ->> 11 is 'attributed', value ->> 3, ''
                  ),
                  value ->> 3
                ),
                t.tracking_data
              ),
              coalesce(
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
                  null, value ->> 4
                ),
                t.country_code
              ),
              coalesce(
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
                  null, value ->> 5
                ),
                t.first_name
              ),
              coalesce(
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
                  null, value ->> 6
                ),
                t.last_name
              ),
              coalesce(value ->> 7, t.day),
              iif(
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
                  null, value ->> 9
                ) is null,
                t.extras,
                json_patch(
                  coalesce(t.extras, '{}'),
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
                    null, value ->> 9
                  )
                )
              ),
              iif(
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
                  iif(
                    value ->> 3 is null
                    or value ->> 11 is 'attributed', value ->> 3, ''
                  ),
                  value ->> 3
                ) is null
                and t.tracking_data is not null, t.verdict, coalesce(value ->> 11, t.verdict)
              ),
              iif(
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
                  iif(
                    value ->> 3 is null
                    or value ->> 11 is 'attributed', value ->> 3, ''
                  ),
                  value ->> 3
                ) is null,
                t.link, value ->> 12
              )
            ) is not (
              t.signup_date, t.tracking_data, t.country_code, t.first_name, t.last_name, t.day,
              t.extras, t.verdict, t.link
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
--     SCALAR SUBQUERY 16
--       SCAN delivery
--     LIST SUBQUERY 18
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 17
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 19
--       SCAN delivery
--     LIST SUBQUERY 21
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 20
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 22
--       SCAN delivery
--     LIST SUBQUERY 24
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 23
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 25
--       SCAN delivery
--     LIST SUBQUERY 27
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 26
--         SCAN delivery
--       CREATE BLOOM FILTER
--     SCALAR SUBQUERY 28
--       SCAN delivery
--     LIST SUBQUERY 30
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCALAR SUBQUERY 29
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
  and not false
  and (
    t.account is null
    or (
      coalesce(value ->> 2, t.signup_date),
      coalesce(
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
          iif(
            value ->> 3 is null
            or value ->> 11 is 'attributed', value ->> 3, ''
          ),
          value ->> 3
        ),
        t.tracking_data
      ),
      coalesce(
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
          null, value ->> 4
        ),
        t.country_code
      ),
      coalesce(
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
          null, value ->> 5
        ),
        t.first_name
      ),
      coalesce(
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
          null, value ->> 6
        ),
        t.last_name
      ),
      coalesce(value ->> 7, t.day),
      iif(
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
          null, value ->> 9
        ) is null,
        t.extras,
        json_patch(
          coalesce(t.extras, '{}'),
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
            null, value ->> 9
          )
        )
      ),
      iif(
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
          iif(
            value ->> 3 is null
            or value ->> 11 is 'attributed', value ->> 3, ''
          ),
          value ->> 3
        ) is null
        and t.tracking_data is not null, t.verdict, coalesce(value ->> 11, t.verdict)
      ),
      iif(
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
          iif(
            value ->> 3 is null
            or value ->> 11 is 'attributed', value ->> 3, ''
          ),
          value ->> 3
        ) is null,
        t.link, value ->> 12
      )
    ) is not (
      t.signup_date, t.tracking_data, t.country_code, t.first_name, t.last_name, t.day, t.extras,
      t.verdict, t.link
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
--   SCALAR SUBQUERY 16
--     SCAN delivery
--   LIST SUBQUERY 18
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 17
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 19
--     SCAN delivery
--   LIST SUBQUERY 21
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 20
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 22
--     SCAN delivery
--   LIST SUBQUERY 24
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 23
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 25
--     SCAN delivery
--   LIST SUBQUERY 27
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 26
--       SCAN delivery
--     CREATE BLOOM FILTER
--   SCALAR SUBQUERY 28
--     SCAN delivery
--   LIST SUBQUERY 30
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCALAR SUBQUERY 29
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
