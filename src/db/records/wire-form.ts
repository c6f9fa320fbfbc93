import { decode, decodeRow } from '../column-types.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'

/** Returns a stored row as a record in the form of the wire. */
export const presentRow = ({ recordTable, present }: RecordView, row: Record<string, unknown>) =>
  present(decodeRow(recordTable.encoded, row))

/**
 * Returns a key that was logged when a record was refused, in the form of the wire. The key of a record
 * that failed validation was logged as it was sent: as text.
 */
export const presentKey = (
  { key, encoded }: RecordTable,
  logged: readonly (string | number | null)[],
): (string | null)[] =>
  key.map((name, i) => {
    const value = logged[i] ?? null
    return typeof value === 'number' ? String(decode(encoded[name], value)) : value
  })
