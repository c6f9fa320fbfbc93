import { pairs, readBatch } from '../batch.ts'
import type { Connection } from '../database.ts'
import { isTooLong } from '../retry.ts'
import { bindStatement } from '../statement.ts'
import type { FactQuery } from './fact-queries.ts'
import { unpackRow, type Way } from './fact-statements.ts'
import { FACT_LIMITS } from './fact-tables.ts'

/** A row that a fact query returns: stored values by column. */
export type FactRow = Record<string, string | number | null>

/** A fact query for some customers. */
export interface CustomerFactQuery {
  readonly query: FactQuery
  /** The stored ids of the customers. */
  readonly ids: readonly string[]
  /** The share of these customers, 0 to 1, among all whose ids lie between their first and last id. */
  readonly share: number
}

/** Returns how to find the records of customers: the larger their share, the fewer searches. */
function wayOf({ share }: CustomerFactQuery): Way {
  if (share >= FACT_LIMITS.fullShare) return 'range'
  return share >= FACT_LIMITS.denseShare ? 'scan' : 'search'
}

/** The only row that a packed statement returns. */
type PackedRow = { records: string }

/** What one batch has read. */
interface PackedRows {
  /** The rows of each query; null for a query with more than `FACT_LIMITS.rows` rows. */
  readonly rows: (FactRow[] | null)[]
  /** The rows of each statement of `beside`. */
  readonly beside: readonly (readonly Record<string, unknown>[])[]
}

/**
 * Reads the rows of each query in one batch. Returns null if the response is too long for D1.
 *
 * @param beside Other statements of the batch. They see the same state of the database.
 */
export async function readPacked(
  db: Connection,
  account: string,
  queries: readonly CustomerFactQuery[],
  beside: readonly D1PreparedStatement[] = [],
): Promise<PackedRows | null> {
  try {
    const found = await readBatch<Record<string, unknown>[][]>(db, [
      ...beside,
      ...queries.map((one) =>
        bindStatement(
          db,
          one.query.statements.packed[wayOf(one)],
          valuesOf(account, one.query, one.ids, FACT_LIMITS.rows),
        ),
      ),
    ])
    const packed = found.slice(beside.length) as [PackedRow][]
    return {
      beside: found.slice(0, beside.length),
      rows: pairs(queries, packed).map(([{ query }, [row]]) =>
        unpack(query.statements.columns, row),
      ),
    }
  } catch (error) {
    if (isTooLong(error)) return null
    throw error
  }
}

/** Returns the rows of a packed JSON array; null if there are more than `FACT_LIMITS.rows`. */
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

/**
 * Returns the values of a query's statements for some customers.
 *
 * @param rows The most rows to return. One more is read, which tells that there are more.
 */
export const valuesOf = (
  account: string,
  { values, days }: FactQuery,
  ids: readonly string[],
  rows: number,
) => ({
  ...values,
  account,
  days: JSON.stringify(days),
  ids: JSON.stringify(ids),
  rows: rows + 1,
  // -1 means no limit. SQLite does not merge a subquery with a limit into the outer query, and thus
  // computes the columns of each record once.
  records: -1,
})
