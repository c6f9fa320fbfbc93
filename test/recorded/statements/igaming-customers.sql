-- find
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)),
      found as (
        select sent.idx as idx,
          t.revision as revision,
          iif(t.account is null, 0, ((coalesce(sent.signup_date, t.signup_date), coalesce(iif((e.account is not null), iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data), t.tracking_data), coalesce(iif((e.account is not null), null, sent.country_code), t.country_code), coalesce(iif((e.account is not null), null, sent.first_name), t.first_name), coalesce(iif((e.account is not null), null, sent.last_name), t.last_name), iif(iif((e.account is not null), null, sent.extras) is null, t.extras,
        json_patch(coalesce(t.extras, '{}'), iif((e.account is not null), null, sent.extras))), iif(iif((e.account is not null), iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null and t.tracking_data is not null, t.verdict,
        coalesce(sent.verdict, t.verdict)), iif(iif((e.account is not null), iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null, t.link, sent.link)) is not (t.signup_date, t.tracking_data, t.country_code, t.first_name, t.last_name, t.extras, t.verdict, t.link))) as differs,
          ifnull(coalesce(sent.day, t.day), sent.first_day) as day,
          t.day as storedDay,
          iif(t.account is null, 0, (coalesce(sent.day, t.day)) is not (t.day)) as moves,
          0 as changesKind,
          false as isStale,
          0 as isMissing,
          0 as wasHeld,
          (e.account is not null) as isErased,
          nullif(iif(ifnull(sent.sent_verdict, 'unusable') is 'unusable', coalesce(iif(sent.sent_verdict is 'unusable' and t.tracking_data is null, 'altered', t.verdict), 'organic'), sent.sent_verdict), 'attributed') as verdict,
          coalesce(sent.signup_date, t.signup_date) is null as lacksSignup,
          null as replaced,
          iif(t.account is null or sent.link is null or t.link is sent.link, null,
          iif(exists (select 1 from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id), iif((select h.link from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id order by h.day desc limit 1) is sent.link, null, iif(false, json_array(sent.day, 1),
            json_array(max(:received_day, ifnull((select h.day from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id order by h.day desc limit 1), :received_day)), 0))),
            iif(t.link is null, null, iif(false, json_array(sent.day, 1),
            json_array(max(:received_day, ifnull((select h.day from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id order by h.day desc limit 1), :received_day)), 0))))) as affiliated,
          iif(t.account is not null and (t.day is not coalesce(sent.day, t.day) or t.signup_date is not coalesce(sent.signup_date, t.signup_date) or t.country_code is null and coalesce(iif((e.account is not null), null, sent.country_code), t.country_code) is not null or t.link is null and iif(iif((e.account is not null), iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null, t.link, sent.link) is not null or t.link is null and iif(iif((e.account is not null), iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null, t.link, sent.link) is not null), json_array(t.customer_id, ''), null) as was,
          iif(t.account is null, 0, ((t.country_code is not null and t.country_code is not coalesce(iif((e.account is not null), null, sent.country_code), t.country_code)) or (t.country_code is not coalesce(iif((e.account is not null), null, sent.country_code), t.country_code)) and exists (select 1 from customer_fields h where h.account = :account and h.customer_id = t.customer_id))) as changesFields,
          (
          select json_array(ifnull(octet_length(m), 0) - ifnull(octet_length(t.extras), 0),
            iif((e.account is not null), null, sent.extras) is not null and (octet_length(m) > 40960
              or iif(octet_length(m) > 448,
                (select count(*) from json_each(m)) > 64, false)))
          from (select iif(octet_length(iif((e.account is not null), null, sent.extras)) > 40960, iif((e.account is not null), null, sent.extras), iif(iif((e.account is not null), null, sent.extras) is null, t.extras,
        json_patch(coalesce(t.extras, '{}'), iif((e.account is not null), null, sent.extras)))) as m)) as extras
        from sent
        left join customers t  on t.account = :account and t.customer_id = sent.customer_id
        left join erasures e on e.account = :account and e.customer_id = sent.customer_id)
      select json_group_array(iif(moves or changesKind or isStale or isMissing or wasHeld or isErased or verdict is not null or lacksSignup or replaced is not null or affiliated is not null or was is not null or changesFields or extras is not null,
        json_array(idx, revision, differs, day, storedDay, moves, changesKind, isStale, isMissing, wasHeld, isErased, verdict, lacksSignup, json(replaced), json(affiliated), json(was), changesFields, json(extras)),
        json_array(idx, revision, differs, day, storedDay))) as found from found;

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
        and not (exists (select 1 from erasures where account = :account)
          and exists (select 1 from jsonb_each(:erased) r
            where not r.value ->> 1 and exists (select 1 from erasures e
              where e.account = :account and e.customer_id = r.value ->> 0))), 1, json_extract('{}', 'abort: changed meanwhile'));

-- keepFields
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)) 
  insert into customer_fields (account, customer_id, day, delivery, country_code)
  select t.account, t.customer_id, max(:day, ifnull((select max(h.day) from customer_fields h where h.account = :account and h.customer_id = t.customer_id), :day)), :delivery,
    t.country_code
  from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id where true
  on conflict (account, customer_id, day) do update set delivery = excluded.delivery,
    country_code = coalesce(country_code, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.country_code is not null), null, excluded.country_code));

