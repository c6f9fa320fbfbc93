import { type Row, rowCells, toJsonChunks } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'
import { FLAG } from './sql-fragments.ts'
import type { DeliveryStatements } from './statements.ts'

/** The parameters that only the classification reads. */
export interface LookupParts {
  readonly lookup: readonly string[]
  readonly flagged: readonly string[]
  /** Chunks of what the records refer to, each reference once. */
  readonly references: readonly string[]
  /** All of these chunks, by parameter name. */
  readonly chunkValues: Readonly<Record<string, string>>
}

/** Returns what the classification reads of rows, as chunks. */
export function lookupParts(
  { encoded, reference }: RecordTable,
  { lookupColumns }: DeliveryStatements,
  { rows, flaggedRows }: { rows: readonly Row[]; flaggedRows: readonly Row[] },
): LookupParts {
  const ordinary = rowCells(rows, lookupColumns, encoded)
  const others = rowCells(flaggedRows, [...lookupColumns, FLAG], encoded)
  const chunks = {
    lookup: toJsonChunks(ordinary),
    flagged: toJsonChunks(others),
    references: reference
      ? toJsonChunks(
          distinctCells([...ordinary, ...others], 1 + lookupColumns.indexOf(reference.column)),
        )
      : [],
  }
  return { ...chunks, chunkValues: byParameter(chunks) }
}

/** Returns the values of a cell, each once and without null. */
function distinctCells(rows: readonly (readonly unknown[])[], cell: number): unknown[] {
  const values = new Set(rows.map((cells) => cells[cell]))
  values.delete(null)
  return [...values]
}

/** Returns chunks by their parameters' names: `lookup_1`, `lookup_2` … */
const byParameter = (chunks: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(
    Object.entries(chunks).flatMap(([prefix, texts]) =>
      texts.map((text, i) => [`${prefix}_${i + 1}`, text]),
    ),
  )
