import { decode } from '../../db/column-types.ts'
import type { ChangedRow, ChangedTable } from '../../db/commission/books/changed-records.ts'
import { transactions } from '../../db/schema.ts'
import { dayText } from '../engine/calendar.ts'
import type { RecordCause } from './cause.ts'

const RESOURCES = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
  customers: 'customers',
} as const

/** Returns the cause that a record stands for. */
export function recordCause(
  table: ChangedTable,
  row: ChangedRow,
  customer_id: string,
): RecordCause {
  const day = dayText(row.day)
  return {
    kind: 'record',
    resource: RESOURCES[table as keyof typeof RESOURCES],
    id: idOf(table, row, customer_id, day),
    ...{ customer_id, day },
    delivery_id: row.delivery ?? '',
  }
}

/** Returns the id of a record as facts have it. */
function idOf(table: ChangedTable, { id }: ChangedRow, customer: string, day: string): string {
  if (table === 'customers') return customer
  if (table === 'transactions') return String(decode(transactions.transaction_id, id))
  if (table === 'events') return id
  const [instrument, currency]: string[] = JSON.parse(id)
  return `${day}|${customer}|${instrument}|${currency}`
}
