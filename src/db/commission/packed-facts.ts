import { pairs, readBatch } from '../batch.ts'
import { isTooLong } from '../retry.ts'
import { bindStatement } from '../statement.ts'
import type { FactReading } from './fact-readings.ts'
import { unpackRow, type Way } from './fact-statements.ts'
import { FACT_LIMITS } from './fact-tables.ts'

/** A row of a table with facts, as it is stored. */
export type FactRow = Record<string, string | number | null>

/** A database, or a session of one. */
export type Connection = Pick<D1DatabaseSession, 'prepare' | 'batch'>

/** A reading of the records of some customers. */
export interface CustomersReading {
  readonly reading: FactReading
  /** The stored ids of the customers. */
  readonly ids: readonly string[]
  /** Which share of the customers between the first and the last of them they are. */
  readonly share: number
}

/** Returns how to find the records of customers. */
function wayOf({ share }: CustomersReading): Way {
  if (share >= FACT_LIMITS.fullShare) return 'range'
  return share >= FACT_LIMITS.denseShare ? 'scan' : 'search'
}

/** The row of a packed reading. */
type PackedRow = { records: string }

/** What one batch has read. */
interface PackedRows {
  /** The rows of each reading, null if it has too many. */
  readonly rows: (FactRow[] | null)[]
  /** The rows of the statements beside them. */
  readonly beside: readonly (readonly Record<string, unknown>[])[]
}

/**
 * Reads the rows of each reading in one batch; null if they are too long together.
 *
 * @param beside Statements of the same batch, which see the same state of the database.
 */
export async function readPacked(
  db: Connection,
  account: string,
  readings: readonly CustomersReading[],
  beside: readonly D1PreparedStatement[] = [],
): Promise<PackedRows | null> {
  try {
    const found = await readBatch<Record<string, unknown>[][]>(db, [
      ...beside,
      ...readings.map((one) =>
        bindStatement(
          db,
          one.reading.statements.packed[wayOf(one)],
          valuesOf(account, one.reading, one.ids, FACT_LIMITS.rows),
        ),
      ),
    ])
    const packed = found.slice(beside.length) as [PackedRow][]
    return {
      beside: found.slice(0, beside.length),
      rows: pairs(readings, packed).map(([{ reading }, [row]]) =>
        unpack(reading.statements.columns, row),
      ),
    }
  } catch (error) {
    if (isTooLong(error)) return null
    throw error
  }
}

/** Returns the rows of a packed reading; null if it has too many. */
function unpack(columns: readonly string[], packed: PackedRow): FactRow[] | null {
  const records: (FactRow[string] | FactRow[string][])[][] = JSON.parse(packed.records)
  if (records.length > FACT_LIMITS.rows) return null
  return records.map((record) => {
    const values = unpackRow(record, columns.length)
    const row: FactRow = {}
    columns.forEach((name, i) => {
      row[name] = values[i] ?? null
    })
    return row
  })
}

/** Returns the values of a reading's statement for some customers. */
export const valuesOf = (
  account: string,
  { values, days }: FactReading,
  ids: readonly string[],
  rows: number,
) => ({
  ...values,
  account,
  days: JSON.stringify(days),
  ids: JSON.stringify(ids),
  rows: rows + 1,
  // -1 is no limit. SQLite does not merge a subquery with a limit into the query around it, so it
  // computes the columns of each record once.
  records: -1,
})
