import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { sumOf } from './books/ledger.ts'

// Statements by period. Periods are months such as `2026-10` and weeks such as `2026-W41`.

/** The limits of what is read of the latest periods. */
export const PERIOD_LIMITS = {
  /** The periods that are listed. */
  periods: 6,
  /** The periods that are looked at: the weeks of a year sort behind its months. */
  known: 70,
  /** The statements that are added up. */
  statements: 10_000,
}

/** The statements of a period with the same status and currency, added up. Sums are as `sumOf` returns them. */
export interface PeriodSums {
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly currency: string
  readonly statements: number
  readonly total: string
  /** When the latest of them was computed. */
  readonly computed_at: string
}

/** The last day of a period. Weeks of ISO 8601 end on Sunday; January 4 is in the first one. */
const lastDay = (period: string) => `iif(${period} glob '*W*',
      date(substr(${period}, 1, 4) || '-01-04', (7 * substr(${period}, 7) - 7) || ' days', 'weekday 0'),
      date(${period} || '-01', '1 month', '-1 day'))`

/** Adds up the statements of the latest periods that have some. */
export const SUM_PERIODS = compileStatement(`
  with recursive known(period) as (
    select max(period) from statements where account = :account
    union all
    select (select max(period) from statements where account = :account and period < k.period)
    from known k where k.period is not null limit :known
  ),
  latest as materialized (
    select period, ${lastDay('period')} as last_day from known where period is not null
    order by last_day desc, period limit :periods
  ),
  chosen as (
    select s.period, l.last_day, s.status, s.statement ->> 'currency' as currency,
      s.statement ->> 'total' as total, s.computed_at
    from latest l cross join statements s on s.account = :account and s.period = l.period
    where s.statement is not null limit :statements
  )
  select period, status, currency, count(*) as statements, ${sumOf('total')} as total,
    max(computed_at) as computed_at
  from chosen group by last_day, period, status, currency
  order by last_day desc, period,
    case status when 'draft' then 1 when 'approved' then 2 else 3 end, currency`)

/** Adds up the statements of the latest periods that have some, the latest period first. */
export async function sumPeriods(
  session: D1DatabaseSession,
  account: string,
): Promise<PeriodSums[]> {
  const { results } = await withD1Retry(() =>
    bindStatement(session, SUM_PERIODS, { account, ...PERIOD_LIMITS }).all<PeriodSums>(),
  )
  return results
}

/** The drafts of a period that has ended. */
export interface Unapproved {
  readonly period: string
  readonly drafts: number
}

/** Counts the drafts of ended periods. A period has ended everywhere a day after its last one in UTC. */
export const COUNT_UNAPPROVED = compileStatement(`
  select period, count(*) as drafts from (
    select period, statement is not null as is_statement
    from statements indexed by statements_status
    where account = :account and status = 'draft' and status <> 'paid' limit :statements)
  where is_statement and ${lastDay('period')} < date(:now / 1000, 'unixepoch', '-1 day')
  group by period order by ${lastDay('period')}`)

/** Counts the drafts of periods that have ended at `now` (milliseconds), the earliest period first. */
export async function countUnapproved(
  session: D1DatabaseSession,
  account: string,
  now: number,
): Promise<Unapproved[]> {
  const values = { account, now, statements: PERIOD_LIMITS.statements }
  const { results } = await withD1Retry(() =>
    bindStatement(session, COUNT_UNAPPROVED, values).all<Unapproved>(),
  )
  return results
}
