import { decodeRow, encode } from '../../platform/db/column-types.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
  type Statement,
} from '../../platform/db/statement.ts'
import { pickColumns, presentRow, type RecordView, type ResourceName } from './list.ts'

/** The longest identity of an event that is stored as it was sent. */
const MAX_IDENTITY = 300

/** Returns the stored form of a record's id in a table; null if the table's records have no id of their own. */
function storedId({ recordTable }: RecordView, id: string): string | null {
  const { table, key } = recordTable
  if (key.length !== 1) return null
  if (table !== 'events') return id
  const identity = `e ${id}`
  return identity.length > MAX_IDENTITY ? null : identity
}

/** A stored record with its content. */
export interface StoredRecord {
  resource: ResourceName
  /** The delivery that wrote it last, and its position there. */
  delivery: string
  idx: number
  /** The number of times that it was written. */
  revision: number
  /** 1 if it waits for its customer. */
  held: number
  /** Its key as commissions name it: of trading activity `date|customer_id|instrument|currency`. */
  id: string
  customer_id: string
  day: string
  /** The record as its sender reads it. */
  record: Record<string, unknown>
}

/** Returns the values of the key columns that an id may stand for, as stored. */
function keysOf(view: RecordView, id: string): (readonly unknown[])[] {
  const { table, key, encoded } = view.recordTable
  if (key.length === 1) {
    const stored = storedId(view, id)
    const asStored = table === 'events' ? [[id]] : []
    return stored === null ? asStored : [[stored], ...asStored]
  }
  const values = id.split('|')
  if (values.length !== key.length || !/^\d{4}-\d\d-\d\d$/.test(values[0] ?? '')) return []
  return [key.map((name, i) => encode(encoded[name], values[i]))]
}

/** Returns the query of stored records with their content, held or not. */
function selectRecords({ recordTable, columns }: RecordView, condition: string): Statement {
  const { table, key, canHold, dayColumn } = recordTable
  const read = [...new Set([...columns, ...key, 'customer_id', dayColumn])]
  return compileStatement(`select ${read.join()}, delivery, idx, revision, ${canHold ? 'held' : '0 as held'} from ${table}
      where account = :account and ${condition}`)
}

/**
 * Reads the records of an account that are stored under an id: as it was sent, or as commissions name it.
 * There are at most two of each resource.
 */
export async function readStoredRecords(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  id: string,
): Promise<StoredRecord[]> {
  const searched = views.flatMap((view) => keysOf(view, id).map((key) => ({ view, key })))
  const results = await readBatch<Record<string, unknown>[][]>(
    session,
    searched.map(({ view, key }) => {
      const values = Object.fromEntries(key.map((value, i) => [`key_${i}`, value]))
      const condition = view.recordTable.key.map((name, i) => `${name} = :key_${i}`).join(' and ')
      return bindStatement(session, selectRecords(view, condition), { account, ...values })
    }),
  )
  return searched.flatMap(({ view }, i) =>
    required(results[i], 'result').map((row) => presentStored(view, row)),
  )
}

function presentStored(view: RecordView, row: Record<string, unknown>): StoredRecord {
  const { encoded, key, dayColumn } = view.recordTable
  const decoded = decodeRow(encoded, row)
  return {
    resource: view.name,
    id: key.map((name) => String(decoded[name])).join('|'),
    customer_id: String(decoded.customer_id),
    day: String(decoded[dayColumn]),
    delivery: String(row.delivery),
    idx: Number(row.idx),
    revision: Number(row.revision),
    held: Number(row.held),
    record: presentRow(view, pickColumns(view, row)),
  }
}
