import { MAX_EXTRAS_BYTES } from '../db/records/record-table.ts'

/** How many bytes additional fields take, by their names. */
export type Sizes = ReadonlyMap<string, number>

/** The additional fields of a customer, of all that a request says of it so far. */
export interface Extras {
  bytes: number
  sizes: Map<string, number>
}

/** How much is kept of each field: a name and a JSON text within a JSON text, and a comma. */
export const extraSizes = (fields: readonly (readonly [string, unknown])[]): Sizes =>
  new Map(
    fields.map(([name, value]) => {
      const kept = JSON.stringify({ [name]: JSON.stringify(value) })
      return [name, encoder.encode(kept).length - '{}'.length + ','.length]
    }),
  )

const encoder = new TextEncoder()

/** Counts each additional field once, however often it is sent. */
export function addSizes(extras: Extras, sizes: Sizes): void {
  for (const [name, size] of sizes) {
    extras.bytes += size - (extras.sizes.get(name) ?? 0)
    extras.sizes.set(name, size)
  }
}

/** So many characters a request tells of the names that it says anew. */
const MAX_TOLD = 262_144

/**
 * Tells, for one request, what takes the fields that it says anew out of those that are stored (a
 * patch of RFC 7396), so that they count once. Where that would be very much, as of one customer a
 * thousand times, it tells no more, and they count twice; so it does of what is too large alone.
 */
export function extrasPatch(): (extras: Extras) => string {
  let room = MAX_TOLD
  return ({ bytes, sizes }) => {
    if (bytes > MAX_EXTRAS_BYTES || room < 0) return '{}'
    const anew = JSON.stringify(Object.fromEntries([...sizes.keys()].map((name) => [name, null])))
    room -= anew.length
    return anew
  }
}
