-- Written by scripts/sql.ts. Change the code, then run npm run generate.

-- Keeps the control totals of days, and lets one computation of an account run at a time.

-- takeLease
-- Takes the lease of the account, if it is free.
insert into totals_leases (account, computation, running, until, paid_at)
values (:account, :computation, 1, :until, 0)
on conflict (account) do update
set computation = excluded.computation, running = 1, until = excluded.until
where
  totals_leases.computation = excluded.computation
  or (
    (
      running = 0
      or totals_leases.until <= :now
    )
    and totals_leases.paid_at <= :latest
  );
-- Query plan:

-- readLease
-- Reads who has the lease.
select computation, running, until, paid_at
from totals_leases
where account = :account;
-- Query plan:
--   SEARCH totals_leases USING PRIMARY KEY (account=?)

-- renewLease
-- Renews the lease with each step.
update totals_leases
set until = :until
where
  account = :account
  and computation = :computation;
-- Query plan:
--   SEARCH totals_leases USING PRIMARY KEY (account=?)

-- beginDays
-- Marks days as being summed.
insert into day_totals (account, resource, day, form, computation, checked_at)
select :account, :resource, value, :form, :computation, :now
from jsonb_each (:days)
where true
on conflict (account, resource, day) do update
set form = excluded.form, totals = null, computation = excluded.computation;
-- Query plan:
--   SCAN jsonb_each VIRTUAL TABLE INDEX 1:

-- keepDays
-- Keeps the totals of days that have not changed since.
insert into day_totals (account, resource, day, form, totals, computation, checked_at, records)
select
  k.account, k.resource, k.day, k.form, r.value ->> 1, null, :now,
  (
    select coalesce(sum(g.value ->> 1), 0)
    from jsonb_each (r.value ->> 1) g
  )
from
  jsonb_each (:rows) r
  cross join day_totals k on k.account = :account
  and k.resource = :resource
  and k.day = r.value ->> 0
  and k.computation = :computation
where true
on conflict (account, resource, day) do update
set
  totals = excluded.totals, computation = null, checked_at = excluded.checked_at,
  records = excluded.records
returning day;
-- Query plan:
--   SCAN r VIRTUAL TABLE INDEX 1:
--   SEARCH k USING PRIMARY KEY (account=? AND resource=? AND day=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SCAN g VIRTUAL TABLE INDEX 1:

-- dropDays
-- Removes the marks of days that are not kept.
delete from day_totals
where
  account = :account
  and resource = :resource
  and day in (
    select value
    from jsonb_each (:days)
  )
  and computation = :computation
returning day;
-- Query plan:
--   SEARCH day_totals USING PRIMARY KEY (account=? AND resource=? AND day=?)
--   LIST SUBQUERY 1
--     SCAN jsonb_each VIRTUAL TABLE INDEX 1:

-- endLease
-- Ends the lease, and notes the time that was used.
update totals_leases
set running = 0, paid_at = :paid_at
where
  account = :account
  and computation = :computation;
-- Query plan:
--   SEARCH totals_leases USING PRIMARY KEY (account=?)
