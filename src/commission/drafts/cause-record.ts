import { decode } from '../../db/column-types.ts'
import type { ChangedRow, ChangedTable } from '../../db/commission/books/changed-records.ts'
import { COUNTED_RESOURCES } from '../../db/records/reset.ts'
import { transactions } from '../../db/schema.ts'
import { dayText } from '../engine/calendar.ts'
import type { RecordCause } from './cause.ts'

/** Returns the cause that a record is. */
export function recordCause(
  table: ChangedTable,
  row: ChangedRow,
  customer_id: string,
): RecordCause {
  const day = dayText(row.day)
  return {
    kind: 'record',
    resource: COUNTED_RESOURCES[table as keyof typeof COUNTED_RESOURCES],
    id: idOf(table, row, customer_id, day),
    customer_id,
    day,
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
