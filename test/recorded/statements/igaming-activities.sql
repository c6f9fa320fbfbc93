-- find
with sent(idx, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis, details, record, day, first_day, mask, has_mask, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19 from jsonb_each(:rows)),
      found as (
        select sent.idx as idx,
          t.revision as revision,
          iif(t.account is null, 0, ((sent.eventname, sent.eventid, sent.createtime, sent.amount, sent.currency, sent.product, sent.kpis, iif((sent.has_mask and e.account is not null), null, sent.details)) is not (t.eventname, t.eventid, t.createtime, t.amount, t.currency, t.product, t.kpis, t.details))) as differs,
          ifnull(coalesce(sent.day, t.first_day), sent.first_day) as day,
          t.day as storedDay,
          iif(t.account is null, 0, (sent.customer_id, coalesce(sent.day, t.first_day)) is not (t.customer_id, t.day)) as moves,
          iif(t.account is null, 0, (t.eventname, t.customer_id) is not (sent.eventname, sent.customer_id)) as changesKind,
          false as isStale,
          c.account is null as isMissing,
          ifnull(t.held, 0) as wasHeld,
          (sent.has_mask and e.account is not null) as isErased,
          null as verdict,
          0 as lacksSignup,
          iif(t.id like 'd%' and (t.details is not iif((sent.has_mask and e.account is not null), null, sent.details) or t.createtime is not sent.createtime), (
          select (
            select json_group_array(key) from (
              select key from (
                select key, value from json_each(t.record) union all select key, value from json_each(s.record))
              where (lower(key) <> 'product' or lower(value) is not lower(t.product))
                and (key not in ('customerid','eventname','eventid','createtime','Value','Currency') or key = 'createtime')
                and key not in (select key from json_each(t.kpis) union all select key from json_each(s.kpis))
              group by key having count(*) = 1 or min(value) is not max(value)))
          from (select iif((sent.has_mask and e.account is not null), json_patch(sent.record, sent.mask), sent.record) as record, sent.kpis as kpis) s), null) as replaced,
          null as affiliated,
          iif(t.held = 0 and (t.customer_id, t.day, t.eventname) is not (sent.customer_id, coalesce(sent.day, t.first_day), sent.eventname),
          json_array(t.customer_id, t.eventname), null) as was,
          0 as changesFields,
          null as extras
        from sent
        left join events t indexed by events_key on t.account = :account and t.id = sent.id
        left join customers c on c.account = :account and c.customer_id = sent.customer_id
        left join erasures e on e.account = :account and e.customer_id = sent.customer_id)
      select json_group_array(iif(moves or changesKind or isStale or isMissing or wasHeld or isErased or verdict is not null or lacksSignup or replaced is not null or affiliated is not null or was is not null or changesFields or extras is not null,
        json_array(idx, revision, differs, day, storedDay, moves, changesKind, isStale, isMissing, wasHeld, isErased, verdict, lacksSignup, json(replaced), json(affiliated), json(was), changesFields, json(extras)),
        json_array(idx, revision, differs, day, storedDay))) as found from found;

-- findMissing
select json_group_array(value) as missing from jsonb_each(:references)
      where not exists (select 1 from customers r where r.account = :account and r.customer_id = value);

-- insertDelivery
insert into deliveries (account, id, resource, dry_run, status, summary, errors_total, attempt, days, errors)
      select :account, :delivery, :resource, :dry_run, :status, :summary, :errors_total, :attempt, :days, :errors
      where iif(not exists (select 1 from resets where account = :account)
        and (:written = 0 or :closed_through is (
    select max(iif(period like '%-W%',
      unixepoch(substr(period, 1, 4) || '-01-04') / 86400
        - (strftime('%w', substr(period, 1, 4) || '-01-04') + 6) % 7 + 7 * substr(period, 7) - 1,
      unixepoch(period || '-01', '+1 month') / 86400 - 1)) from (
      select (select max(c.period) from closed_periods c
        where c.account = :account and c.plan = p.plan) as period from (select distinct plan from plan_versions where account = :account) p
      union all
      select (select max(s.period) from statements s indexed by statements_closed
        where s.account = :account and s.plan = p.plan and s.status <> 'draft') from (select distinct plan from plan_versions where account = :account) p)))
        and (:new_held = 0 or :new_held + (
          select ifnull(sum(held), 0) from totals where account = :account) <= :max_held)
        and not exists (select 1 from jsonb_each(:references) r
          where exists (select 1 from customers o
            where o.account = :account and o.customer_id = r.value ->> 0) is r.value ->> 1)
        and not (exists (select 1 from erasures where account = :account)
          and exists (select 1 from jsonb_each(:erased) r
            where not r.value ->> 1 and exists (select 1 from erasures e
              where e.account = :account and e.customer_id = r.value ->> 0))), 1, json_extract('{}', 'abort: changed meanwhile'));

-- noteLate
insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery, before, after)
    select :account, cast(:now as integer), ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0), :resource, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
      :delivery, (select json_object('amount', t.amount,'currency', t.currency) from events t indexed by events_key
      where t.account = :account and t.held = 0 and t.id = value ->> 2), value ->> 4
    from jsonb_each(:places) where true on conflict do update set seq = excluded.seq;

-- upsert
with sent(idx, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis, details, record, day, first_day, mask, has_mask, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19 from jsonb_each(:rows))
      insert into events as t (account, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis, details, record, day, first_day, held, delivery, idx, revision)
      select :account, sent.id, sent.eventname, sent.customer_id, sent.eventid, sent.createtime, sent.amount, sent.currency, sent.product, sent.kpis, iif(sent.erased, null, sent.details), iif(sent.erased, json_patch(sent.record, sent.mask), sent.record), ifnull(sent.day, sent.first_day), sent.first_day, sent.held, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, eventname = excluded.eventname, eventid = excluded.eventid, createtime = excluded.createtime, amount = excluded.amount, currency = excluded.currency, product = excluded.product, kpis = excluded.kpis, details = excluded.details, record = excluded.record
      where t.revision = excluded.revision - 1;

-- move
with sent(idx, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis, details, record, day, first_day, mask, has_mask, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19 from jsonb_each(:rows))
      insert into events as t (account, id, eventname, customer_id, eventid, createtime, amount, currency, product, kpis, details, record, day, first_day, held, delivery, idx, revision)
      select :account, sent.id, sent.eventname, sent.customer_id, sent.eventid, sent.createtime, sent.amount, sent.currency, sent.product, sent.kpis, iif(sent.erased, null, sent.details), iif(sent.erased, json_patch(sent.record, sent.mask), sent.record), ifnull(sent.day, sent.first_day), sent.first_day, sent.held, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, eventname = excluded.eventname, eventid = excluded.eventid, createtime = excluded.createtime, amount = excluded.amount, currency = excluded.currency, product = excluded.product, kpis = excluded.kpis, details = excluded.details, record = excluded.record, customer_id = excluded.customer_id, day = coalesce(iif(excluded.createtime is null, null, excluded.day), t.first_day), held = excluded.held
      where t.revision = excluded.revision - 1;
