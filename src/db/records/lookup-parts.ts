import { type Row, toRowChunks } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'
import { FLAG } from './sql-fragments.ts'
import type { DeliveryStatements } from './statements.ts'

/** The parameters that only the classification reads. */
export interface LookupParts {
  readonly lookup: readonly string[]
  readonly flagged: readonly string[]
  /** The same chunks, by parameter name. */
  readonly chunkValues: Readonly<Record<string, string>>
}

/** Returns the cells of rows that the classification reads, as chunks. */
export function lookupParts(
  { encoded }: RecordTable,
  { lookupColumns }: DeliveryStatements,
  { rows, flaggedRows }: { rows: readonly Row[]; flaggedRows: readonly Row[] },
): LookupParts {
  const lookup = toRowChunks(rows, lookupColumns, encoded)
  const flagged = toRowChunks(flaggedRows, [...lookupColumns, FLAG], encoded)
  return {
    lookup,
    flagged,
    chunkValues: { ...numbered('lookup', lookup), ...numbered('flagged', flagged) },
  }
}

/** Returns chunks by their parameters' names: `lookup_1`, `lookup_2` … */
const numbered = (prefix: string, chunks: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(chunks.map((chunk, i) => [`${prefix}_${i + 1}`, chunk]))
