-- find
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)),
      found as (
        select sent.idx as idx,
          t.revision as revision,
          iif(t.account is null, 0, ((sent.signup_date, sent.last_modified_date, sent.affiliate_id, sent.tracking_data, sent.lang_id, sent.country_code, sent.kyc_status_id, sent.sales_status_id, sent.challenge_type, sent.phase, sent.account_size, sent.trading_account_type, sent.leverage, iif((e.account is not null), null, sent.first_name), iif((e.account is not null), null, sent.last_name), iif((e.account is not null), null, sent.email), sent.verdict, sent.link) is not (t.signup_date, t.last_modified_date, t.affiliate_id, t.tracking_data, t.lang_id, t.country_code, t.kyc_status_id, t.sales_status_id, t.challenge_type, t.phase, t.account_size, t.trading_account_type, t.leverage, t.first_name, t.last_name, t.email, t.verdict, t.link))) as differs,
          ifnull(sent.day, null) as day,
          t.day as storedDay,
          iif(t.account is null, 0, (sent.day) is not (t.day)) as moves,
          0 as changesKind,
          (sent.last_modified_date < t.last_modified_date) is true as isStale,
          c.account is null as isMissing,
          0 as wasHeld,
          (e.account is not null) as isErased,
          null as verdict,
          0 as lacksSignup,
          null as replaced,
          iif(t.account is null or sent.affiliate_id is null or t.affiliate_id is sent.affiliate_id, null,
          iif(exists (select 1 from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id), iif((select h.affiliate_id from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id order by h.day desc limit 1) is sent.affiliate_id, null, iif((t.first_seen_at > :received_at - 86400000
            and not exists (select 1 from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id and (h.day > -719528 or h.delivery is null)) and not exists (select 1 from statements s
              where s.account = :account and s.affiliate_id = t.affiliate_id and s.status <> 'draft'
                and s.approved_at >= t.first_seen_at and s.period >= strftime(iif(s.period like '%-W%', '%G-W%V', '%Y-%m'), t.day * 86400, 'unixepoch'))), json_array(sent.day, 1),
            json_array(max(:received_day, ifnull((select h.day from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id order by h.day desc limit 1), :received_day)), 0))),
            iif(t.affiliate_id is null, null, iif((t.first_seen_at > :received_at - 86400000
            and not exists (select 1 from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id and (h.day > -719528 or h.delivery is null)) and not exists (select 1 from statements s
              where s.account = :account and s.affiliate_id = t.affiliate_id and s.status <> 'draft'
                and s.approved_at >= t.first_seen_at and s.period >= strftime(iif(s.period like '%-W%', '%G-W%V', '%Y-%m'), t.day * 86400, 'unixepoch'))), json_array(sent.day, 1),
            json_array(max(:received_day, ifnull((select h.day from customer_affiliations h where h.account = :account
              and h.customer_id = sent.customer_id order by h.day desc limit 1), :received_day)), 0))))) as affiliated,
          iif(t.account is not null and (t.day is not sent.day or t.signup_date is not sent.signup_date or t.country_code is null and sent.country_code is not null or t.trading_account_type is null and sent.trading_account_type is not null or t.challenge_type is null and sent.challenge_type is not null or t.phase is null and sent.phase is not null or t.kyc_status_id is null and sent.kyc_status_id is not null or t.sales_status_id is null and sent.sales_status_id is not null or t.account_size is null and sent.account_size is not null or t.link is null and sent.link is not null or t.affiliate_id is null and sent.affiliate_id is not null or t.link is null and sent.link is not null), json_array(t.customer_id, ''), null) as was,
          iif(t.account is null, 0, ((t.country_code is not null and t.country_code is not sent.country_code) or (t.trading_account_type is not null and t.trading_account_type is not sent.trading_account_type) or (t.challenge_type is not null and t.challenge_type is not sent.challenge_type) or (t.phase is not null and t.phase is not sent.phase) or (t.kyc_status_id is not null and t.kyc_status_id is not sent.kyc_status_id) or (t.sales_status_id is not null and t.sales_status_id is not sent.sales_status_id) or (t.account_size is not null and t.account_size is not sent.account_size) or (t.link is not null and t.link is not sent.link) or (t.country_code is not sent.country_code or t.trading_account_type is not sent.trading_account_type or t.challenge_type is not sent.challenge_type or t.phase is not sent.phase or t.kyc_status_id is not sent.kyc_status_id or t.sales_status_id is not sent.sales_status_id or t.account_size is not sent.account_size or t.link is not sent.link) and exists (select 1 from customer_fields h where h.account = :account and h.customer_id = t.customer_id))) as changesFields,
          null as extras
        from sent
        left join customers t  on t.account = :account and t.customer_id = sent.customer_id
        left join affiliates c on c.account = :account and c.affiliate_id = sent.affiliate_id
        left join erasures e on e.account = :account and e.customer_id = sent.customer_id)
      select json_group_array(iif(moves or changesKind or isStale or isMissing or wasHeld or isErased or verdict is not null or lacksSignup or replaced is not null or affiliated is not null or was is not null or changesFields or extras is not null,
        json_array(idx, revision, differs, day, storedDay, moves, changesKind, isStale, isMissing, wasHeld, isErased, verdict, lacksSignup, json(replaced), json(affiliated), json(was), changesFields, json(extras)),
        json_array(idx, revision, differs, day, storedDay))) as found from found;

