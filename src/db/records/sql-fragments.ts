import type { RecordTable } from './record-table.ts'

// What the statements of a delivery have in common. `?1` is the account, `?2` the delivery, `?3` the
// number of our try. Names come from our own tables, never from a request, so they may stand unquoted.

/**
 * How a JSON array becomes rows. The binary form lets each column be read without parsing its
 * record again (insert and update a fifth quicker, replay two thirds); `npm run deploy` asks the
 * remote database whether it has it.
 */
export const JSON_EACH = 'jsonb_each'

/** Names, or what becomes of each, as a list. */
export const columnList = (names: readonly string[], each = (name: string) => name) =>
  names.map(each).join(', ')

/** The same in brackets: two of them are compared as one value. */
export const rowValue = (names: readonly string[], each: (name: string) => string) =>
  `(${columnList(names, each)})`

/** All chunks of a request as one, their parameters numbered from there on. */
export const unionOfChunks = (chunks: number, from: number) =>
  chunks === 0
    ? `select value from json_each('[]')`
    : Array.from({ length: chunks }, (_, i) => `select value from ${JSON_EACH}(?${from + i})`).join(
        ' union all ',
      )

/** The line of this delivery in the log. */
export const DELIVERY_ROW = 'deliveries where account = ?1 and id = ?2'

/**
 * The same, as long as this try of ours wrote it. If an earlier one did, all of it took effect then,
 * and whatever came since must not be written over.
 */
export const OWN_DELIVERY_ROW = `${DELIVERY_ROW} and attempt = ?3`

/** Behind what is short of an odd record stands what is odd of it; of the others nothing stands there. */
export const FLAG = 'flag'

/**
 * It is wrong already, and only asked what it refers to; or its key was there before in the same
 * request, and it says something else or the same; or the former, and so far where its customer came
 * from was only said in a way that cannot be used.
 */
export type RowFlag = 'wrong' | 'later' | 'again' | 'altered'

/** Behind what is short of a record that grows stands by how many bytes, commas among them. */
export const ADDED_BYTES = 'bytes'

/** And behind that a JSON object which, merged, takes what it says anew out of what is stored. */
export const EXTRAS_PATCH = 'anew'

/** What a table says in every statement; `value` is a record as an array, `t` the stored one. */
export interface SqlFragments {
  /** What of a record most statements need, behind its index. */
  readonly lookupColumns: readonly string[]
  readonly fromLookup: (name: string) => string
  readonly fromRecord: (name: string) => string
  /** What is kept of a record: of an erased customer nothing personal. */
  readonly storedValue: (line: string) => (name: string) => string
  /** What a new row holds of it: a day in any case. */
  readonly initialValue: (line: string) => (name: string) => string
  /** Whether `t` is the record, each of whose key columns is found as said. */
  readonly keyMatches: (each: (name: string) => string) => string
  /** Whether the record refers to what is not known, as a line of the log has it. */
  readonly hasUnknownReference: (line: string) => string
  /** Whether it moves, likewise. */
  readonly hasMoved: (line: string) => string
  /** Whether it may be stored: of a refused request none, of a lenient one not what is rejected. */
  readonly mayBeStored: (line: string) => string
  /** Whether the record, its version found as said, is older than the stored one. */
  readonly isOlder: (each: (name: string) => string) => string
}

/** The fragments of a table, for records that say these columns. */
export function sqlFragments(table: RecordTable, said: readonly string[]): SqlFragments {
  const { key, indexedColumns, reference, versionColumn, dayOptional, personalColumns } = table
  const lookupColumns = [
    ...new Set([
      ...key,
      ...(reference ? [reference.column] : []),
      ...indexedColumns,
      ...(versionColumn ? [versionColumn] : []),
      ...(table.warnsOnAttribution ? ['verdict'] : []),
      ...(table.sizeLimit ? [ADDED_BYTES, EXTRAS_PATCH] : []),
    ]),
  ]
  const placeIn = (names: readonly string[]) => (name: string) =>
    names.includes(name) ? `value ->> ${1 + names.indexOf(name)}` : 'null'
  const fromRecord = placeIn(said)
  // Mostly nothing is listed: no record is looked up then.
  const isListed = (list: string, line: string) =>
    `((select ${list} from ${line}) is not null
      and value ->> 0 in (select value from json_each((select ${list} from ${line}))))`
  const hasUnknownReference = (line: string) => isListed('unknown_at', line)
  const storedValue = (line: string) => (name: string) =>
    personalColumns.includes(name)
      ? `iif(${isListed('erased_at', line)}, null, ${fromRecord(name)})`
      : fromRecord(name)
  return {
    lookupColumns,
    fromLookup: placeIn(lookupColumns),
    fromRecord,
    storedValue,
    initialValue: (line) => (name) =>
      dayOptional && name === 'day'
        ? `coalesce(${fromRecord('day')}, ${fromRecord('first_day')})`
        : storedValue(line)(name),
    keyMatches: (each) =>
      `t.account = ?1 and ${key.map((name) => `t.${name} = ${each(name)}`).join(' and ')}`,
    hasUnknownReference,
    hasMoved: (line) => isListed('moved', line),
    mayBeStored: (line) => `(select refused from ${line}) = 0
      and ((select unknown_keys from ${line}) is null or not ${hasUnknownReference(line)})`,
    isOlder: (each) =>
      versionColumn ? `(${each(versionColumn)} < t.${versionColumn}) is true` : 'false',
  }
}
