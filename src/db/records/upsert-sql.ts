import { RETURNING_COUNTS } from './count-sql.ts'
import type { RecordTable } from './record-table.ts'
import {
  columnList,
  HAS_MOVED,
  HAS_UNKNOWN_REFERENCE,
  IDX,
  JSON_EACH,
  MAY_BE_STORED,
  REPEATS,
  rowValue,
  type SqlFragments,
  withDelivery,
} from './sql-fragments.ts'
import { orTextsDiffer } from './texts-sql.ts'

const excluded = (name: string) => `excluded.${name}`
const stored = (name: string) => `t.${name}`

/** The RETURNING clause with the position and the revision of each record that was written. */
export const RETURNING_OUTCOME = ' returning idx, revision'

/**
 * Upserts records that do not move. A record that equals the stored one, or is older, writes nothing.
 * SET names no indexed column: SQLite would write its index even where the value is equal.
 */
export function upsertSql(table: RecordTable, fragments: SqlFragments): string {
  const { initialValue, isOlder } = fragments
  const { contentColumns, contentDiffers } = contentOf(table)
  return `
      ${insertInto(table)}
      ${withDelivery('own')}
      select :account, ${columnList(table.columns, initialValue)}, ${serviceValues(table)}
        :delivery, ${IDX}, 1
      from ${JSON_EACH}(:rows)
      where ${MAY_BE_STORED}
      ${onConflict(table)}
        ${columnList(contentColumns, (name) => `${name} = ${table.merge(name, excluded)}`)},
        ${SET_WRITE}
      where ${contentDiffers} and not ${isOlder(excluded)}`
}

/** Upserts records whose day or customer has changed; these are rare and need their indexes rewritten. */
export function upsertMovedSql(table: RecordTable, fragments: SqlFragments): string {
  const { fromRecord, storedValue, keyMatches } = fragments
  const { contentColumns, contentDiffers } = contentOf(table)
  const { indexedColumns, canHold, dayOptional, timeColumn, merge } = table
  const value = (name: string) =>
    dayOptional && name === 'day'
      ? `coalesce(${merge('day', fromRecord)}, ${fromRecord('first_day')})`
      : storedValue(name)
  // `excluded.day` is the day of a new record.
  const sent = (name: string) =>
    timeColumn && name === 'day'
      ? `iif(excluded.${timeColumn} is null, null, excluded.day)`
      : excluded(name)
  const next = (name: string) => (name === 'day' ? merge('day', sent) : excluded(name))
  const indexedDiffers =
    indexedColumns.length > 0
      ? [`${rowValue(indexedColumns, next)} is not ${rowValue(indexedColumns, stored)}`]
      : []
  const setIndexed = [...indexedColumns, ...(canHold ? ['held'] : [])]
  return `
      ${insertInto(table)}
      ${withDelivery('own')}
      select :account, ${columnList(table.columns, value)}, ${serviceValues(table)}
        :delivery, ${IDX}, 1
      from ${JSON_EACH}(:rows) left join ${table.table} t on ${keyMatches(fromRecord)}
      where ${HAS_MOVED} and ${MAY_BE_STORED}
      ${onConflict(table)}
        ${columnList(contentColumns, (name) => `${name} = ${merge(name, excluded)}`)},
        ${columnList(setIndexed, (name) => `${name} = ${next(name)}`)},
        ${SET_WRITE}
      where ${[contentDiffers, ...indexedDiffers].join(' or ')}`
}

/** Counts what `upsert` would write of a chunk, and how much of it would be held. */
export const countDryRunSql = (table: RecordTable, fragments: SqlFragments) => `
      ${withDelivery('any')},
      would_write as materialized (
        select ${countRecords(fragments)} as written,
          ${table.canHold ? countRecords(fragments, HAS_UNKNOWN_REFERENCE) : '0'} as held
        from (select value ${wouldWrite(table, fragments)})
      )
      update deliveries set
        written = deliveries.written + would_write.written,
        held_written = deliveries.held_written + would_write.held
      from would_write
      where account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/** Counts records with those that were merged into them. */
const countRecords = ({ fromRecord }: SqlFragments, condition = 'true') =>
  `count(*) filter (where ${condition}) + ifnull(sum(${fromRecord(REPEATS)}) filter (where ${condition}), 0)`

/**
 * Lists the records of a chunk that `upsert` would write, with the revision each would get, and whether it
 * would be about something else than the stored one.
 */
export const selectDryRunSql = (table: RecordTable, fragments: SqlFragments) => `
      ${withDelivery('any')}
      select ${IDX} as idx, coalesce(t.revision, 0) + 1 as revision, ${changesKind(table, fragments)} as changes_kind
      ${wouldWrite(table, fragments)}`

/** Whether a record is about something else than the stored one: 1 or 0. Migration 0028 has the same condition. */
const changesKind = ({ kindColumns }: RecordTable, { fromRecord }: SqlFragments) =>
  kindColumns.length === 0
    ? '0'
    : `t.account is not null and ${rowValue(kindColumns, stored)} is not ${rowValue(kindColumns, fromRecord)}`

/** Returns the FROM and WHERE clauses that find what `upsert` would write. */
function wouldWrite(table: RecordTable, fragments: SqlFragments): string {
  const { storedValue, fromRecord, keyMatches, isOlder } = fragments
  const compared = columnsBesideKey(table).filter(
    (name) => !table.ignoredInComparison.includes(name),
  )
  const next = (name: string) => table.merge(name, storedValue)
  return `
      from ${JSON_EACH}(:rows) left join ${table.table} t on ${keyMatches(fromRecord)}
      where ${MAY_BE_STORED} and not ${isOlder(fromRecord)}
        and (t.account is null or ${rowValue(compared, next)} is not ${rowValue(compared, stored)}
          ${orTextsDiffer(table.textColumn, storedValue)})`
}

const insertInto = ({
  table,
  columns,
  canHold,
  hasFirstSeen,
}: RecordTable) => `insert into ${table} as t
        (account, ${columnList(columns)}, ${canHold ? 'held, ' : ''}${hasFirstSeen ? 'first_seen_at, ' : ''}delivery, idx, revision)`

/** Returns the values of a new row that no record carries, each with a comma. */
const serviceValues = ({ canHold, hasFirstSeen }: RecordTable) =>
  `${canHold ? `${HAS_UNKNOWN_REFERENCE},` : ''} ${hasFirstSeen ? ':received_at,' : ''}`

const onConflict = ({ key }: RecordTable) =>
  `on conflict (account, ${columnList(key)}) do update set`

/** Sets the delivery and increments `revision`. */
const SET_WRITE = 'delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1'

const columnsBesideKey = ({ columns, key }: RecordTable) =>
  columns.filter((name) => !key.includes(name) && name !== 'first_day')

/** Returns the columns that an update sets, and the condition that one of them changes. */
export function contentOf(table: RecordTable) {
  const { indexedColumns, ignoredInComparison, textColumn, merge } = table
  const contentColumns = columnsBesideKey(table).filter((name) => !indexedColumns.includes(name))
  const compared = contentColumns.filter((name) => !ignoredInComparison.includes(name))
  const next = (name: string) => merge(name, excluded)
  const differs = `${rowValue(compared, next)} is not ${rowValue(compared, stored)}`
  return {
    contentColumns,
    contentDiffers: textColumn ? `(${differs} ${orTextsDiffer(textColumn, excluded)})` : differs,
  }
}
