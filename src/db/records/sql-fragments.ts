import { erasedValue } from './merge.ts'
import type { RecordTable } from './record-table.ts'

// SQL that the statements of a delivery share. Their parameters are named: `:account`, `:delivery`
// and `:attempt` identify the attempt, `:rows` is a JSON array of records, each an array of its own.
// In every statement `value` is one record of such an array, and `t` is the stored record.
// Table and column names come from our schema, never from a request, so they are not quoted.

/**
 * The function that turns a JSON array into rows. The binary form reads each column without parsing
 * the record again: inserts and updates are a fifth faster, replays two thirds. `npm run deploy`
 * asks the remote database whether it has the function.
 */
export const JSON_EACH = 'jsonb_each'

/** The position of a record in its request, the first cell of its array. */
export const IDX = 'value ->> 0'

/** Returns a comma-separated list of names, or of the SQL that `toSql` makes of each. */
export const columnList = (names: readonly string[], toSql = (name: string) => name) =>
  names.map(toSql).join(', ')

/** Returns a row value, so that several columns compare as one. */
export const rowValue = (names: readonly string[], toSql: (name: string) => string) =>
  `(${columnList(names, toSql)})`

/** Returns the names of numbered parameters, such as `lookup_1` and `lookup_2`. */
export const chunkNames = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}_${i + 1}`)

/** Returns a query for the records of several chunks, each a parameter of its own. */
export const unionOfChunks = (parameters: readonly string[]) =>
  parameters.length === 0
    ? `select value from json_each('[]')`
    : parameters.map((name) => `select value from ${JSON_EACH}(:${name})`).join(' union all ')

/** The row of this delivery in the log. */
export const DELIVERY_ROW = 'deliveries where account = :account and id = :delivery'

/**
 * The row of this delivery, if this attempt inserted it. If an earlier attempt did, all of its
 * writes are committed, and what was stored since must not be overwritten.
 */
export const OWN_DELIVERY_ROW = `${DELIVERY_ROW} and attempt = :attempt`

/** The name of the cell that holds a row's flag, behind the lookup columns of a flagged row. */
export const FLAG = 'flag'

/**
 * Why a row is not an ordinary one.
 * - `invalid`: it failed validation; only its reference is checked.
 * - `repeated`: it was merged into an earlier record of the request, whose values it has.
 */
export type RowFlag = 'invalid' | 'repeated'

/** The name of the cell with the number of records that were merged into this one; null if none was. */
export const REPEATS = 'repeats'

/**
 * The name of the cell with the verdict on the `tracking_data` of a record: `unusable` if only
 * `tracking_data` that cannot be used was sent, null if none was.
 */
export const SENT_VERDICT = 'sent_verdict'

/** The name of the cell with an upper bound of the bytes that a record adds. */
export const ADDED_BYTES = 'bytes'

/** The name of the cell with an upper bound of the members that a record adds. */
export const ADDED_MEMBERS = 'members'

/** The name of the cell that is 1 if the Worker found the record too large; null if it did not look. */
export const IS_TOO_LARGE = 'is_too_large'

/**
 * The name of the cell with the delivery that had written the stored record when the Worker looked:
 * `''` if none was stored, null if it did not look.
 */
export const SEEN_DELIVERY = 'seen_delivery'

/**
 * The name of the cell with a JSON patch that removes the members which an erasure removes from
 * `maskedColumn`; null if there are none.
 */
export const MASK_PATCH = 'mask'

/** The name of the cell that is 1 if a record has a `MASK_PATCH`, else 0. */
export const HAS_MASK = 'has_mask'

/** Returns the SQL of the flag of a row, the cell behind the lookup columns; null if it is an ordinary one. */
export const flagIn = (lookupColumns: readonly string[]) =>
  `(value ->> ${lookupColumns.length + 1})`

/** Returns the SQL that reads a column from a lookup chunk; `null` if the table's chunks lack it. */
export type FromLookup = (name: string) => string

/** The fragments of one table. */
export interface SqlFragments {
  /** The columns that the classification and the warnings about signups need, in the order of a lookup chunk's cells. */
  readonly lookupColumns: readonly string[]
  readonly fromLookup: FromLookup
  /** The columns of whole records, in the order of a chunk's cells. */
  readonly rowColumns: readonly string[]
  /** Returns the SQL that reads a column from a chunk of whole records. */
  readonly fromRecord: (name: string) => string
  /** Returns the value that is stored: without the personal data of an erased customer. */
  readonly storedValue: (name: string) => string
  /** Returns the value of a new row: `storedValue`, and always a day. */
  readonly initialValue: (name: string) => string
  /** Returns the condition that `t` has the record's key, its columns read by `toSql`. */
  readonly keyMatches: (toSql: (name: string) => string) => string
  /** Returns the condition that the record is older than `t`, its version read by `toSql`. */
  readonly isOlder: (toSql: (name: string) => string) => string
}

/** Returns the fragments of a table. */
export function sqlFragments(table: RecordTable): SqlFragments {
  const { key, versionColumn, dayOptional, personalColumns, maskedColumn } = table
  const lookupColumns = lookupColumnsOf(table)
  const rowColumns = [...table.columns, ...(maskedColumn ? [MASK_PATCH] : []), REPEATS]
  const cellIn = (names: readonly string[]) => (name: string) =>
    names.includes(name) ? `value ->> ${1 + names.indexOf(name)}` : 'null'
  const fromRecord = cellIn(rowColumns)
  const ifErased = (name: string, erased: string) =>
    `iif(${isListed('erased_at')}, ${erased}, ${fromRecord(name)})`
  const storedValue = (name: string) => {
    if (personalColumns.includes(name)) return ifErased(name, erasedValue(name, fromRecord))
    if (name !== maskedColumn) return fromRecord(name)
    return ifErased(name, `json_patch(${fromRecord(name)}, ${fromRecord(MASK_PATCH)})`)
  }
  return {
    lookupColumns,
    rowColumns,
    fromLookup: cellIn(lookupColumns),
    fromRecord,
    storedValue,
    initialValue: (name) =>
      dayOptional && name === 'day'
        ? `coalesce(${fromRecord('day')}, ${fromRecord('first_day')})`
        : storedValue(name),
    keyMatches: (toSql) =>
      `t.account = :account and ${key.map((name) => `t.${name} = ${toSql(name)}`).join(' and ')}`,
    isOlder: (toSql) =>
      versionColumn ? `(${toSql(versionColumn)} < t.${versionColumn}) is true` : 'false',
  }
}

/** Returns the columns that the classification of a record and the warnings about signups need. */
function lookupColumnsOf(table: RecordTable): readonly string[] {
  const { key, indexedColumns, reference, versionColumn, warnsOnAttribution } = table
  const { sizeLimit, maskedColumn, affiliation, instantColumns, timeColumn } = table
  const columns = [
    ...key,
    ...(reference ? [reference.column] : []),
    ...indexedColumns,
    ...instantColumns,
    ...(timeColumn ? [timeColumn] : []),
    ...(versionColumn ? [versionColumn] : []),
    ...(affiliation ? [affiliation] : []),
    ...(warnsOnAttribution ? [SENT_VERDICT] : []),
    ...(sizeLimit ? [ADDED_BYTES, ADDED_MEMBERS, IS_TOO_LARGE, SEEN_DELIVERY] : []),
    ...(maskedColumn ? [HAS_MASK] : []),
  ]
  return [...new Set(columns)]
}

/** The columns of a delivery row, each a JSON array of record positions, that later statements read. */
type PositionList = 'unknown_at' | 'moved' | 'erased_at'

/**
 * The delivery row as a common table expression. `own`: only if this attempt inserted it, so that a
 * repeated attempt writes nothing.
 */
export const withDelivery = (scope: 'own' | 'any') => `
      with delivery as materialized (
        select refused, unknown_at, unknown_keys, moved, erased_at
        from ${scope === 'own' ? OWN_DELIVERY_ROW : DELIVERY_ROW}
      )`

/** Returns the condition that the delivery lists the record; an empty list costs no look-up. */
export const isListed = (list: PositionList) =>
  `((select ${list} from delivery) is not null
        and ${IDX} in (select value from json_each((select ${list} from delivery))))`

/** The condition that a record refers to something unknown. */
export const HAS_UNKNOWN_REFERENCE = isListed('unknown_at')

/** The condition that a record moves to another day or customer. */
export const HAS_MOVED = isListed('moved')

/**
 * The condition that a record may be stored: the request is not refused, and a lenient request does
 * not reject this record. Only the policy `reject` sets `unknown_keys`; where it is null, records with
 * an unknown reference are stored.
 */
export const MAY_BE_STORED = `(select refused from delivery) = 0
        and ((select unknown_keys from delivery) is null or not ${HAS_UNKNOWN_REFERENCE})`
