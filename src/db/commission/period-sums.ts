import { readBatch } from '../batch.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { isDraft } from './books/is-draft.ts'
import { sumOf } from './books/ledger.ts'

// Statements by period. Periods are months such as `2026-10` and weeks such as `2026-W41`.

/** The statements of the latest periods that are added up, and the drafts that are counted. */
export const SUMMED_STATEMENTS = 10_000

/**
 * The statements of a period with the same status and currency, added up. Sums are as `sumOf`
 * returns them.
 */
export interface PeriodSums {
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly currency: string
  readonly statements: number
  readonly total: string
  /** When the latest of them was computed. */
  readonly computed_at: string
}

/**
 * Adds up the latest statements by period: in the order of their texts, weeks of a year before its
 * months.
 */
export const SUM_PERIODS = compileStatement(`
  select period, status, currency, count(*) as statements, ${sumOf('total')} as total,
    max(computed_at) as computed_at
  from (
    select period, status, statement ->> 'currency' as currency, statement ->> 'total' as total,
      computed_at
    from statements where account = :account and statement is not null
    order by period desc limit :limit)
  group by period, currency, status order by period desc, currency, status = 'paid', status desc`)

/** Reads when the latest run that is done has ended. Runs are kept for 30 days. */
export const LAST_RUN = compileStatement(`
  select max(ended_at) as ended_at from statement_runs where account = :account and status = 'done'`)

/**
 * Adds up the latest statements of an account by period, status and currency. Returns the sums, and when
 * the latest run has ended: null if none has.
 */
export async function sumPeriods(session: D1DatabaseSession, account: string) {
  const values = { account, limit: SUMMED_STATEMENTS }
  type Lists = [sums: PeriodSums[], runs: [{ ended_at: string | null }]]
  const [sums, [last]] = await readBatch<Lists>(session, [
    bindStatement(session, SUM_PERIODS, values),
    bindStatement(session, LAST_RUN, values),
  ])
  return { sums, last_run_at: last.ended_at }
}

/** The drafts of ended periods. */
interface Unapproved {
  readonly drafts: number
  /** The first month and the first week of them; null if there is none. */
  readonly first_month: string | null
  readonly first_week: string | null
}

/**
 * Counts the drafts of periods that have ended everywhere: by the month and the ISO week of a day
 * before now.
 */
export const COUNT_UNAPPROVED = compileStatement(`
  select count(*) as drafts, min(iif(period glob '*W*', null, period)) as first_month,
    min(iif(period glob '*W*', period, null)) as first_week
  from (
    select period, statement from statements indexed by statements_status
    where account = :account and ${isDraft('status')} limit :limit)
  where statement is not null and period <
    strftime(iif(period glob '*W*', '%G-W%V', '%Y-%m'), :now / 1000, 'unixepoch', '-1 day')`)

/** The amounts of a currency in drafts that wait for an exchange rate. */
interface WaitingForRates {
  readonly currency: string
  readonly count: number
}

/** Counts the amounts in drafts without an exchange rate. */
export const COUNT_WAITING_FOR_RATES = compileStatement(`
  select h.value ->> 'currency' as currency, sum(h.value ->> 'count') as count
  from (
    select statement from statements indexed by statements_status
    where account = :account and ${isDraft('status')} limit :limit) s
  cross join json_each(s.statement, '$.holds') h
  where h.value ->> 'reason' = 'fx_missing' group by 1 order by 2 desc, 1`)

/**
 * Counts the drafts of periods that have ended at `now` (milliseconds), and the amounts in drafts that have no
 * exchange rate, by currency, the most frequent first.
 */
export async function countDrafts(session: D1DatabaseSession, account: string, now: number) {
  const values = { account, now, limit: SUMMED_STATEMENTS }
  const [[unapproved], waiting] = await readBatch<[[Unapproved], WaitingForRates[]]>(session, [
    bindStatement(session, COUNT_UNAPPROVED, values),
    bindStatement(session, COUNT_WAITING_FOR_RATES, values),
  ])
  return { unapproved, waiting }
}
