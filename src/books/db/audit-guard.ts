import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/**
 * The condition that a batch has not been committed yet: the last statement of a batch adds its entry to
 * the audit log. A batch whose response was lost is sent again, and must not write twice.
 */
export const IS_FIRST_ATTEMPT = 'not exists (select 1 from audit_log where id = :audit)'

/**
 * Adds an entry if statements were approved, with their number as `approved`, or if the first of two
 * persons has approved one of the rows.
 */
export const INSERT_AUDIT_OF_APPROVAL = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :at, :actor, :action, :account, json_set(:details, '$.approved', n)
  from (select count(*) as n from statements indexed by statements_approval
    where account = :account and approval = :audit and statement is not null)
  where n > 0 or exists (
    select 1 from ${JSON_EACH}(:rows) r
    cross join statement_approvals a on a.account = :account and a.id = r.value ->> 2
      and a.actor = :actor and a.at = :now)
  on conflict do nothing`)

/** Adds an entry if this batch has closed a period of a plan. */
export const INSERT_AUDIT_OF_CLOSING = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :at, :actor, :action, :account, :details from closed_periods
  where account = :account and plan = :plan and period = :period and closed_at = :now
  on conflict do nothing`)
