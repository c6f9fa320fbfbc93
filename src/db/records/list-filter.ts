import { encode } from '../column-types.ts'
import type { RecordView } from './record-view.ts'

/** Narrows a list to a customer and to days, both inclusive. */
export interface Filter {
  customer_id?: string
  from?: string
  to?: string
}

/** Returns the parameters of a list's statements. */
export function filterValues(view: RecordView, account: string, filter: Filter) {
  const { encoded, dayColumn } = view.recordTable
  return {
    account,
    resource: view.name,
    customer_id: encode(encoded.customer_id, filter.customer_id),
    first_day: encode(encoded[dayColumn], filter.from),
    last_day: encode(encoded[dayColumn], filter.to),
  }
}

/** Returns the columns that a list reads: those of a record, and those of the list's order. */
export const listColumns = ({ columns }: RecordView, key: readonly string[]): string[] => [
  ...new Set([...columns, ...key]),
]
