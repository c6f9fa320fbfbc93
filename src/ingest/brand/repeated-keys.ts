import type { Row } from '../db/rows.ts'

/** The rows of a request, one for each key, and the positions of the records that were merged into them. */
export interface MergedRows {
  rows: Row[]
  repeats: Map<number, number>
}

/**
 * Merges the records of a request that have the same key (contract §4). `merge` returns the values of
 * records with one key, in the order of the request; they are stored at the position of the first.
 */
export function mergeRepeated<T extends { readonly index: number }>(
  records: readonly T[],
  recordKey: (record: T) => unknown,
  merge: (records: readonly [T, ...T[]]) => Row['values'],
): MergedRows {
  const repeats = new Map<number, number>()
  const groups = Map.groupBy(records, recordKey) as Map<unknown, [T, ...T[]]>
  const rows = [...groups.values()].map((group): Row => {
    const [{ index: idx }, ...others] = group
    for (const { index } of others) repeats.set(index, idx)
    return { idx, values: merge(group) }
  })
  return { rows, repeats }
}