-- findMissing
select json_group_array(value) as missing from jsonb_each(:references)
      where not exists (select 1 from affiliates r where r.account = :account and r.affiliate_id = value);

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
          where exists (select 1 from affiliates o
            where o.account = :account and o.affiliate_id = r.value ->> 0) is r.value ->> 1)
        and not (exists (select 1 from erasures where account = :account)
          and exists (select 1 from jsonb_each(:erased) r
            where not r.value ->> 1 and exists (select 1 from erasures e
              where e.account = :account and e.customer_id = r.value ->> 0))), 1, json_extract('{}', 'abort: changed meanwhile'));

-- keepFields
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
  insert into customer_fields (account, customer_id, day, delivery, country_code,trading_account_type,challenge_type,phase,kyc_status_id,sales_status_id,account_size,link)
  select t.account, t.customer_id, max(:day, ifnull((select max(h.day) from customer_fields h where h.account = :account and h.customer_id = t.customer_id), :day)), :delivery,
    t.country_code,t.trading_account_type,t.challenge_type,t.phase,t.kyc_status_id,t.sales_status_id,t.account_size,t.link
  from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id where true
  on conflict (account, customer_id, day) do update set delivery = excluded.delivery,
    country_code = coalesce(country_code, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.country_code is not null), null, excluded.country_code)),trading_account_type = coalesce(trading_account_type, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.trading_account_type is not null), null, excluded.trading_account_type)),challenge_type = coalesce(challenge_type, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.challenge_type is not null), null, excluded.challenge_type)),phase = coalesce(phase, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.phase is not null), null, excluded.phase)),kyc_status_id = coalesce(kyc_status_id, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.kyc_status_id is not null), null, excluded.kyc_status_id)),sales_status_id = coalesce(sales_status_id, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.sales_status_id is not null), null, excluded.sales_status_id)),account_size = coalesce(account_size, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.account_size is not null), null, excluded.account_size)),link = coalesce(link, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.link is not null), null, excluded.link));

-- affiliate
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows))
      insert into customer_affiliations (account, customer_id, day, affiliate_id, link, previous_affiliate_id,
        previous_link, delivery)
      select :account, t.customer_id, max(sent.from_day, ifnull((select max(h.day) from customer_affiliations h where h.account = :account and h.customer_id = t.customer_id), sent.from_day)),
        sent.affiliate_id, null, t.affiliate_id, null, :delivery
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
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows))
      insert into customers as t (account, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, first_seen_at, delivery, idx, revision)
      select :account, sent.customer_id, sent.signup_date, sent.last_modified_date, sent.affiliate_id, sent.tracking_data, sent.lang_id, sent.country_code, sent.kyc_status_id, sent.sales_status_id, sent.challenge_type, sent.phase, sent.account_size, sent.trading_account_type, sent.leverage, iif(sent.erased, null, sent.first_name), iif(sent.erased, null, sent.last_name), iif(sent.erased, null, sent.email), sent.day, sent.verdict, sent.link, :received_at, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, customer_id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, signup_date = excluded.signup_date, last_modified_date = excluded.last_modified_date, affiliate_id = excluded.affiliate_id, tracking_data = excluded.tracking_data, lang_id = excluded.lang_id, country_code = excluded.country_code, kyc_status_id = excluded.kyc_status_id, sales_status_id = excluded.sales_status_id, challenge_type = excluded.challenge_type, phase = excluded.phase, account_size = excluded.account_size, trading_account_type = excluded.trading_account_type, leverage = excluded.leverage, first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email, verdict = excluded.verdict, link = excluded.link
      where t.revision = excluded.revision - 1;

