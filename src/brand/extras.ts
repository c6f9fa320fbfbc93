import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/records/extras-limits.ts'
import type { StoredSizes } from '../db/records/sizes-sql.ts'

/** The stored size of each additional field, in bytes, by name. */
export type Sizes = ReadonlyMap<string, number>

/** Additional fields of a customer: those that a request has sent so far, or those stored. */
export interface Extras {
  /** The total of `sizes`. */
  bytes: number
  sizes: Map<string, number>
}

/** Returns the stored size of each field: its name, its value as JSON text within JSON, and a comma. */
export const extraSizes = (fields: readonly (readonly [string, unknown])[]): Sizes =>
  new Map(
    fields.map(([name, value]) => {
      const stored = JSON.stringify({ [name]: JSON.stringify(value) })
      return [name, encoder.encode(stored).length - '{}'.length + ','.length]
    }),
  )

const encoder = new TextEncoder()

/** Returns additional fields of these sizes. */
export function toExtras(sizes: Sizes): Extras {
  let bytes = 0
  for (const size of sizes.values()) bytes += size
  return { bytes, sizes: new Map(sizes) }
}

/** Adds the fields of a further record; a field that is sent again counts once, with its new size. */
export function addSizes(extras: Extras, sizes: Sizes): void {
  for (const [name, size] of sizes) {
    extras.bytes += size - (extras.sizes.get(name) ?? 0)
    extras.sizes.set(name, size)
  }
}

/** Returns whether stored fields would exceed their limits with the fields of a further record. */
function wouldExceed(stored: Extras, sizes: Sizes): boolean {
  if (sizes.size === 0) return false
  let { bytes } = stored
  let number = stored.sizes.size
  for (const [name, size] of sizes) {
    const replaced = stored.sizes.get(name)
    bytes += size - (replaced ?? 0)
    if (replaced === undefined) number += 1
  }
  // Each field brings a comma or the closing brace; the opening brace remains.
  return '{'.length + bytes > MAX_EXTRAS_BYTES || number > MAX_EXTRAS_NUMBER
}

/** Returns the positions of the records that do not fit into what is stored by then. */
export function rejectTooLarge(
  records: readonly { index: number; customer_id: unknown; sizes: Sizes }[],
  stored: ReadonlyMap<unknown, StoredSizes>,
): Set<number> {
  const extras = new Map([...stored].map(([id, { sizes }]) => [id, toExtras(sizes)] as const))
  const rejected = new Set<number>()
  for (const { index, customer_id, sizes } of records) {
    const before = extras.get(customer_id)
    if (!before) continue
    if (wouldExceed(before, sizes)) rejected.add(index)
    else addSizes(before, sizes)
  }
  return rejected
}
