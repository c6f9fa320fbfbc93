import { encode } from '../column-types.ts'
import type { Row } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'

/**
 * Returns the days on which new records of a request count, each once. The totals of these days
 * change; a trigger finds those of stored records that keep or leave another day.
 */
export function daysOf({ dayColumn, encoded }: RecordTable, rows: readonly Row[]): unknown[] {
  const days = new Set<unknown>()
  for (const { values } of rows) {
    days.add(values[dayColumn] ?? values.first_day)
  }
  return [...days].map((day) => encode(encoded[dayColumn], day))
}
