import { type Row, rowCells, toJsonChunks } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'
import { FLAG } from './sql-fragments.ts'
import type { DeliveryStatements } from './statements.ts'

/** The parameters that only the classification reads. */
export interface LookupParts {
  readonly lookup: readonly string[]
  readonly flagged: readonly string[]
  /** What the records refer to, each once. */
  readonly references: readonly string[]
  /** The same chunks, by parameter name. */
  readonly chunkValues: Readonly<Record<string, string>>
}

/** Returns what the classification reads of rows, as chunks. */
export function lookupParts(
  { encoded, reference }: RecordTable,
  { lookupColumns }: DeliveryStatements,
  { rows, flaggedRows }: { rows: readonly Row[]; flaggedRows: readonly Row[] },
): LookupParts {
  const ordinaryCells = rowCells(rows, lookupColumns, encoded)
  const flaggedCells = rowCells(flaggedRows, [...lookupColumns, FLAG], encoded)
  const lookup = toJsonChunks(ordinaryCells)
  const flagged = toJsonChunks(flaggedCells)
  const references = reference
    ? toJsonChunks(
        distinctCells(1 + lookupColumns.indexOf(reference.column), ordinaryCells, flaggedCells),
      )
    : []
  return {
    lookup,
    flagged,
    references,
    chunkValues: {
      ...numbered('lookup', lookup),
      ...numbered('flagged', flagged),
      ...numbered('references', references),
    },
  }
}

/** Returns the values of a cell, each once and without null. */
function distinctCells(cell: number, ...tables: (readonly unknown[][])[]): unknown[] {
  const values = new Set<unknown>()
  for (const rows of tables) for (const cells of rows) values.add(cells[cell])
  values.delete(null)
  return [...values]
}

/** Returns chunks by their parameters' names: `lookup_1`, `lookup_2` … */
const numbered = (prefix: string, chunks: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(chunks.map((chunk, i) => [`${prefix}_${i + 1}`, chunk]))
