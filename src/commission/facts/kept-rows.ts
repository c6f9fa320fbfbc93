import type { RowKind } from '../../db/commission/fact-readings.ts'
import type { KeptDays } from '../../db/commission/kept-days.ts'
import type { KeptRows, NewlyKept } from '../../db/commission/kept-facts.ts'
import type { FactRow } from '../../db/commission/packed-facts.ts'
import type { KeptReading } from './kept.ts'

const isValue = (name: string): boolean => name !== 'customer_id'

/** Returns a row from its values as they are kept. */
export function fromKeptRow(
  customer_id: string,
  columns: readonly string[],
  values: readonly FactRow[string][],
): FactRow {
  const row: FactRow = { customer_id }
  for (const [i, name] of columns.filter(isValue).entries()) row[name] = values[i] ?? null
  return row
}

/**
 * Returns what a run keeps of the customers that it has read.
 *
 * @param needed The kinds of rows that were read of each customer.
 * @param lacking The customers of whom too little was kept.
 */
export function keptRowsOf(
  { usable, filled, kinds }: Pick<KeptReading, 'usable' | 'filled' | 'kinds'>,
  needed: ReadonlyMap<string, ReadonlySet<RowKind>>,
  rows: ReadonlyMap<RowKind, readonly FactRow[]>,
  lacking: ReadonlySet<string>,
): NewlyKept[] {
  const isUsed = (days: KeptDays) =>
    usable.some(({ generation, first_day }) => {
      return generation === days.generation && first_day === days.first_day
    })
  const byKind = new Map(
    [...rows].map(([kind, all]) => [kind, Map.groupBy(all, (row) => String(row.customer_id))]),
  )
  return filled.flatMap((days) =>
    [...needed]
      .filter(([id, own]) => own.size > 0 && (lacking.has(id) || !isUsed(days)))
      .map(([customer_id, own]): NewlyKept => {
        const kept: KeptRows = {}
        for (const { kind, statements } of kinds) {
          if (!own.has(kind)) continue
          kept[kind] = (byKind.get(kind)?.get(customer_id) ?? [])
            .filter(({ day }) => days.first_day <= Number(day) && Number(day) <= days.last_day)
            .map((row) => statements.columns.filter(isValue).map((name) => row[name] ?? null))
        }
        const { first_day, generation } = days
        return { customer_id, first_day, generation, rows: kept }
      }),
  )
}
