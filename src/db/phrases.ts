import type { Shelf } from './shelf.ts'

// What the statements of a delivery have in common. `?1` is the account, `?2` the delivery. Names
// come from our own tables, never from a request, so they may stand unquoted.

/**
 * How a JSON array becomes rows. The binary form lets each column be read without parsing its
 * record again (insert and update a fifth quicker, replay two thirds); `npm run deploy` asks the
 * remote database whether it has it.
 */
export const EACH = 'jsonb_each'

/** Names, or what becomes of each, as a list. */
export const commas = (names: readonly string[], each = (name: string) => name) =>
  names.map(each).join(', ')

/** The same in brackets: two of them are compared as one value. */
export const row = (names: readonly string[], each: (name: string) => string) =>
  `(${commas(names, each)})`

/** All chunks of a request as one, their parameters numbered from there on. */
export const union = (chunks: number, from: number) =>
  chunks === 0
    ? `select value from json_each('[]')`
    : Array.from({ length: chunks }, (_, i) => `select value from ${EACH}(?${from + i})`).join(
        ' union all ',
      )

/** The line of this delivery in the log. */
export const OURS = 'deliveries where account = ?1 and id = ?2'

/** What a shelf says in every statement; `value` is a record as an array, `t` the stored one. */
export interface Phrases {
  /** What of a record most statements need, behind its index: key, reference, indexed, version. */
  readonly short: readonly string[]
  readonly inShort: (name: string) => string
  readonly inFull: (name: string) => string
  /** Whether `t` is the record, each of whose key columns is found as said. */
  readonly matches: (each: (name: string) => string) => string
  readonly isUnknown: string
  /** Whether the record may be stored; refused, nothing is; of a lenient request, not what is rejected. */
  readonly may: string
  /** Whether the record, its version found as said, is older than the stored one. */
  readonly isOlder: (each: (name: string) => string) => string
}

/** The phrases of a shelf. */
export function phrasesOf({ key, columns, indexed, refers, version }: Shelf): Phrases {
  const short = [...new Set([...key, refers.column, ...indexed, ...(version ? [version] : [])])]
  const placeIn = (names: readonly string[]) => (name: string) =>
    `value ->> ${1 + names.indexOf(name)}`
  const isUnknown = `value ->> 0 in (select value from json_each((select unknown from ${OURS})))`
  return {
    short,
    inShort: placeIn(short),
    inFull: placeIn(columns),
    matches: (each) =>
      `t.account = ?1 and ${key.map((name) => `t.${name} = ${each(name)}`).join(' and ')}`,
    isUnknown,
    may: `(select refused from ${OURS}) = 0
      and ((select unknown_keys from ${OURS}) is null or not ${isUnknown})`,
    isOlder: (each) => (version ? `(${each(version)} < t.${version}) is true` : 'false'),
  }
}
