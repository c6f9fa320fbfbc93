import { fromFact, plainText } from '../platform/money/decimal.ts'
import { digestOf } from '../platform/parquet/bucket.ts'
import {
  decimalUnits,
  openParquet,
  type ParquetRow,
  ROWS_PER_GROUP,
} from '../platform/parquet/file.ts'
import { cellsOf } from './columns.ts'
import type { Dataset, RowsScope } from './dataset.ts'
import type { ExportFile } from './db/files.ts'
import type { ExportPage } from './db/record-rows.ts'
import { COLUMNS_VERSION, EXPORT_LIMITS } from './limits.ts'

/** What is known of a file once its rows are written. */
type Contents = Pick<ExportFile, 'records' | 'sums' | 'bytes' | 'sha256' | 'id'>

/** A file that was written, and where the next one begins; null if its month ends. */
export interface WrittenFile {
  /** Null if there was no row. */
  readonly file: (Contents & { readonly data: Uint8Array<ArrayBuffer> }) | null
  readonly next: string | null
}

/** Adds the cells of a row to the sums of the columns of decimals, by their positions. */
function addCells(sums: Map<number, bigint>, cells: ParquetRow): void {
  for (const [i, sum] of sums) {
    const cell = cells[i] ?? null
    if (typeof cell === 'string' || typeof cell === 'number') sums.set(i, sum + decimalUnits(cell))
  }
}

/** Reads pages into a file until it is full or the month ends. */
export async function writeFile(
  dataset: Dataset,
  scope: RowsScope,
  { part, after }: { readonly part: number; readonly after: string | null },
): Promise<WrittenFile> {
  const columns = dataset.columns(scope.withPersonalData)
  const { name: resource } = dataset
  const { account, month } = scope
  const notes = { account, resource, month, part: String(part), version: String(COLUMNS_VERSION) }
  const file = openParquet(columns, notes)
  const sums = new Map(columns.flatMap(({ type }, i) => (type === 'decimal' ? [[i, 0n]] : [])))
  let waiting: ParquetRow[] = []
  let records = 0
  let place = after
  for (let pages = 0; pages < dataset.partPages && records < EXPORT_LIMITS.rows; pages++) {
    const page: ExportPage<string> = await dataset.page(scope, place)
    for (const row of page.rows) {
      const cells = cellsOf(columns, row)
      addCells(sums, cells)
      waiting.push(cells)
    }
    records += page.rows.length
    while (waiting.length >= ROWS_PER_GROUP) {
      file.writeGroup(waiting.slice(0, ROWS_PER_GROUP))
      waiting = waiting.slice(ROWS_PER_GROUP)
    }
    place = page.next
    if (place === null) break
  }
  if (records === 0) return { file: null, next: place }
  file.writeGroup(waiting)
  const data = file.finish()
  const sha256 = await digestOf(data)
  const named = [...sums].map(([i, sum]) => [columns[i]?.name, plainText(fromFact(sum))])
  return {
    file: {
      records,
      sums: JSON.stringify(Object.fromEntries(named)),
      bytes: data.byteLength,
      sha256,
      id: `exp_${sha256.slice(0, 24)}`,
      data,
    },
    next: place,
  }
}
