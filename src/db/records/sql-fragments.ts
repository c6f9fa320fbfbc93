import type { RecordTable } from './record-table.ts'

// What the statements of a delivery have in common. `?1` is the account, `?2` the delivery, `?3` the
// number of our try. Names come from our own tables, never from a request, so they may stand unquoted.

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
export const LINE = 'deliveries where account = ?1 and id = ?2'

/**
 * The same, as long as this try of ours wrote it. If an earlier one did, all of it took effect then,
 * and whatever came since must not be written over.
 */
export const OWN_LINE = `${LINE} and attempt = ?3`

/** Behind what is short of an odd record stands what is odd of it; of the others nothing stands there. */
export const ODD = 'odd'

/**
 * It is wrong already, and only asked what it refers to; or its key was there before in the same
 * request, and it says something else or the same; or the former, and so far where its customer came
 * from was only said in a way that cannot be used.
 */
export type Odd = 'wrong' | 'later' | 'again' | 'altered'

/** Behind what is short of a record that grows stands by how many bytes, commas among them. */
export const BYTES = 'bytes'

/** And behind that a JSON object which, merged, takes what it says anew out of what is stored. */
export const ANEW = 'anew'

/** What a shelf says in every statement; `value` is a record as an array, `t` the stored one. */
export interface Phrases {
  /** What of a record most statements need, behind its index. */
  readonly short: readonly string[]
  readonly inShort: (name: string) => string
  readonly inFull: (name: string) => string
  /** What is kept of a record: of an erased customer nothing personal. */
  readonly kept: (line: string) => (name: string) => string
  /** What a new row holds of it: a day in any case. */
  readonly born: (line: string) => (name: string) => string
  /** Whether `t` is the record, each of whose key columns is found as said. */
  readonly matches: (each: (name: string) => string) => string
  /** Whether the record refers to what is not known, as a line of the log has it. */
  readonly isUnknown: (line: string) => string
  /** Whether it moves, likewise. */
  readonly isMoved: (line: string) => string
  /** Whether it may be stored: of a refused request none, of a lenient one not what is rejected. */
  readonly isWanted: (line: string) => string
  /** Whether the record, its version found as said, is older than the stored one. */
  readonly isOlder: (each: (name: string) => string) => string
}

/** The phrases of a shelf, for records that say these columns. */
export function phrasesOf(shelf: RecordTable, said: readonly string[]): Phrases {
  const { key, indexed, refers, version, undated, personal } = shelf
  const short = [
    ...new Set([
      ...key,
      ...(refers ? [refers.column] : []),
      ...indexed,
      ...(version ? [version] : []),
      ...(shelf.asksVerdict ? ['verdict'] : []),
      ...(shelf.grows ? [BYTES, ANEW] : []),
    ]),
  ]
  const placeIn = (names: readonly string[]) => (name: string) =>
    names.includes(name) ? `value ->> ${1 + names.indexOf(name)}` : 'null'
  const inFull = placeIn(said)
  // Mostly nothing is listed: no record is looked up then.
  const isListed = (list: string, line: string) =>
    `((select ${list} from ${line}) is not null
      and value ->> 0 in (select value from json_each((select ${list} from ${line}))))`
  const isUnknown = (line: string) => isListed('unknown_at', line)
  const kept = (line: string) => (name: string) =>
    personal.includes(name)
      ? `iif(${isListed('erased_at', line)}, null, ${inFull(name)})`
      : inFull(name)
  return {
    short,
    inShort: placeIn(short),
    inFull,
    kept,
    born: (line) => (name) =>
      undated && name === 'day'
        ? `coalesce(${inFull('day')}, ${inFull('first_day')})`
        : kept(line)(name),
    matches: (each) =>
      `t.account = ?1 and ${key.map((name) => `t.${name} = ${each(name)}`).join(' and ')}`,
    isUnknown,
    isMoved: (line) => isListed('moved', line),
    isWanted: (line) => `(select refused from ${line}) = 0
      and ((select unknown_keys from ${line}) is null or not ${isUnknown(line)})`,
    isOlder: (each) => (version ? `(${each(version)} < t.${version}) is true` : 'false'),
  }
}
