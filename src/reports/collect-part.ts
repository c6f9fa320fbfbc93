import type { ReportRow } from '../db/reports/read-report.ts'
import {
  type Collecting,
  collectActivity,
  collectCounts,
  collectEvents,
  collectSignups,
  collectTransactions,
  sumsOf,
  valuesOf,
} from './collect.ts'
import type { Part, Selection } from './select.ts'
import { addCount } from './sums.ts'

/** Adds the rows of a part to the sums of their groups. */
export function collectPart(
  collecting: Collecting,
  { shape }: Selection,
  part: Exclude<Part, 'commission'>,
  rows: readonly ReportRow[],
  links: ReadonlyMap<string, string>,
): void {
  const add: Readonly<Record<typeof part, () => void>> = {
    clicks: () => collectCounts(collecting, withAffiliates(shape.groups, rows, links), 'clicks'),
    signups: () => collectSignups(collecting, rows),
    transactions: () => collectTransactions(collecting, rows),
    first_deposits: () => {
      const deposits = rows.filter(({ searched }) => searched === null)
      collectTransactions(collecting, deposits, (_, of) => `first_deposit_${of}`)
    },
    activity: () => collectActivity(collecting, rows, shape.activity),
    events: () => collectEvents(collecting, rows),
    kpis: () => collectEvents(collecting, rows),
    active: () => collectActive(collecting, rows),
  }
  add[part]()
}

/** Returns the rows of clicks with the affiliates of their links. */
function withAffiliates(
  groups: readonly string[],
  rows: readonly ReportRow[],
  links: ReadonlyMap<string, string>,
): readonly ReportRow[] {
  const name = `g${groups.indexOf('affiliate_id')}`
  return rows.map((row) =>
    name in row ? { ...row, [name]: links.get(String(row[name])) ?? null } : row,
  )
}

/** Adds customers with records: each counts once in every group, and once in all. */
function collectActive({ collected, groups }: Collecting, rows: readonly ReportRow[]): void {
  for (const row of rows) {
    const isTotal = row.records !== null
    const sums = isTotal ? collected.totals : sumsOf(collected, valuesOf(groups, row))
    addCount(sums, 'active_customers', Number(row.count))
  }
}
