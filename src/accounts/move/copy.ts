import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { within } from '../../platform/db/steps.ts'
import { readPage, rowKey, type TablePage } from './pages.ts'
import { COPY_LIMITS, type CopyPlace, CopyRefused, type Key, type Mover } from './place.ts'
import { commonTables, type MovedTable, quoted } from './tables.ts'
import { writeCopy } from './write.ts'

/**
 * Copies the next rows of an account, and compares each page of the copy with its source, byte for byte. Begins with
 * the place null; returns the place at which the next step goes on, or null once every table is copied. A step that
 * is repeated copies the same rows again.
 *
 * @throws CopyRefused if the copy differs.
 */
export async function copyStep(
  source: D1Database,
  target: D1Database,
  mover: Mover,
  place: CopyPlace | null,
): Promise<CopyPlace | null> {
  const tables = await commonTables(source, target)
  const mayBegin = within(COPY_LIMITS.stepMs)
  let pages = 0
  let after = place?.after ?? null
  const first = tables.findIndex(({ name }) => name === place?.table)
  for (const table of tables.slice(Math.max(first, 0))) {
    do {
      if (pages >= COPY_LIMITS.pages || !mayBegin()) {
        return { table: table.name, after }
      }
      const page = await readPage(source, table, mover.account, after)
      const last = page.found.at(-1)
      const end = page.isLast || !last ? null : rowKey(table, last)
      if (last) {
        await writeCopy(target, table, mover, page.found)
        await compare(target, table, mover.account, after, page)
        pages++
      }
      after = end
    } while (after !== null)
  }
  return null
}

async function compare(
  target: D1Database,
  table: MovedTable,
  account: string,
  after: Key | null,
  { found }: TablePage,
): Promise<void> {
  // The directory has entries of its own.
  if (table.name === 'audit_log') return
  const copy = await readPage(target, table, account, after)
  if (JSON.stringify(copy.found) !== JSON.stringify(found)) {
    throw new CopyRefused('copy_differs', table.name)
  }
}

const countRows = (tables: readonly MovedTable[]) =>
  compileStatement(
    `select ${tables
      .map(({ name }) => `(select count(*) from ${quoted(name)} where account = :account)`)
      .map((count, i) => `${count} as ${quoted(tables[i]?.name ?? '')}`)
      .join()}`,
  )

/**
 * Compares how many rows of the account each table has in both databases, once all are copied.
 *
 * @throws CopyRefused if the numbers differ.
 */
export async function compareCounts(
  source: D1Database,
  target: D1Database,
  account: string,
): Promise<void> {
  const tables = await commonTables(source, target)
  const count = countRows(tables)
  const [rows, copied] = await Promise.all(
    [source, target].map((db) => only<Record<string, number>>(db, count, { account })),
  )
  for (const { name } of tables) {
    const [of, has] = [Number(rows?.[name]), Number(copied?.[name])]
    if (has !== of && !(name === 'audit_log' && has > of))
      throw new CopyRefused('copy_differs', name)
  }
}
