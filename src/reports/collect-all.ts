import type { ReportRow } from '../db/reports/read-report.ts'
import { addCount } from './cells.ts'
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

/** Adds the rows of all statements but those of commission. */
export function collectAll(
  collecting: Collecting,
  { shape }: Selection,
  rows: ReadonlyMap<Part, readonly ReportRow[]>,
  links: ReadonlyMap<string, string>,
): void {
  const rowsOf = (part: Part) => rows.get(part) ?? []
  collectCounts(collecting, withAffiliates(shape.groups, rowsOf('clicks'), links), 'clicks')
  collectSignups(collecting, rowsOf('signups'))
  collectTransactions(collecting, rowsOf('transactions'))
  collectTransactions(collecting, rowsOf('first_deposits'), (_, of) => `first_deposit_${of}`)
  collectActivity(collecting, rowsOf('activity'), shape.activity)
  collectEvents(collecting, rowsOf('events'))
  collectEvents(collecting, rowsOf('kpis'))
  collectActive(collecting, rowsOf('active'))
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
