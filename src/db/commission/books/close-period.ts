import type { Connection } from '../../database.ts'
import { newAuditId } from '../../directory/audit.ts'
import { all, only } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { Approver } from './approve.ts'
import { auditClosing } from './audit-guard.ts'
import { isDraft, isOfKind } from './is-draft.ts'

/** Reads when the last run that settled a period began: one of its kind, of the period or a later one. */
export const LAST_VOUCHING_RUN = compileStatement(`
  select max(started_at) as started_at from statement_runs
  where account = :account and status = 'done' and period >= :period and ${isOfKind('period')}`)

/**
 * Returns when the last run that settled a period began to read, in milliseconds: a run that is done, of
 * the same kind of period, and of this period or a later one. Returns 0 if there is none.
 */
export async function lastVouchingRun(
  db: Connection,
  account: string,
  period: string,
): Promise<number> {
  const values = { account, period }
  const { started_at } = await only<{ started_at: string | null }>(db, LAST_VOUCHING_RUN, values)
  return started_at === null ? 0 : Date.parse(started_at)
}

/** Stores that a person closes a period of a plan, for accounts where two persons must. */
const PUT_CLOSING_APPROVAL = compileStatement(`
  insert into statement_approvals (account, id, hash, actor, at)
  values (:account, :closing, '', :actor, :now) on conflict do nothing`)

/** Whether the required number of persons has approved the period. */
const IS_APPROVED = `(:required <= 1 or :required <= (
    select count(*) from statement_approvals where account = :account and id = :closing))`

const IS_OPEN = `not exists (
    select 1 from closed_periods where account = :account and plan = :plan and period = :period)`

/** Stores the affiliates with drafts, for whom the period stays open when it is closed for all others. */
const LEAVE_OPEN = compileStatement(`
  insert into open_affiliates (account, plan, period, affiliate_id)
  select distinct :account, :plan, :period, s.affiliate_id
  from statements s indexed by statements_status
  where s.account = :account and ${isDraft('s.status')} and s.plan = :plan
    and s.period <= :period
    and ${IS_OPEN} and ${IS_APPROVED}`)

const CLOSE = compileStatement(`
  insert into closed_periods (account, plan, period, closed_at)
  select :account, :plan, :period, :now where ${IS_APPROVED} on conflict do nothing`)

/** Closes a period for the affiliates that no longer have a draft of it or of an earlier period. */
const CLOSE_LEFT_OPEN = compileStatement(`
  delete from open_affiliates
  where account = :account and plan = :plan and period = :period and affiliate_id not in (
    select s.affiliate_id from statements s indexed by statements_status
    where s.account = :account and ${isDraft('s.status')} and s.plan = :plan
      and s.period <= :period)`)

const READ_CLOSED = compileStatement(`
  select closed_at from closed_periods
  where account = :account and plan = :plan and period = :period`)

/**
 * Reads the affiliates for whom a period stays open only because of an earlier draft, each with its
 * first earlier draft: a statement, or if there is none, a row that only carries something.
 */
export const READ_EARLIER_DRAFTS = compileStatement(`
  select s.affiliate_id, s.id, s.period, s.statement is null as is_carry,
    min((s.statement is null) || s.period) as first, count(*) over () as total
  from statements s indexed by statements_status
  where s.account = :account and ${isDraft('s.status')} and s.plan = :plan
    and s.period < :period and not exists (
      select 1 from statements d
      where d.account = :account and d.affiliate_id = s.affiliate_id and d.plan = :plan
        and d.period = :period and d.status = 'draft'
        and (d.statement is not null or s.statement is null))
  group by s.affiliate_id order by s.affiliate_id limit :limit`)

/** An earlier draft for which a period stays open. */
export interface EarlierDraft {
  readonly affiliate_id: string
  readonly id: string
  readonly period: string
  /** 1 if it only carries something. */
  readonly is_carry: 0 | 1
  /** The number of such affiliates. */
  readonly total: number
}

/** The result of closing a period of a plan. */
export interface Closed {
  /** False if another person must approve the closing, too. */
  readonly isClosed: boolean
  /** The first affiliates for whom it stays open because of an earlier draft. */
  readonly earlier: readonly EarlierDraft[]
}

/** Returns the result of closing from the results of `closingStatements`. */
export function readClosing(results: readonly D1Result<unknown>[]): Closed {
  const [earlier, closed] = results.slice(-2)
  return {
    isClosed: closed?.results.length === 1,
    earlier: (earlier?.results ?? []) as EarlierDraft[],
  }
}

/**
 * Returns the statements that close a period of a plan: for every affiliate but those with a draft.
 * `readClosing` reads their results.
 *
 * @param limit How many affiliates with an earlier draft are read.
 */
export function closingStatements(
  db: D1Database,
  { account, actor, required, now }: Approver,
  { plan, period }: { plan: string; period: string },
  limit: number,
): D1PreparedStatement[] {
  const closing = `${plan}/${period}`
  const values = { account, actor, required, now, plan, period, closing, limit }
  const bind = (statement: typeof CLOSE) => bindStatement(db, statement, values)
  const entry = {
    audit: newAuditId(),
    actor,
    action: 'period.close',
    account,
    now,
    details: { plan, period },
  }
  return [
    ...(required > 1 ? [bind(PUT_CLOSING_APPROVAL)] : []),
    ...[LEAVE_OPEN, CLOSE, CLOSE_LEFT_OPEN].map(bind),
    auditClosing(db, entry, { plan, period }),
    ...[READ_EARLIER_DRAFTS, READ_CLOSED].map(bind),
  ]
}

/** Counts the affiliates for whom a closed period of some plans stays open. */
export const COUNT_OPEN = compileStatement(`
  select count(distinct o.affiliate_id) as n from ${JSON_EACH}(:plans) p
  cross join open_affiliates o
    on o.account = :account and o.plan = p.value and o.period = :period`)

/** Returns the number of affiliates for whom a closed period of some plans stays open. */
export async function countOpen(
  db: Connection,
  account: string,
  plans: readonly string[],
  period: string,
): Promise<number> {
  const values = { account, plans: JSON.stringify(plans), period }
  const { n } = await only<{ n: number }>(db, COUNT_OPEN, values)
  return n
}

/** Reads the plans of an account with periods of a kind, and when their first version was stored. */
export const READ_PLANS_OF_KIND = compileStatement(`
  select plan, min(created_at) as created_at from plan_versions
  where account = :account and terms ->> 'period' = :kind group by plan order by plan`)

/** A plan, and when its first version was stored. */
export interface PlanOfKind {
  readonly plan: string
  readonly created_at: string
}

/** Returns the plans of an account with periods of a kind, in order; also those that were withdrawn. */
export const plansOfKind = (
  db: Connection,
  account: string,
  kind: 'month' | 'week',
): Promise<PlanOfKind[]> => all<PlanOfKind>(db, READ_PLANS_OF_KIND, { account, kind })
