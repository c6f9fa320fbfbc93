import type { RecordTable } from './record-table.ts'
import { columnList, IDX, type SqlFragments } from './sql-fragments.ts'
import { MAX_LOGGED_TEXT } from './wire-form.ts'

/** The log keeps the keys of the first records with an unknown reference, at most this many keys and bytes. */
const MAX_LOGGED_KEYS = 1000
const MAX_LOGGED_BYTES = 262_144

/**
 * Shortens a text for the log. The ellipsis is written as its code, to keep statements in ASCII: if one
 * character is beyond Latin-1, JavaScript stores the whole request to D1 in two bytes a character.
 */
const loggedText = (sql: string) =>
  `iif(length(${sql}) > ${MAX_LOGGED_TEXT}, substr(${sql}, 1, ${MAX_LOGGED_TEXT}) || char(8230), ${sql})`

/**
 * Returns the identity of a brand's activity for the log. That of a daily aggregate is JSON: its event
 * and its customer, which are ids, and then members that the log does not keep.
 */
const loggedIdentity = (sql: string) =>
  `iif(${sql} like 'd [%',
                  'd ' || json_array(substr(${sql}, 3) ->> 0, substr(${sql}, 3) ->> 1), ${loggedText(sql)})`

/** Lists the position, key and reference of the first records with an unknown reference. */
export const unknownKeys = (
  { key, reference, maskedColumn }: RecordTable,
  { fromLookup }: SqlFragments,
) => `(
          select json_group_array(json(named)) from (
            select named, sum(octet_length(named)) over (order by idx) as bytes from (
              select ${IDX} as idx, json_array(${IDX},
                ${columnList(key, (name) => (maskedColumn ? loggedIdentity : loggedText)(fromLookup(name)))},
                ${reference ? loggedText(fromLookup(reference.column)) : 'null'}) as named
              from classified where unknown order by idx limit ${MAX_LOGGED_KEYS}
            )
          ) where bytes < ${MAX_LOGGED_BYTES}
        )`
