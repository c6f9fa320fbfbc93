import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/records/extras-limits.ts'

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
export function wouldExceed(stored: Extras, sizes: Sizes): boolean {
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
