import { sumOf } from '../commission/books/ledger.ts'
import { all } from '../query.ts'
import { COUNTED_RESOURCES } from '../records/reset.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../statement.ts'
import { eachTable } from './copy.ts'
import { countNotes } from './follow.ts'
import { keyText, readChanged, readPage, rowKey, type StoredRow } from './pages.ts'
import { describePair, type Pair } from './pair.ts'
import { COPY_LIMITS, type CopyPlace, type Difference } from './place.ts'
import { type MovedTable, quoted } from './tables.ts'
import { takeOver } from './write.ts'

/**
 * Compares the next rows of an account in both databases, byte for byte. Begins with the place null; returns
 * the differences, without rows whose change is noted and not copied yet, and the place at which the next
 * step goes on, or null once every table is compared.
 */
export async function compareStep(
  source: D1Database,
  target: D1Database,
  account: string,
  place: CopyPlace | null,
): Promise<{ differences: readonly Difference[]; next: CopyPlace | null }> {
  const pair = await describePair(source, target, account)
  const differences: Difference[] = []
  const next = await eachTable(pair, place, async (table, after) => {
    const page = await readPage(source, table, account, { after })
    const last = page.found.at(-1)
    const end = page.isLast || !last ? null : rowKey(table, last)
    const copy = await readPage(target, table, account, { after, last: end, times: 4 })
    pair.left.queries -= 2
    if (last) pair.left.pages--
    if (JSON.stringify(page.found) !== JSON.stringify(copy.found)) {
      differences.push(...(await confirm(pair, table, differing(table, page.found, copy.found))))
    }
    return { after: end, rows: page.found.length }
  })
  return { differences, next }
}

/** Returns the keys, as JSON, of the rows that only one of two lists has. */
function differing(
  table: MovedTable,
  found: readonly StoredRow[],
  copied: readonly StoredRow[],
): string[] {
  const [left, right] = [found, copied].map(
    (list) => new Set(list.map((row) => JSON.stringify(row))),
  )
  const lacking = (list: readonly StoredRow[], other: Set<string> | undefined) =>
    list.filter((row) => !other?.has(JSON.stringify(row))).map((row) => keyText(table, row))
  return [...new Set([...lacking(found, right), ...lacking(copied, left)])]
}

const READ_NOTED = compileStatement(`
  select k.value as key from ${JSON_EACH}(:keys) k where exists (
    select 1 from move_changes where account = :account and source_table = :table and key = k.value)`)

/** Returns those of the rows that differ although no change of them is noted. */
async function confirm(
  { source, target, account, left }: Pair,
  table: MovedTable,
  keys: readonly string[],
): Promise<Difference[]> {
  const found: Difference[] = []
  for (let i = 0; i < keys.length; ) {
    const some = keys.slice(i, i + COPY_LIMITS.changes)
    // Both may change until the notes are read: a change in between is noted.
    const [rows, copies] = await Promise.all(
      [source, target].map((db) => readChanged(db, table, account, some)),
    )
    const many = Math.min(rows?.length ?? 0, copies?.length ?? 0)
    const noted = await all<{ key: string }>(source, READ_NOTED, {
      ...{ account, table: table.name },
      keys: JSON.stringify(some),
    })
    left.queries -= 3
    const isNoted = new Set(noted.map(({ key }) => key))
    for (const [place, key] of some.slice(0, many).entries()) {
      const [row, copy] = [rows?.[place], copies?.[place]]
      if (JSON.stringify(row) === JSON.stringify(copy) || isNoted.has(key)) continue
      // The directory has entries of its own.
      if (table.name === 'audit_log' && row === null) continue
      found.push({ table: table.name, key })
    }
    i += many
  }
  return found
}

/**
 * Returns the SQL of the number of rows of a table, and of sums of its columns. Texts of records are left out: there
 * are too many for the pause, and each of them was compared before.
 */
function summary({ columns, name }: MovedTable): string {
  const isSummed = (type: string) => type !== 'TEXT' || !(name in COUNTED_RESOURCES)
  const sums = columns
    .filter(({ type }) => isSummed(type))
    .map(({ name: column, type }) => {
      const value = quoted(column)
      if (type === 'REAL') return `total(${value}) as ${value}`
      // The low bits of integers: the sum of a million times exceeds what an integer holds.
      const sum = type === 'INTEGER' ? `${value} & 1048575` : `length(${value})`
      return `sum(${sum}) as ${value}`
    })
  // Both databases add numbers in the order of the primary key, so that equal ones have equal sums.
  const columnsAndCount = ['count(*) as "number"', ...sums].join()
  return `select ${columnsAndCount} from ${quoted(name)} not indexed where account = :account`
}

const LEDGER_SUMS = compileStatement(`
  select kind, currency, ${sumOf('amount')} as units from ledger
  where account = :account group by kind, currency order by kind, currency`)

/** The statements of one query of their hashes. */
const HASHES = 5000

const READ_HASHES = compileStatement(`
  select id, hash, status from statements indexed by statements_id
  where account = :account and id > :after order by id limit ${HASHES}`)

/**
 * Compares, while the account's writes are refused: the rows of each table, control totals, sums of the
 * ledger, and the hashes of statements. Returns the names of what differs. No step that began before can write
 * the copy any more.
 */
export async function finalCheck(
  source: D1Database,
  target: D1Database,
  account: string,
): Promise<readonly string[]> {
  const { tables } = await describePair(source, target, account)
  await takeOver(target, account)
  const left = await countNotes(source, account)
  if (left > 0) return ['changes']
  const [of, copied] = await Promise.all(
    [source, target].map((db) => summarize(db, account, tables)),
  )
  const names = [...new Set([...(of ?? []), ...(copied ?? [])].map(([name]) => name))]
  const [one, other] = [new Map(of), new Map(copied)]
  return names.filter((name) => one.get(name) !== other.get(name))
}

/** Returns what both databases must have alike, by its name, as JSON. */
async function summarize(
  db: D1Database,
  account: string,
  tables: readonly MovedTable[],
): Promise<[name: string, summary: string][]> {
  const bind = (table: MovedTable) =>
    bindStatement(db, compileStatement(summary(table)), { account })
  // Other accounts are served between the large tables.
  const [large, small] = [true, false].map((isLarge) =>
    tables.filter(({ name }) => name !== 'audit_log' && name in COUNTED_RESOURCES === isLarge),
  )
  const [ofSmall, sums, hashes, ...ofLarge] = await Promise.all([
    readBatch<unknown[][]>(db, (small ?? []).map(bind)),
    all(db, LEDGER_SUMS, { account }),
    readHashes(db, account),
    ...(large ?? []).map((table) => all(db, compileStatement(summary(table)), { account })),
  ])
  const named = (list: readonly MovedTable[] = [], found: readonly unknown[]) =>
    list.map(({ name }, i): [string, string] => [name, JSON.stringify(found[i])])
  return [
    ...named(small, ofSmall),
    ...named(large, ofLarge),
    ['ledger sums', JSON.stringify(sums)],
    ['statement hashes', JSON.stringify(hashes)],
  ]
}

/** Reads the hash of every statement. */
async function readHashes(db: D1Database, account: string): Promise<unknown[]> {
  const hashes: { id: string }[] = []
  for (let after = ''; ; ) {
    const found = await all<{ id: string }>(db, READ_HASHES, { account, after })
    hashes.push(...found)
    after = found.at(-1)?.id ?? ''
    if (found.length < HASHES) return hashes
  }
}
