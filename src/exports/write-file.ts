import { digestOf } from '../platform/parquet/bucket.ts'
import {
  decimalText,
  decimalUnits,
  openParquet,
  type ParquetRow,
  ROWS_PER_GROUP,
} from '../platform/parquet/file.ts'
import { cellsOf, type ExportColumn } from './columns.ts'
import type { Dataset, RowsScope } from './dataset.ts'
import type { ExportFile } from './db/files.ts'
import type { ExportPage } from './db/record-rows.ts'
import { COLUMNS_VERSION, EXPORT_LIMITS } from './limits.ts'

/** What is known of a file once its rows are written. */
type Contents = Pick<
  ExportFile,
  'records' | 'sums' | 'first_delivery' | 'last_delivery' | 'bytes' | 'sha256' | 'id'
>

/** A file that was written, and where the next one begins; null if its month ends. */
export interface WrittenFile {
  /** Null if there was no row. */
  readonly file: (Contents & { readonly data: Uint8Array<ArrayBuffer> }) | null
  readonly next: string | null
}

/** Adds up the columns of decimals, and the span of deliveries. */
class ControlTotals {
  readonly #columns: readonly ExportColumn[]
  readonly #sums: Map<number, bigint>
  first: string | null = null
  last: string | null = null

  constructor(columns: readonly ExportColumn[]) {
    this.#columns = columns
    this.#sums = new Map(
      [...columns.keys()].filter((i) => columns[i]?.type === 'decimal').map((i) => [i, 0n]),
    )
  }

  add(cells: ParquetRow, delivery: unknown): void {
    for (const [i, sum] of this.#sums) {
      const cell = cells[i] ?? null
      if (typeof cell === 'string' || typeof cell === 'number') {
        this.#sums.set(i, sum + decimalUnits(cell))
      }
    }
    if (typeof delivery !== 'string') return
    if (this.first === null || delivery < this.first) this.first = delivery
    if (this.last === null || delivery > this.last) this.last = delivery
  }

  sums(): string {
    const entries = [...this.#sums].map(([i, sum]) => [this.#columns[i]?.name, decimalText(sum)])
    return JSON.stringify(Object.fromEntries(entries))
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
  const totals = new ControlTotals(columns)
  let waiting: ParquetRow[] = []
  let records = 0
  let place = after
  for (let pages = 0; pages < dataset.partPages && records < EXPORT_LIMITS.rows; pages++) {
    const page: ExportPage<string> = await dataset.page(scope, place)
    for (const row of page.rows) {
      const cells = cellsOf(columns, row)
      totals.add(cells, row.delivery)
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
  return {
    file: {
      records,
      sums: totals.sums(),
      first_delivery: totals.first,
      last_delivery: totals.last,
      bytes: data.byteLength,
      sha256,
      id: `exp_${sha256.slice(0, 24)}`,
      data,
    },
    next: place,
  }
}
