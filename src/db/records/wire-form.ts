import { decode, decodeRow } from '../column-types.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'

/** Returns a stored row as a record in the form of the wire. */
export const presentRow = ({ recordTable, present }: RecordView, row: Record<string, unknown>) =>
  present(decodeRow(recordTable.encoded, row))

/** The log of deliveries keeps at most this many characters of an id. */
export const MAX_LOGGED_TEXT = 40

/** Returns a text of at most 40 characters, and `…` if it is longer. */
export function shortenLogged(text: string): string {
  if (text.length <= MAX_LOGGED_TEXT) return text
  // Twice as many units of UTF-16 have at least as many characters.
  const characters = [...text.slice(0, 2 * MAX_LOGGED_TEXT + 1)]
  if (characters.length <= MAX_LOGGED_TEXT) return text
  return `${characters.slice(0, MAX_LOGGED_TEXT).join('')}…`
}

/** A value of a refused record in the log of deliveries. */
export type LoggedValue = string | number | null

/**
 * Returns a value of a refused record in the form of the wire. A day or time that failed validation was
 * logged as it was sent: as text.
 */
export function presentLogged(
  { encoded }: RecordTable,
  name: string,
  logged: LoggedValue,
): string | null {
  const column = encoded[name]
  const isAsSent = typeof logged === 'string' && column?.sqlType === 'integer'
  const value = isAsSent ? logged : decode(column, logged)
  return (value ?? null) === null ? null : String(value)
}
