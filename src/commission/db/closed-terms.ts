import { closesFor } from '../../ledger/db/booked.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'

// The terms of closed periods never change: versions of plans and assignments begin after them.

/** Reads the last closed period of a plan. */
export const LAST_CLOSED_PERIOD = compileStatement(`
  select nullif(max(
    ifnull((select max(period) from statements indexed by statements_closed
      where account = :account and plan = :plan and status <> 'draft'), ''),
    ifnull((select max(period) from closed_periods
      where account = :account and plan = :plan), '')), '') as closed`)

/** Aborts the batch if a period of a plan is closed that is `:period` or a later one. */
export const REJECT_CLOSED_PERIOD = compileStatement(`
  select ${ABORT} where exists (
      select 1 from statements indexed by statements_closed
      where account = :account and plan = :plan and period >= :period and status <> 'draft')
    or exists (
      select 1 from closed_periods
      where account = :account and plan = :plan and period >= :period)`)

/** A change of an assignment, with the periods in which its first day lies. */
export interface AssignmentChange {
  readonly affiliate_id: string
  readonly from_day: string
  /** The plan of the new or deleted assignment. */
  readonly plan: string
  /** Null if the assignment is deleted. */
  readonly customers: string | null
  readonly month: string
  readonly week: string
}

/** A closed period that a change of an assignment would concern. */
export interface ClosedTerms {
  readonly affiliate_id: string
  readonly from_day: string
  readonly plan: string
  readonly period: string
}

/** Whether the row `p` has a period that is not before the first day of the change `r`. */
const isReached = (p: string) => `${p}.period >= iif(${p}.period like '%W%', r.week, r.month)`

/** Whether an assignment `t` counts for the affiliate of `r`: its own, or one of `*` before these. */
const IS_OF_AFFILIATE = `t.account = :account and t.affiliate_id in (r.affiliate_id, '*')
    and (t.affiliate_id = r.affiliate_id or t.from_day < ifnull((
      select min(o.from_day) from assignments o
      where o.account = :account and o.affiliate_id = r.affiliate_id), '~'))`

/**
 * The closed periods that the changes `r` affect. Rows that equal what is stored are not changes. An
 * assignment of `*` affects all affiliates without an assignment of their own.
 */
const CONCERNED = `
  with r as materialized (
    select value ->> 'affiliate_id' as affiliate_id, value ->> 'from_day' as from_day, value ->> 'plan' as plan,
      value ->> 'month' as month, value ->> 'week' as week
    from ${JSON_EACH}(:rows)
    where (value ->> 'customers' is null) = exists (
      select 1 from assignments t
      where t.account = :account and t.affiliate_id = value ->> 'affiliate_id' and t.from_day = value ->> 'from_day'
        and (value ->> 'customers' is null or (t.plan = value ->> 'plan' and t.customers = value ->> 'customers')))
  ),
  concerned as (
    select r.affiliate_id, r.from_day, s.plan, s.period
    from r cross join statements s indexed by statements_affiliate on s.account = :account
      and s.affiliate_id = r.affiliate_id and s.period >= min(r.month, r.week)
    where s.status <> 'draft' and ${isReached('s')}
    union all
    select r.affiliate_id, r.from_day, c.plan, c.period
    from r cross join closed_periods c on c.account = :account
    where ${isReached('c')} and ${closesFor('r.affiliate_id')}
      and (c.plan = r.plan or exists (
        select 1 from assignments t where t.plan = c.plan and ${IS_OF_AFFILIATE}))
    union all
    select r.affiliate_id, r.from_day, s.plan, s.period
    from r
    cross join (select distinct plan from plan_versions where account = :account) p
    cross join statements s indexed by statements_closed on s.account = :account
      and s.plan = p.plan and s.period >= min(r.month, r.week) and s.status <> 'draft'
    where r.affiliate_id = '*' and ${isReached('s')} and not exists (
      select 1 from assignments o where o.account = :account and o.affiliate_id = s.affiliate_id
        and o.from_day <= r.from_day)
  )`

/** Reads the last closed months and weeks that changes of assignments concern. */
const FIND_CLOSED_TERMS = compileStatement(`
  ${CONCERNED}
  select affiliate_id, from_day, plan, max(period) as period from concerned
  group by affiliate_id, from_day, period like '%W%'
  order by affiliate_id, from_day limit 2`)

/** Aborts the batch if changes of assignments concern a closed period. */
const REJECT_CLOSED_TERMS = compileStatement(`${CONCERNED} select ${ABORT} from concerned limit 1`)

/** Returns closed periods that changes of assignments concern: the last ones of one of the changes. */
export async function findClosedTerms(
  db: D1Database,
  account: string,
  changes: readonly AssignmentChange[],
): Promise<ClosedTerms[]> {
  const statements = toJsonChunks(changes).map((rows) =>
    bindStatement(db, FIND_CLOSED_TERMS, { account, rows }),
  )
  const all = (await readBatch<ClosedTerms[][]>(db, statements)).flat()
  return all.filter(
    ({ affiliate_id, from_day }) =>
      affiliate_id === all[0]?.affiliate_id && from_day === all[0]?.from_day,
  )
}

/** Fails, and so does its batch, if changes of assignments concern a closed period. */
export const rejectClosedTerms = (
  db: D1Database,
  account: string,
  changes: readonly AssignmentChange[],
) => toJsonChunks(changes).map((rows) => bindStatement(db, REJECT_CLOSED_TERMS, { account, rows }))

/** Finds the first closed period of each plan, as a JSON array, and when the first manual entry was made. */
export const FIRST_BOOKED = compileStatement(`
  select (
      select json_group_array(period) filter (where period is not null) from (
        select (
          select min(s.period) from statements s indexed by statements_closed
          where s.account = :account and s.plan = p.plan and s.status <> 'draft'
        ) as period
        from (select distinct plan from plan_versions where account = :account) p)
    ) as periods,
    (select at from manual_entries where account = :account order by id limit 1) as entered`)

/** Where the books of an account begin. */
export interface FirstBooked {
  /** The first period of each plan that has an approved statement. */
  readonly periods: readonly string[]
  /** When the first manual entry was made; null if there is none. */
  readonly entered: string | null
}