-- move
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows))
      insert into customers as t (account, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, first_seen_at, delivery, idx, revision)
      select :account, sent.customer_id, sent.signup_date, sent.last_modified_date, sent.affiliate_id, sent.tracking_data, sent.lang_id, sent.country_code, sent.kyc_status_id, sent.sales_status_id, sent.challenge_type, sent.phase, sent.account_size, sent.trading_account_type, sent.leverage, iif(sent.erased, null, sent.first_name), iif(sent.erased, null, sent.last_name), iif(sent.erased, null, sent.email), sent.day, sent.verdict, sent.link, :received_at, 
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, customer_id) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, signup_date = excluded.signup_date, last_modified_date = excluded.last_modified_date, affiliate_id = excluded.affiliate_id, tracking_data = excluded.tracking_data, lang_id = excluded.lang_id, country_code = excluded.country_code, kyc_status_id = excluded.kyc_status_id, sales_status_id = excluded.sales_status_id, challenge_type = excluded.challenge_type, phase = excluded.phase, account_size = excluded.account_size, trading_account_type = excluded.trading_account_type, leverage = excluded.leverage, first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email, verdict = excluded.verdict, link = excluded.link, day = excluded.day
      where t.revision = excluded.revision - 1;

-- mark
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'customer-changes', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select min(t.day, ifnull(sent.day, null), ifnull(t.first_seen_day, t.day)) as day from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id
        where (ifnull(sent.day, null), sent.signup_date, iif(sent.erased, null, sent.email), iif(sent.erased, null, sent.first_name), iif(sent.erased, null, sent.last_name), sent.country_code, sent.tracking_data, sent.verdict) is not (t.day, t.signup_date, t.email, t.first_name, t.last_name, t.country_code, t.tracking_data, t.verdict)
          or (t.country_code is null) <> (sent.country_code is null) or (t.trading_account_type is null) <> (sent.trading_account_type is null) or (t.challenge_type is null) <> (sent.challenge_type is null) or (t.phase is null) <> (sent.phase is null) or (t.kyc_status_id is null) <> (sent.kyc_status_id is null) or (t.sales_status_id is null) <> (sent.sales_status_id is null) or (t.account_size is null) <> (sent.account_size is null) or (t.link is null) <> (sent.link is null) or (t.affiliate_id is null) <> (sent.affiliate_id is null)) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- attribute
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'attribution', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select -719528 as day from sent cross join customers t on t.account = :account and t.customer_id = sent.customer_id where (t.link is null) <> (sent.link is null) or (t.affiliate_id is null) <> (sent.affiliate_id is null)) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- mark
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'transactions', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select w.day as day 
          from sent cross join transactions w indexed by transactions_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- note
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
    insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery)
    select :account, cast(:now as integer), ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0), 'transactions', customer_id, day, id, kind, :delivery
    from (select w.customer_id, w.day as day,
      w.transaction_id as id, w.transaction_type as kind 
          from sent cross join transactions w indexed by transactions_held
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
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows))
      update transactions set held = 0
      where (account, transaction_id) in (
          select w.account, w.transaction_id 
          from sent cross join transactions w indexed by transactions_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id);

-- add
update totals set total = total + changes(), held = held - changes()
      where changes() > 0 and account = :account and resource = 'transactions';

-- mark
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
  insert into changed (account, resource, day, seq)
  select distinct :account, 'trading-activity', day, ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0)
  from (select w.date as day 
          from sent cross join activity w indexed by activity_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq;

-- note
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows)) 
    insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery)
    select :account, cast(:now as integer), ifnull((select seq from changed where account = :account and resource = '' and day = 0), 0), 'trading-activity', customer_id, day, id, kind, :delivery
    from (select w.customer_id, w.date as day,
      json_array(w.instrument,w.currency) as id, '' as kind 
          from sent cross join activity w indexed by activity_held
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
with sent(idx, customer_id, signup_date, last_modified_date, affiliate_id, tracking_data, lang_id, country_code, kyc_status_id, sales_status_id, challenge_type, phase, account_size, trading_account_type, leverage, first_name, last_name, email, day, verdict, link, revision, held, erased, from_day) as (
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24 from jsonb_each(:rows))
      update activity set held = 0
      where (account, date, customer_id, instrument, currency) in (
          select w.account, w.date, w.customer_id, w.instrument, w.currency 
          from sent cross join activity w indexed by activity_held
            on w.account = :account and w.held = 1 and w.customer_id = sent.customer_id);

-- add
update totals set total = total + changes(), held = held - changes()
      where changes() > 0 and account = :account and resource = 'trading-activity';
