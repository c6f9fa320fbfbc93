import { affiliatedSql } from './affiliated-sql.ts'
import type { SizeLimit } from './extras-limits.ts'
import type { RecordTable } from './record-table.ts'
import { ifMissing, stillHeld } from './reference-sql.ts'
import {
  ADDED_BYTES,
  ADDED_MEMBERS,
  type FromLookup,
  flagIn,
  HAS_MASK,
  IS_TOO_LARGE,
  rowValue,
  SEEN_DELIVERY,
  SENT_VERDICT,
  type SqlFragments,
} from './sql-fragments.ts'

/** The findings about a record, by name, each as a SQL condition or value. */
export type Findings = Readonly<Record<string, string>>

/**
 * Returns the findings that a record of this table can have. A finding that no record can have is
 * absent and costs nothing. `holds` tells whether records of unknown customers are held. SQLite evaluates
 * both sides of an `and`, but only the branch of `iif` that it needs, so rare and expensive conditions
 * are in an `iif`.
 */
export function findingColumns(
  table: RecordTable,
  { lookupColumns, fromLookup, isOlder }: SqlFragments,
  hasFlags: boolean,
  holds: boolean,
): Findings {
  const { indexedColumns, reference, sizeLimit, versionColumn, canHold, merge } = table
  const { personalColumns, maskedColumn } = table
  const flag = flagIn(lookupColumns)
  /** A merged record is written once: of the records that it consists of, the first counts. */
  const once = (sql: string) => (hasFlags ? `iif(${flag} is null, ${sql}, 0)` : sql)
  const orFlagged = hasFlags ? `or ${flag} is not null` : ''
  const isSamePlace = samePlace(table, (name) => merge(name, fromLookup))
  const moved = `iif(t.account is null ${orFlagged}, 0, not ${isSamePlace})`
  const isStillHeld =
    canHold && holds && reference ? stillHeld(table, reference, fromLookup, isSamePlace) : '0'
  return {
    is_new: 't.account is null',
    ...(hasFlags && {
      invalid: `${flag} is 'invalid'`,
      flagged: `${flag} is not null`,
    }),
    // `unknown`: the record has an unknown reference; in customers of brands, its additional fields exceed
    // the limit.
    ...(reference && { unknown: ifMissing(reference, fromLookup, isStillHeld) }),
    ...(sizeLimit && {
      unknown: `${fromLookup(IS_TOO_LARGE)} is 1`,
      undecided: once(isUndecided(sizeLimit, fromLookup)),
      rewritten: once(rewrittenBytes(sizeLimit, fromLookup)),
    }),
    ...(versionColumn && { stale: isOlder(fromLookup) }),
    ...(indexedColumns.length > 0 && { moved }),
    ...(personalColumns.length > 0 && {
      erased: maskedColumn ? hasErasedMembers(fromLookup) : isErased(fromLookup),
    }),
    ...(table.affiliation && { affiliated: affiliatedSql(table.affiliation, fromLookup) }),
    ...(table.warnsOnAttribution && verdictFindings(fromLookup)),
  }
}

/** Returns whether the record has the day and the customer of the stored one; null if it always has. */
const samePlace = ({ indexedColumns }: RecordTable, next: (name: string) => string) =>
  indexedColumns.length > 0
    ? `${rowValue(indexedColumns, (name) => `t.${name}`)} is ${rowValue(indexedColumns, next)}`
    : null

/** The fewest bytes of a stored member with its comma: `"":"1",` has 7 of them. */
const MIN_MEMBER_BYTES = 7

/**
 * Returns the condition that the statement cannot decide whether a record is too large.
 * - Before the Worker has read the stored fields: the sum of the stored and the sent size exceeds a limit.
 *   A repeated field counts twice. A small record cannot have too many members, so its members are not
 *   counted.
 * - Afterwards: another delivery has changed the stored record.
 */
export function isUndecided(
  { column, maxBytes, maxMembers }: SizeLimit,
  fromLookup: FromLookup,
): string {
  // An empty object counts 1 byte; each member adds 1 separator.
  const bytes = `ifnull(octet_length(t.${column}), 1) + ${fromLookup(ADDED_BYTES)}`
  const members = `(select count(*) from json_each(t.${column})) + ${fromLookup(ADDED_MEMBERS)}`
  const seen = fromLookup(SEEN_DELIVERY)
  return `iif(${seen} is null,
            iif(${fromLookup(ADDED_MEMBERS)} > 0 and ${bytes} > ${MIN_MEMBER_BYTES * maxMembers},
              iif(${bytes} > ${maxBytes} or ${members} > ${maxMembers}, not ${isErased(fromLookup)}, 0), 0),
            ifnull(t.delivery, '') is not ${seen})`
}

/** Returns the stored bytes that a write of the record rewrites and that it does not send. */
export const rewrittenBytes = ({ column }: SizeLimit, fromLookup: FromLookup) =>
  `max(ifnull(octet_length(t.${column}), 0) - ${fromLookup(ADDED_BYTES)}, 0)`

const isErased = (fromLookup: FromLookup) => `exists (select 1 from erasures e
            where e.account = :account and e.customer_id = ${fromLookup('customer_id')})`

/**
 * Returns the condition that a record has members which an erasure removes. The look-up of the
 * customer is left out for records without such members, and for accounts without erasures.
 */
const hasErasedMembers = (fromLookup: FromLookup) =>
  `iif(${fromLookup(HAS_MASK)} and exists (select 1 from erasures where account = :account),
          ${isErased(fromLookup)}, 0)`

/** For records without usable `tracking_data`: the verdict on the stored customer. */
function verdictFindings(fromLookup: FromLookup): Findings {
  const sent = fromLookup(SENT_VERDICT)
  const verdict = `coalesce(iif(${sent} is 'unusable' and t.tracking_data is null, 'altered', t.verdict), 'organic')`
  return {
    not_attributed: `ifnull(${sent}, 'unusable') is 'unusable' and ${verdict} is not 'attributed'`,
    verdict,
  }
}

/** The records that an aggregate covers: those with all findings of `has` and none of `lacks`. */
export interface Filter {
  readonly has: readonly [string, ...string[]]
  readonly lacks: readonly string[]
}

/**
 * Returns functions that write aggregates over the records of a filter. `conditions` has the SQL of
 * each finding by its name. No record has a finding that is absent there.
 */
export function aggregatesOf(conditions: Readonly<Record<string, string>>) {
  /** Returns the aggregate over the records of the filter; null if no record can match it. */
  const filtered = (aggregate: string, { has, lacks }: Filter): string | null => {
    if (!has.every((name) => name in conditions)) return null
    const terms = [
      ...has.map((name) => conditions[name]),
      ...lacks.flatMap((name) => (name in conditions ? [`not ${conditions[name]}`] : [])),
    ]
    return `${aggregate} filter (where ${terms.join(' and ')})`
  }
  return {
    count: (counted: string, filter: Filter) => filtered(`count(${counted})`, filter) ?? '0',
    list: (listed: string, filter: Filter) => {
      const array = filtered(`json_group_array(${listed})`, filter)
      return array ? `nullif(${array}, '[]')` : 'null'
    },
    map: (key: string, value: string, filter: Filter) => {
      const object = filtered(`json_group_object(${key}, ${value})`, filter)
      return object ? `nullif(${object}, '{}')` : 'null'
    },
  }
}
