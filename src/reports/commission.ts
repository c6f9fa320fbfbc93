import { type Period, parsePeriod, periodOf } from '../platform/money/calendar.ts'
import { PLACES, powerOfTen } from '../platform/money/decimal.ts'
import { type Collecting, sumsOf } from './collect.ts'
import type { ReportRow } from './db/read-report.ts'
import { hasCommissionRows, type Note } from './report.ts'
import { addAmount } from './sums.ts'

/** The metric that sums statements. */
export const COMMISSION = 'commission_owed'

/** Where a report can show the commission, and why not elsewhere. */
export interface CommissionScope {
  readonly inRows: boolean
  readonly inTotals: boolean
  readonly notes: readonly Note[]
}

/** The days of a report, in days since 1970-01-01. */
export interface Days {
  readonly first: number
  readonly last: number
}

/**
 * Adds the sum of each statement to the group of its period. A statement cannot be divided, so a report
 * that has only some days of a period has no commission.
 */
export function collectCommission(
  { collected, groups }: Collecting,
  rows: readonly ReportRow[],
  { first, last }: Days,
): CommissionScope {
  const statements = rows.flatMap((row) => {
    const period = parsePeriod(String(row.period))
    return period && period.last >= first && period.first <= last ? [{ row, period }] : []
  })
  // A row without an amount only tells that a period has statements.
  const periods = new Map(statements.map(({ period }) => [period.id, period]))
  const divided = [...periods.values()].filter((one) => one.first < first || one.last > last)
  if (divided.length > 0) return withoutCommission(partialPeriod(divided))
  if (statements.length === 0) return withoutCommission(NO_STATEMENTS)
  const isFiner =
    !hasCommissionRows(groups) ||
    [...periods.values()].some((one) => groups.some((group) => isDivided(one, group)))
  for (const { row, period } of statements) {
    if (row.units === null) continue
    const amount = {
      currency: String(row.currency),
      day: period.last,
      units: BigInt(Number(row.units)) * powerOfTen(PLACES - Number(row.scale)),
      usd: null,
    }
    addAmount(collected.totals, COMMISSION, amount)
    if (isFiner) continue
    const values = groups.map((group) =>
      group === 'affiliate_id' ? (row.affiliate_id ?? null) : bucketOf(period, group),
    )
    addAmount(sumsOf(collected, values), COMMISSION, amount)
  }
  return { inRows: !isFiner, inTotals: true, notes: isFiner ? [FINER] : [] }
}

const bucketOf = (period: Period, group: string): string =>
  periodOf(period.last, group === 'week' ? 'week' : 'month').id

const isDivided = (period: Period, group: string): boolean =>
  group !== 'affiliate_id' &&
  bucketOf(period, group) !== periodOf(period.first, group === 'week' ? 'week' : 'month').id

const NO_STATEMENTS: Note = {
  metric: COMMISSION,
  reason: 'no_statements',
  detail: 'No statement exists for these days.',
}

const FINER: Note = {
  metric: COMMISSION,
  reason: 'finer_than_statement',
  detail: 'A statement is for an affiliate and a period. Commission is shown in totals only.',
}

const partialPeriod = (divided: readonly Period[]): Note => ({
  metric: COMMISSION,
  reason: 'partial_period',
  detail: `\`from\` and \`to\` divide ${divided.map(({ id }) => id).join(', ')}, and a statement is for a whole period.`,
})

const withoutCommission = (note: Note): CommissionScope => ({
  inRows: false,
  inTotals: false,
  notes: [note],
})
