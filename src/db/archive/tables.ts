import { getTableColumns } from 'drizzle-orm'
import type { ResourceName } from '../records/list.ts'
import { activity, events, transactions } from '../schema.ts'
import { columnNames, primaryKeyOf, type Table, tableName } from '../table.ts'

/** The resources whose old records are archived. Customers stay. */
export type ArchivedResource = Exclude<ResourceName, 'customers'>

/** A column as it is archived: what SQL stores. */
export interface StoredColumn {
  readonly name: string
  readonly type: 'text' | 'integer' | 'double'
}

/** A table whose old records are archived. */
export interface ArchivedTable {
  readonly table: string
  readonly dayColumn: string
  /** The primary key behind the account. */
  readonly key: readonly string[]
  /** The column that identifies a record alone; null if its key has its day. */
  readonly id: string | null
  /** All columns but the account. */
  readonly columns: readonly StoredColumn[]
}

const TYPES: Readonly<Record<string, StoredColumn['type']>> = {
  text: 'text',
  integer: 'integer',
  real: 'double',
}

function archivedTable(table: Table, dayColumn: string, id: string | null): ArchivedTable {
  const columns = getTableColumns(table)
  return {
    table: tableName(table),
    dayColumn,
    key: primaryKeyOf(table).filter((name) => name !== 'account'),
    id,
    columns: columnNames(table)
      .filter((name) => name !== 'account')
      .map((name) => ({ name, type: TYPES[columns[name]?.getSQLType() ?? ''] ?? 'text' })),
  }
}

/** The tables whose old records are archived, by resource. */
export const ARCHIVED_TABLES: Readonly<Record<ArchivedResource, ArchivedTable>> = {
  transactions: archivedTable(transactions, 'day', 'transaction_id'),
  'trading-activity': archivedTable(activity, 'date', null),
  activities: archivedTable(events, 'day', 'id'),
}

/** The version of the columns of objects. Objects of another one are not read. */
export const OBJECT_VERSION = 1
