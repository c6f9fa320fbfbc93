-- find
with sent(idx, transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, note, day, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15 from jsonb_each(:rows)),
      found as (
        select sent.idx as idx,
          t.revision as revision,
          iif(t.account is null, 0, ((sent.transaction_type, sent.amount_currency, sent.currency, sent.transaction_date, sent.status, sent.amount_usd, sent.transaction_subtype, sent.note) is not (t.transaction_type, t.amount_currency, t.currency, t.transaction_date, t.status, t.amount_usd, t.transaction_subtype, t.note))) as differs,
          ifnull(sent.day, null) as day,
          t.day as storedDay,
          iif(t.account is null, 0, (sent.customer_id, sent.day) is not (t.customer_id, t.day)) as moves,
          0 as changesKind,
          false as isStale,
          c.account is null as isMissing,
          ifnull(t.held, 0) as wasHeld,
          false as isErased,
          null as verdict,
          0 as lacksSignup,
          null as replaced,
          null as affiliated,
          iif(t.held = 0 and (t.customer_id, t.day, t.transaction_type) is not (sent.customer_id, sent.day, sent.transaction_type),
          json_array(t.customer_id, t.transaction_type), null) as was,
          0 as changesFields,
          null as extras
        from sent
        left join transactions t indexed by transactions_key on t.account = :account and t.transaction_id = sent.transaction_id
        left join customers c on c.account = :account and c.customer_id = sent.customer_id
        )
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
        , 1, json_extract('{}', 'abort: changed meanwhile'));

-- noteLate
insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery, before, after)
    select :account, cast(:now as integer), ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0), :resource, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
      :delivery, (select json_object('amount_currency', t.amount_currency,'currency', t.currency,'status', t.status) from transactions t indexed by transactions_key
      where t.account = :account and t.held = 0 and t.transaction_id = value ->> 2), value ->> 4
    from jsonb_each(:places) where true on conflict do update set seq = excluded.seq;

-- upsert
with sent(idx, transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, note, day, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15 from jsonb_each(:rows))
      insert into transactions as t (account, transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, note, day, held, delivery, idx, revision)
      select :account, sent.transaction_id, sent.customer_id, sent.transaction_type, sent.amount_currency, sent.currency, sent.transaction_date, sent.status, sent.amount_usd, sent.transaction_subtype, sent.note, sent.day, sent.held, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, transaction_id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, transaction_type = excluded.transaction_type, amount_currency = excluded.amount_currency, currency = excluded.currency, transaction_date = excluded.transaction_date, status = excluded.status, amount_usd = excluded.amount_usd, transaction_subtype = excluded.transaction_subtype, note = excluded.note
      where t.revision = excluded.revision - 1;

-- move
with sent(idx, transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, note, day, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15 from jsonb_each(:rows))
      insert into transactions as t (account, transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, note, day, held, delivery, idx, revision)
      select :account, sent.transaction_id, sent.customer_id, sent.transaction_type, sent.amount_currency, sent.currency, sent.transaction_date, sent.status, sent.amount_usd, sent.transaction_subtype, sent.note, sent.day, sent.held, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, transaction_id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, transaction_type = excluded.transaction_type, amount_currency = excluded.amount_currency, currency = excluded.currency, transaction_date = excluded.transaction_date, status = excluded.status, amount_usd = excluded.amount_usd, transaction_subtype = excluded.transaction_subtype, note = excluded.note, customer_id = excluded.customer_id, day = excluded.day, held = excluded.held
      where t.revision = excluded.revision - 1;
