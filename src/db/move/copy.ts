import { COUNTED_RESOURCES } from '../records/reset.ts'
import { readPage, rowKey, type StoredRow } from './pages.ts'
import { describePair, type Pair } from './pair.ts'
import { COPY_LIMITS, type CopyPlace, type Key } from './place.ts'
import type { MovedTable } from './tables.ts'
import { takeOver, writeCopy } from './write.ts'

/**
 * Copies the next pages of an account, with at most `COPY_LIMITS.queries` queries. Begins with the place
 * null; returns the place at which the next step goes on, or null once every table is copied. A step that is
 * repeated copies the same rows again.
 *
 * @throws CopyEnded if another step has begun to write the copy meanwhile, or the copy has ended.
 */
export async function copyStep(
  source: D1Database,
  target: D1Database,
  account: string,
  place: CopyPlace | null,
): Promise<CopyPlace | null> {
  const pair = await describePair(source, target, account)
  const writer = await takeOver(target, account)
  pair.left.queries--
  return eachTable(pair, place, (table, after) => copyPages(pair, table, writer, after))
}

/** The end of a part of a table. */
export interface PartEnd {
  /** The key behind which the next part begins; null at the end of the table. */
  readonly after: Key | null
  readonly rows: number
}

/**
 * Goes through the tables of an account in parts, until the step may do no more. Returns the place of the next
 * step; null at the end of the last table.
 */
export async function eachTable(
  { tables, left }: Pair,
  place: CopyPlace | null,
  doPart: (table: MovedTable, after: Key | null) => Promise<PartEnd>,
): Promise<CopyPlace | null> {
  const first = place ? tables.findIndex(({ name }) => name === place.table) : 0
  let after = place?.after ?? null
  let records = place?.records ?? 0
  for (const table of tables.slice(Math.max(first, 0))) {
    do {
      if (left.pages <= 0 || left.queries < mostQueries(table)) {
        return { table: table.name, after, records }
      }
      const end = await doPart(table, after)
      after = end.after
      if (table.name in COUNTED_RESOURCES) records += end.rows
    } while (after !== null)
  }
  return null
}

/** The most queries of one part: its pages, the triggers twice, and what checks and changes the copy. */
const mostQueries = ({ triggers }: MovedTable) =>
  2 * triggers.length + 4 * COPY_LIMITS.pagesPerBatch + 10

async function copyPages(
  { source, target, account, left }: Pair,
  table: MovedTable,
  writer: string,
  begin: Key | null,
): Promise<PartEnd> {
  let after = begin
  const put: StoredRow[] = []
  let isLast = false
  for (let pages = 0; pages < COPY_LIMITS.pagesPerBatch && !isLast; pages++) {
    const page = await readPage(source, table, account, { after })
    left.queries--
    if (page.found.length > 0) left.pages--
    put.push(...page.found)
    isLast = page.isLast
    const last = page.found.at(-1)
    if (last) after = rowKey(table, last)
  }
  if (put.length > 0) {
    left.queries -= await writeCopy(target, table, { account, writer }, { gone: [], put })
  }
  return { after: isLast ? null : after, rows: put.length }
}
