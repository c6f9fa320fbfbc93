import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/records/extras-limits.ts'
import { jsonTextBytes, utf8Bytes } from './json-bytes.ts'

/** The stored size of each additional field of a record, in bytes, by name. */
export type Sizes = ReadonlyMap<string, number>

/** Returns the stored size of a field: its name, its value as JSON text within JSON, and a comma. */
export const extraSize = (name: string, text: string): number =>
  jsonTextBytes(name) + ':'.length + jsonTextBytes(text) + ','.length

/** Returns the stored size of all fields. */
export function sumOf(sizes: Sizes): number {
  let bytes = 0
  for (const size of sizes.values()) bytes += size
  return bytes
}

/**
 * Returns the JSON of the additional fields of several records, each a map of names to JSON texts or
 * undefined: a later text replaces an earlier one. Returns undefined if there are none.
 */
export function mergeExtras(parts: readonly unknown[]): string | undefined {
  const texts = parts.filter((part) => typeof part === 'string')
  if (texts.length < 2) return texts[0]
  const members = texts.flatMap((text) => Object.entries<string>(JSON.parse(text)))
  return JSON.stringify(Object.fromEntries(members))
}

/**
 * Returns whether stored fields exceed their limits with the fields of a record. `stored` is their JSON
 * text; null if there are none.
 */
export function isTooLarge(sizes: Sizes, stored: string | null): boolean {
  if (sizes.size === 0) return false
  const merged = new Map([...storedSizes(stored ?? '{}'), ...sizes])
  // Each field brings a comma or the closing brace; the opening brace remains.
  return '{'.length + sumOf(merged) > MAX_EXTRAS_BYTES || merged.size > MAX_EXTRAS_NUMBER
}

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
