import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/records/extras-limits.ts'
import { jsonTextBytes, utf8Bytes } from './json-bytes.ts'

/** The stored size of each additional field of a record, in bytes, by name. */
export type Sizes = ReadonlyMap<string, number>

/** Additional fields of a customer: those that a request has sent so far, or those stored. */
export interface Extras {
  /** The total of `sizes`. */
  bytes: number
  sizes: Sizes
  /** `sizes`, unless it is the map of a record: most customers have one record. */
  own: Map<string, number> | null
}

/** Returns the stored size of a field: its name, its value as JSON text within JSON, and a comma. */
export const extraSize = (name: string, text: string): number =>
  jsonTextBytes(name) + ':'.length + jsonTextBytes(text) + ','.length

/** Returns the fields of a first record. */
export function toExtras(sizes: Sizes): Extras {
  let bytes = 0
  for (const size of sizes.values()) bytes += size
  return { bytes, sizes, own: null }
}

/** Adds the fields of a further record; a field that is sent again counts once, with its new size. */
export function addSizes(extras: Extras, sizes: Sizes): void {
  if (sizes.size === 0) return
  extras.own ??= new Map(extras.sizes)
  const { own } = extras
  extras.sizes = own
  for (const [name, size] of sizes) {
    extras.bytes += size - (own.get(name) ?? 0)
    own.set(name, size)
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

/**
 * Returns the positions of a customer's records that do not fit into what is stored by then. `stored`
 * is the JSON text of the stored fields; null if there are none.
 */
export function findTooLarge(
  records: readonly { index: number; sizes: Sizes }[],
  stored: string | null,
): number[] {
  const sizesOfStored = storedSizes(stored ?? '{}')
  const extras: Extras = { ...toExtras(sizesOfStored), own: sizesOfStored }
  const rejected: number[] = []
  for (const { index, sizes } of records) {
    if (wouldExceed(extras, sizes)) rejected.push(index)
    else addSizes(extras, sizes)
  }
  return rejected
}

/** Returns `findTooLarge` for the records of a request, by customer. */
export function tooLargeFinder(
  records: readonly { index: number; customer_id: unknown; sizes: Sizes }[],
): (customer_id: unknown, stored: string | null) => number[] {
  let byCustomer: ReturnType<typeof groupByCustomer<(typeof records)[number]>> | undefined
  return (customer_id, stored) => {
    byCustomer ??= groupByCustomer(records)
    return findTooLarge(byCustomer.get(customer_id) ?? [], stored)
  }
}

const groupByCustomer = <T extends { customer_id: unknown }>(records: readonly T[]) =>
  Map.groupBy(records, ({ customer_id }) => customer_id)

/**
 * Returns the sizes of stored fields: a flat object of JSON strings, without white space, as the
 * database keeps it. To parse 256 fields into an object takes six times as long.
 */
function storedSizes(json: string): Map<string, number> {
  const sizes = new Map<string, number>()
  for (let at = '{'.length; json[at] === '"'; ) {
    const nameEnd = endOfString(json, at)
    const end = endOfString(json, nameEnd + ':'.length)
    const name = json.slice(at + 1, nameEnd - 1)
    const bytes = utf8Bytes(json.slice(at, end)) + ','.length
    sizes.set(name.includes('\\') ? JSON.parse(`"${name}"`) : name, bytes)
    at = end + ','.length
  }
  return sizes
}

/** Returns the position behind a JSON string that starts at a position. */
function endOfString(json: string, start: number): number {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}
