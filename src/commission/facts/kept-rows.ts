import type { RowKind } from '../../db/commission/fact-queries.ts'
import type { KeptDays } from '../../db/commission/kept-days.ts'
import type { KeptRows, NewlyKept } from '../../db/commission/kept-facts.ts'
import type { FactRow } from '../../db/commission/packed-facts.ts'
import type { KeptDaysInUse } from './kept-days-in-use.ts'

// A kept row is the array of a row's values, without the customer's id, in the order of the columns.

const isKeptColumn = (name: string): boolean => name !== 'customer_id'

/** Returns a row from its kept values. */
export function fromKeptRow(
  customer_id: string,
  columns: readonly string[],
  values: readonly FactRow[string][],
): FactRow {
  const row: FactRow = { customer_id }
  for (const [i, name] of columns.filter(isKeptColumn).entries()) row[name] = values[i] ?? null
  return row
}

/**
 * Returns the rows that a run stores as kept: for each range of days in `filled`, those of the customers
 * without kept rows of these days.
 *
 * @param needed The kinds of rows that were read of each customer.
 * @param rows All rows that were read, by kind.
 * @param unkept The customers of whom too little was kept.
 */
export function rowsToKeep(
  { usable, filled, queries }: Pick<KeptDaysInUse, 'usable' | 'filled' | 'queries'>,
  needed: ReadonlyMap<string, ReadonlySet<RowKind>>,
  rows: ReadonlyMap<RowKind, readonly FactRow[]>,
  unkept: ReadonlySet<string>,
): NewlyKept[] {
  const isUsable = ({ generation, first_day }: KeptDays) =>
    usable.some((days) => days.generation === generation && days.first_day === first_day)
  const byKind = new Map(
    [...rows].map(([kind, all]) => [kind, Map.groupBy(all, (row) => String(row.customer_id))]),
  )
  return filled.flatMap((days) =>
    [...needed]
      .filter(([id, kinds]) => kinds.size > 0 && (unkept.has(id) || !isUsable(days)))
      .map(([customer_id, kinds]): NewlyKept => {
        const kept: KeptRows = {}
        for (const { kind, statements } of queries) {
          if (!kinds.has(kind)) continue
          kept[kind] = (byKind.get(kind)?.get(customer_id) ?? [])
            .filter(({ day }) => days.first_day <= Number(day) && Number(day) <= days.last_day)
            .map((row) => statements.columns.filter(isKeptColumn).map((name) => row[name] ?? null))
        }
        const { first_day, generation } = days
        return { customer_id, first_day, generation, rows: kept }
      }),
  )
}