-- affiliate
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows))
      insert into customer_affiliations (account, customer_id, day, affiliate_id, link, previous_affiliate_id,
        previous_link, delivery)
      select :account, t.customer_id, max(sent.from_day, ifnull((select max(h.day) from customer_affiliations h where h.account = :account and h.customer_id = t.customer_id), sent.from_day)),
        null, sent.link, t.affiliate_id, t.link, :delivery
      from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id
      where true
      on conflict (account, customer_id, day) do update set affiliate_id = excluded.affiliate_id,
        link = excluded.link, delivery = excluded.delivery,
        previous_affiliate_id = iif(day = -719528, excluded.previous_affiliate_id, previous_affiliate_id);

-- noteLate
insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery, before, after)
    select :account, cast(:now as integer), ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0), :resource, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
      :delivery, null, value ->> 4
    from jsonb_each(:places) where true on conflict do update set seq = excluded.seq;

-- upsert
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows))
      insert into customers as t (account, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, first_seen_at, delivery, idx, revision)
      select :account, sent.customer_id, sent.signup_date, iif(sent.erased, iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data), iif(sent.erased, null, sent.country_code), iif(sent.erased, null, sent.first_name), iif(sent.erased, null, sent.last_name), ifnull(sent.day, sent.first_day), sent.regtime, iif(sent.erased, null, sent.extras), sent.first_day, sent.verdict, sent.link, :received_at, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, customer_id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, signup_date = coalesce(excluded.signup_date, t.signup_date), tracking_data = coalesce(excluded.tracking_data, t.tracking_data), country_code = coalesce(excluded.country_code, t.country_code), first_name = coalesce(excluded.first_name, t.first_name), last_name = coalesce(excluded.last_name, t.last_name), regtime = coalesce(excluded.regtime, t.regtime), extras = iif(excluded.extras is null, t.extras,
        json_patch(coalesce(t.extras, '{}'), excluded.extras)), verdict = iif(excluded.tracking_data is null and t.tracking_data is not null, t.verdict,
        coalesce(excluded.verdict, t.verdict)), link = iif(excluded.tracking_data is null, t.link, excluded.link)
      where t.revision = excluded.revision - 1;

-- move
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows))
      insert into customers as t (account, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, first_seen_at, delivery, idx, revision)
      select :account, sent.customer_id, sent.signup_date, iif(sent.erased, iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data), iif(sent.erased, null, sent.country_code), iif(sent.erased, null, sent.first_name), iif(sent.erased, null, sent.last_name), ifnull(sent.day, sent.first_day), sent.regtime, iif(sent.erased, null, sent.extras), sent.first_day, sent.verdict, sent.link, :received_at, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, customer_id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, signup_date = coalesce(excluded.signup_date, t.signup_date), tracking_data = coalesce(excluded.tracking_data, t.tracking_data), country_code = coalesce(excluded.country_code, t.country_code), first_name = coalesce(excluded.first_name, t.first_name), last_name = coalesce(excluded.last_name, t.last_name), regtime = coalesce(excluded.regtime, t.regtime), extras = iif(excluded.extras is null, t.extras,
        json_patch(coalesce(t.extras, '{}'), excluded.extras)), verdict = iif(excluded.tracking_data is null and t.tracking_data is not null, t.verdict,
        coalesce(excluded.verdict, t.verdict)), link = iif(excluded.tracking_data is null, t.link, excluded.link), day = coalesce(iif(excluded.signup_date is null, null, excluded.day), t.day)
      where t.revision = excluded.revision - 1;

