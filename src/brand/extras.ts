import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/records/extras-limits.ts'

/** The stored size of each additional field, in bytes, by name. */
export type Sizes = ReadonlyMap<string, number>

/** The additional fields that a request has sent of one customer so far. */
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

/** Adds the fields of a further record; a field that is sent again counts once, with its new size. */
export function addSizes(extras: Extras, sizes: Sizes): void {
  for (const [name, size] of sizes) {
    extras.bytes += size - (extras.sizes.get(name) ?? 0)
    extras.sizes.set(name, size)
  }
}

/**
 * The maximum number of characters in the patches of one request. Those of the first records of
 * customers fit into four parameters, and those of further records into one: D1 joins five at most.
 */
const MAX_FIRST_CHARACTERS = 2_000_000
const MAX_REPEATED_CHARACTERS = 262_144

/**
 * Returns functions that make the patches of one request. A patch (RFC 7396) removes the fields that
 * are sent again from the stored ones, so that they count once. When the patches exceed their limit,
 * as for one customer who is sent a thousand times, or when the fields alone are too large, the patch
 * is empty and such fields count twice.
 */
export const extrasPatches = () => ({
  ofFirst: patchesWithin(MAX_FIRST_CHARACTERS),
  ofRepeated: patchesWithin(MAX_REPEATED_CHARACTERS),
})

function patchesWithin(maxCharacters: number): (extras: Extras) => string {
  let remaining = maxCharacters
  return ({ bytes, sizes }) => {
    const isTooLarge = bytes > MAX_EXTRAS_BYTES || sizes.size > MAX_EXTRAS_NUMBER
    if (isTooLarge || remaining < 0) return '{}'
    const patch = JSON.stringify(Object.fromEntries([...sizes.keys()].map((name) => [name, null])))
    remaining -= patch.length
    return patch
  }
}
