import { DAY_MS } from '../../platform/durations.ts'
import { nextPeriod, type Period, periodOf, storedPeriod } from '../../platform/money/calendar.ts'
import { subtract, ZERO } from '../../platform/money/decimal.ts'
import { type Amounts, type Money, moneyOf, sumByCurrency } from '../../platform/money/sums.ts'
import { periodKinds } from './periods.ts'
import type { PeriodSums } from './statement-lists.tsx'

// What an account owes by period and currency.

/** Returns the differences of amounts by currency, each with its sign. */
export const differenceOf = (now: Amounts, before: Amounts): Money[] =>
  moneyOf(
    new Map(
      [...new Set([...now.keys(), ...before.keys()])].map((currency) => [
        currency,
        subtract(now.get(currency) ?? ZERO, before.get(currency) ?? ZERO),
      ]),
    ),
  )

/** The statements of a period, and those of the period before it. */
export interface OpenPeriod {
  readonly period: Period
  readonly previous: Period
  readonly owed: Amounts
  readonly before: Amounts
}

type Row = PeriodSums['data'][number]

const amountsOf = (rows: readonly Row[], period: string): Amounts =>
  sumByCurrency(
    rows.flatMap((row) =>
      row.period === period ? [{ amount: row.total, currency: row.currency }] : [],
    ),
  )

/**
 * Returns what the open periods owe at `now` (milliseconds): of the kinds of periods that have statements, months
 * first; of the current month if there are no statements at all.
 */
export function openPeriods({ data }: PeriodSums, now: number): OpenPeriod[] {
  const today = Math.floor(now / DAY_MS)
  return periodKinds({ data }).map((kind) => {
    const period = periodOf(today, kind)
    const previous = nextPeriod(period, -1)
    const owed = amountsOf(data, period.id)
    const before = amountsOf(data, previous.id)
    return { period, previous, owed, before }
  })
}

/** The drafts of an ended period. */
export interface PeriodDrafts {
  readonly period: Period
  readonly drafts: number
  /** The drafts that pay something. */
  readonly paying: number
}

/** Returns the drafts of periods that have ended before `now` (milliseconds), the latest first. */
export function draftsByPeriod(sums: PeriodSums, now: number): PeriodDrafts[] {
  const today = Math.floor(now / DAY_MS)
  const ended = sums.data.filter(
    ({ status, period }) => status === 'draft' && storedPeriod(period).last < today,
  )
  const byPeriod = Map.groupBy(ended, ({ period }) => period)
  return [...byPeriod].map(([period, rows]) => ({
    period: storedPeriod(period),
    drafts: rows.reduce((sum, { statements }) => sum + statements, 0),
    paying: rows.reduce((sum, one) => sum + one.paying, 0),
  }))
}

/** Returns the currency that most of some rows have. */
export function usualCurrency(rows: readonly { readonly currency: string }[]): string {
  const groups = Map.groupBy(rows, ({ currency }) => currency)
  const [most] = [...groups].toSorted(([, a], [, b]) => b.length - a.length)
  return most?.[0] ?? 'USD'
}
