import { contentOf } from '../../src/db/records/delivery-sql.ts'
import {
  keepOmitted,
  type Merge,
  replaceAll,
  replaceKeepingDay,
} from '../../src/db/records/merge.ts'
import type { RecordTable } from '../../src/db/records/record-table.ts'

/** The records that an upsert stores; see `upsertSql` and `upsertMovedSql`. */
export type UpsertedRecords = 'unmoved' | 'moved'

const MERGES: ReadonlyMap<Merge, string> = new Map([
  [replaceAll, 'The new record replaces the stored one: what it leaves out becomes null.'],
  [
    replaceKeepingDay,
    'The new record replaces the stored one: what it leaves out becomes null. A record without a day keeps the day on which it was first received.',
  ],
  [
    keepOmitted,
    'What the new record leaves out keeps its stored value. `extras` is merged name by name. `verdict` and `link` are kept or replaced together with `tracking_data`.',
  ],
])

/** Returns what an upsert does with the columns of a table, one fact in each text. */
export function describeUpsert(table: RecordTable, records: UpsertedRecords): string[] {
  const { key, columns, indexedColumns, canHold, versionColumn, merge } = table
  const { contentColumns } = contentOf(table)
  const indexed = [...indexedColumns, ...(canHold ? ['held'] : [])]
  const updated = records === 'unmoved' ? contentColumns : [...contentColumns, ...indexed]
  const isUnmoved = records === 'unmoved'
  return [
    `Key: ${['account', ...key].join(', ')}.`,
    `Updated: ${updated.join(', ')}; delivery and idx, which name the last write; revision, the number of writes.`,
    ...(isUnmoved && indexed.length > 0 ? [notUpdated(table, indexed)] : []),
    ...(columns.includes('first_day')
      ? ['Not updated: first_day, the day on which the record was first received.']
      : []),
    MERGES.get(merge) ?? '',
    ...notCompared(table),
    ...(isUnmoved && versionColumn
      ? [`Not stored: a record whose ${versionColumn} is earlier than the stored one.`]
      : []),
    ...erased(table),
  ]
}

/** Returns why an upsert of records that do not move sets no indexed column. */
const notUpdated = ({ indexedColumns }: RecordTable, indexed: readonly string[]) =>
  indexedColumns.length > 0
    ? `Not updated: ${indexed.join(', ')}. SQLite would write an entry of an index even where the value is equal. upsertMoved updates indexed columns.`
    : 'Not updated: held. Only a release changes it, since day and customer are part of the key.'

function notCompared({ ignoredInComparison, textColumn }: RecordTable): string[] {
  if (textColumn) {
    const { column, numbers, others } = textColumn
    return [
      `Of ${column}, only the texts are compared, in any order, without ${others.join(', ')} and the members of ${numbers}, which are compared as columns.`,
    ]
  }
  return ignoredInComparison.length > 0
    ? [`A record that differs from the stored one only in ${ignoredInComparison} is not stored.`]
    : []
}

function erased({ personalColumns, maskedColumn }: RecordTable): string[] {
  if (personalColumns.length === 0) return []
  const cleared = personalColumns.filter((name) => name !== 'tracking_data')
  return [
    `Stored as null if the customer was erased: ${cleared.join(', ')}.`,
    ...(personalColumns.includes('tracking_data')
      ? [
          'Stored as an empty text if the customer was erased, unless the service issued it: tracking_data.',
        ]
      : []),
    ...(maskedColumn
      ? [`Stored with its known members only if the customer was erased: ${maskedColumn}.`]
      : []),
  ]
}
