-- findRequest
select
        (select attempt from deliveries where account = :account and id = :delivery) as attempt,
        exists (select 1 from resets where account = :account) as is_closed,
        (
    select max(iif(period like '%-W%',
      unixepoch(substr(period, 1, 4) || '-01-04') / 86400
        - (strftime('%w', substr(period, 1, 4) || '-01-04') + 6) % 7 + 7 * substr(period, 7) - 1,
      unixepoch(period || '-01', '+1 month') / 86400 - 1)) from (
      select (select max(c.period) from closed_periods c
        where c.account = :account and c.plan = p.plan) as period from (select distinct plan from plan_versions where account = :account) p
      union all
      select (select max(s.period) from statements s indexed by statements_closed
        where s.account = :account and s.plan = p.plan and s.status <> 'draft') from (select distinct plan from plan_versions where account = :account) p)) as closed_through,
        (select digest from idempotency_keys
          where account = :account and resource = :resource and key = :idempotency_key) as digest,
        (select ifnull(sum(bytes), 0) from totals where account = :account) as usage,
        (select ifnull(sum(logged_bytes), 0) from arrivals where account = :account
          and hour >= cast(:received_at as integer) / 86400000 * 24 and hour < cast(:received_at as integer) / 86400000 * 24 + 24) as logged,
        (select ifnull(sum(held), 0) from totals where account = :account) as held;

-- checkWritten
select iif(changes() = :written, 1, json_extract('{}', 'abort: changed meanwhile'));

-- addTotals
insert into totals (account, resource, total, held, bytes)
      values (:account, :resource, :listed, :held_change,
        iif(:bytes > 0 and (select ifnull(sum(bytes), 0) from totals where account = :account) >= :quota, json_extract('{}', 'abort: the quota is reached'), :bytes))
      on conflict (account, resource) do update set total = total + excluded.total, held = held + excluded.held,
        bytes = bytes + excluded.bytes;

-- addArrival
insert into arrivals (account, hour, resource, received, rejected, not_stored, last_at, logged_bytes)
      values (:account, cast(:hour as integer), :feed, :received, :rejected, :not_stored,
        cast(:received_at as integer), :logged_bytes)
      on conflict (account, hour, resource) do update set
        received = received + excluded.received,
        rejected = rejected + excluded.rejected, not_stored = not_stored + excluded.not_stored, last_at = max(last_at, excluded.last_at),
        logged_bytes = logged_bytes + excluded.logged_bytes;

-- insertIdempotencyKey
insert into idempotency_keys (account, resource, key, digest, delivery)
      values (:account, :resource, :idempotency_key, :records_digest, :delivery);

-- notifyRefusal
insert into webhook_events (account, id, type, about, at, data)
    select n.account, 'evt_' || printf('%011x', cast(unixepoch('subsec') * 1000 as integer)) || lower(hex(randomblob(8))), 'delivery.refused', n.about, cast(unixepoch('subsec') * 1000 as integer), n.data from (select 1 where exists (
    select 1 from webhook_wants w where w.account = :account and w.type in ('delivery.refused', '*')))
      cross join (select :account as account, r.about, r.data from (select :about as about, :data as data) r) n where true
    on conflict (account, type, about) do nothing;
