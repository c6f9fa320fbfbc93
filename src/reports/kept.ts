import { digest } from '../auth/secret.ts'
import { needsCustomer } from '../db/reports/dimensions.ts'
import type { KeptPart } from '../db/reports/kept-parts.ts'
import type { ReportRow, ReportValues } from '../db/reports/read-report.ts'
import { compileStatement } from '../db/statement.ts'
import type { Part, Selection } from './select.ts'
import type { Range } from './steps.ts'

/** Parts that are always read: clicks are stored without a delivery, and statements are few. */
const NEVER_KEPT: readonly Part[] = ['clicks', 'commission']

/** The first day of the calendar. */
export const FIRST_DAY = -719_528

/** The most rows that are kept of a part. */
const MOST_ROWS = 5000

/** Returns the digests of the parts that may be kept: of their statements and parameters. */
export async function keptIds(
  { statements }: Selection,
  values: ReportValues,
  { from, to }: Range,
): Promise<ReadonlyMap<Part, string>> {
  const ids = statements
    .filter(([part]) => !NEVER_KEPT.includes(part))
    .map(async ([part, sql]): Promise<[Part, string]> => {
      const { parameters } = compileStatement(sql)
      const used = parameters.map((name) => values[name] ?? null)
      return [part, await digest(JSON.stringify([sql, from, to, used]))]
    })
  return new Map(await Promise.all(ids))
}

/** Whether a column of a statement is a number that is summed; the others are groups. */
const isSummed = (name: string) =>
  name === 'count' || name === 'attributed' || name === 'records' || /_[0-3]$/.test(name)

type Merged = Map<string, Record<string, string | number | null>>

/** The rows of each part so far, those of equal groups as one; null if they are too many to be kept. */
export type RowsToKeep = Map<Part, Merged | null>

/** Adds rows to those that are kept. */
export function mergeRows(merged: RowsToKeep, part: Part, rows: readonly ReportRow[]): void {
  const known = merged.get(part) ?? (merged.has(part) ? null : new Map())
  merged.set(part, known)
  if (known === null) return
  for (const row of rows) {
    // Not a sum: how many days the statement has searched.
    if (typeof row.searched === 'number') continue
    const entries = Object.entries(row)
    const key = JSON.stringify([
      entries.filter(([name]) => !isSummed(name)),
      row.records === undefined || row.records === null,
    ])
    const sum = known.get(key)
    if (sum === undefined) known.set(key, { ...row })
    else {
      for (const [name, value] of entries) {
        if (isSummed(name) && value !== null) sum[name] = Number(sum[name] ?? 0) + Number(value)
      }
    }
  }
  if (known.size > MOST_ROWS) merged.set(part, null)
}

/** Returns what may be kept of the parts that were read. */
export function partsToKeep(
  merged: RowsToKeep,
  ids: ReadonlyMap<Part, string>,
  { groups }: Selection['shape'],
  { from, to }: Range,
): KeptPart[] {
  const isGrouped = groups.some(needsCustomer)
  return [...ids].flatMap(([part, id]): KeptPart[] => {
    const rows = merged.get(part)
    if (!rows) return []
    const isOfCustomers = isGrouped || part === 'signups'
    return [
      {
        part: id,
        // An earlier deposit takes the place of the first one.
        first_day: part === 'first_deposits' ? FIRST_DAY : from,
        last_day: to,
        by_customer: isOfCustomers ? 1 : 0,
        rows: [...rows.values()],
      },
    ]
  })
}