-- mark
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'customer-changes', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select min(t.day, ifnull(coalesce(sent.day, t.day), sent.first_day), ifnull(t.first_seen_day, t.day)) as day from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id
        where (ifnull(coalesce(sent.day, t.day), sent.first_day), coalesce(sent.signup_date, t.signup_date), coalesce(iif(sent.erased, null, sent.first_name), t.first_name), coalesce(iif(sent.erased, null, sent.last_name), t.last_name), coalesce(iif(sent.erased, null, sent.country_code), t.country_code), coalesce(iif(sent.erased, iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data), t.tracking_data), iif(iif(sent.erased, iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null and t.tracking_data is not null, t.verdict,
        coalesce(sent.verdict, t.verdict))) is not (t.day, t.signup_date, t.first_name, t.last_name, t.country_code, t.tracking_data, t.verdict)
          or (t.country_code is null) <> (coalesce(iif(sent.erased, null, sent.country_code), t.country_code) is null) or (t.link is null) <> (iif(iif(sent.erased, iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null, t.link, sent.link) is null)) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- attribute
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'attribution', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select -719528 as day from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id where (t.link is null) <> (iif(iif(sent.erased, iif(sent.tracking_data is null or sent.verdict is 'attributed',
        sent.tracking_data, ''), sent.tracking_data) is null, t.link, sent.link) is null)) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- signUp
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)),
      first as materialized (
        select c.account, c.customer_id, w.day,
          iif(count(*) = count(w.createtime), min(w.createtime), null) as time
        from sent
        cross join customers c on c.account = :account and c.customer_id = sent.customer_id
          and c.signup_date is null
        cross join events w indexed by events_held
          on w.account = :account and w.held = 1 and w.customer_id = c.customer_id
        where w.day = (select e.day from events e indexed by events_held
            where e.account = :account and e.held = 1 and e.customer_id = c.customer_id
              and e.day >= 10957 order by e.day limit 1)
        group by c.customer_id
        having w.day < c.day or (w.day = c.day and ifnull(time < c.first_seen_at, true))
      )
      update customers set first_seen_day = f.day, first_seen_at = f.time
      from first f
      where customers.account = f.account and customers.customer_id = f.customer_id;

-- mark
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'activities', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select w.day as day 
          from sent cross join events w indexed by events_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- note
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows)) 
    insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery)
    select :account, cast(:now as integer), ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0), 'activities', customer_id, day, id, kind, :delivery
    from (select w.customer_id, w.day as day,
      w.id as id, w.eventname as kind 
          from sent cross join events w indexed by events_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id)
    where day <= (
    select max(iif(period like '%-W%',
      unixepoch(substr(period, 1, 4) || '-01-04') / 86400
        - (strftime('%w', substr(period, 1, 4) || '-01-04') + 6) % 7 + 7 * substr(period, 7) - 1,
      unixepoch(period || '-01', '+1 month') / 86400 - 1)) from (
      select (select max(c.period) from closed_periods c
        where c.account = :account and c.plan = p.plan) as period from (select distinct plan from plan_versions where account = :account) p
      union all
      select (select max(s.period) from statements s indexed by statements_closed
        where s.account = :account and s.plan = p.plan and s.status <> 'draft') from (select distinct plan from plan_versions where account = :account) p)) on conflict do update set seq = excluded.seq;

-- release
with sent(idx, customer_id, signup_date, tracking_data, country_code, first_name, last_name, day, regtime, extras, first_day, verdict, link, sent_verdict, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17 from jsonb_each(:rows))
      update events set held = 0
      where (account, id) in (
          select w.account, w.id 
          from sent cross join events w indexed by events_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id);

-- add
update totals set total = total + changes(), held = held - changes()
      where changes() > 0 and account = :account and resource = 'activities';
