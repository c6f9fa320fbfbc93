import { ABORT } from '../commission/books/audit-guard.ts'
import { byteLength, toJsonChunks } from '../json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { isAssertionFailure, withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { jsonOf, type StoredRow } from './pages.ts'
import { CopyEnded } from './place.ts'
import { MOVE_TRIGGER, type MovedTable, quoted } from './tables.ts'

/** The largest value that a statement takes, in bytes; see `toJsonChunks`. */
const MAX_BYTES = 1_900_000

const TAKE_OVER = compileStatement(
  'update move_copies set writer = :writer where account = :account',
)

/**
 * Makes a step the only one that can write the copy: of two steps at once, the one that began first fails.
 * Returns its name.
 *
 * @throws CopyEnded if the database has no copy of the account.
 */
export async function takeOver(target: D1Database, account: string): Promise<string> {
  const writer = crypto.randomUUID()
  const { meta } = await withD1Retry(() =>
    bindStatement(target, TAKE_OVER, { account, writer }).run(),
  )
  if (meta.changes === 0) throw new CopyEnded('The database has no copy of the account.')
  return writer
}

const IS_WRITER = compileStatement(`
  select iif(exists (select 1 from move_copies where account = :account and writer = :writer), 1, ${ABORT})`)

// A migration may have replaced them since they were read.
const HAS_TRIGGERS = compileStatement(`
  select iif(:triggers = (select json_group_array(sql) from (
    select sql from sqlite_schema where type = 'trigger' and tbl_name = :table
      and substr(name, 1, ${MOVE_TRIGGER.length}) <> '${MOVE_TRIGGER}' order by rowid)), 1, ${ABORT})`)

/**
 * Returns the statements of a batch between which the table has no triggers: what they guard and derive is
 * copied as it is. Nobody else sees the table without them, since a batch is a transaction.
 */
export function withoutTriggers(
  db: D1Database,
  { name, triggers }: MovedTable,
  statements: readonly D1PreparedStatement[],
): D1PreparedStatement[] {
  if (triggers.length === 0) return [...statements]
  const values = { table: name, triggers: JSON.stringify(triggers.map(({ sql }) => sql)) }
  return [
    bindStatement(db, HAS_TRIGGERS, values),
    ...triggers.map((trigger) => db.prepare(`drop trigger ${quoted(trigger.name)}`)),
    ...statements,
    ...triggers.map(({ sql }) => db.prepare(sql)),
  ]
}

/** What a batch changes in the copy of a table. */
export interface CopyChanges {
  /** The keys of rows to delete, as JSON. */
  readonly gone: readonly string[]
  readonly put: readonly StoredRow[]
}

/**
 * Writes rows of a table into the copy. A row that has a unique value of another one replaces it: that one has
 * changed in the source, so it is copied again. Returns the number of statements.
 *
 * @throws CopyEnded if another step has begun to write the copy, or the copy has ended.
 */
export async function writeCopy(
  target: D1Database,
  table: MovedTable,
  { account, writer }: { account: string; writer: string },
  { gone, put }: CopyChanges,
): Promise<number> {
  const changes = [
    ...(gone.length > 0
      ? [bindStatement(target, deleteKeys(table), { account, keys: jsonOf(gone) })]
      : []),
    ...insertStatements(target, table, put),
  ]
  const batch = [
    bindStatement(target, IS_WRITER, { account, writer }),
    ...withoutTriggers(target, table, changes),
  ]
  await withD1Retry(() => target.batch(batch)).catch((error) => {
    if (!isAssertionFailure(error)) throw error
    throw new CopyEnded('Another step writes the copy, or it has ended.', { cause: error })
  })
  return batch.length
}

/** Returns the statement that deletes the rows of an account with the keys `:keys`. */
export function deleteKeys({ name, key }: MovedTable): Statement {
  const isSame =
    key.length === 0
      ? ''
      : ` and (${key.map(quoted).join()}) in
          (select ${key.map((_, i) => `value ->> ${i}`).join()} from ${JSON_EACH}(:keys))`
  return compileStatement(`delete from ${quoted(name)} where account = :account${isSame}`)
}

function insertStatements(
  db: D1Database,
  { name, columns }: MovedTable,
  put: readonly StoredRow[],
): D1PreparedStatement[] {
  const into = `insert or replace into ${quoted(name)} (${columns.map((one) => quoted(one.name)).join()})`
  const isLarge = (row: StoredRow) => {
    const text = JSON.stringify(row)
    return text.length * 3 > MAX_BYTES && byteLength(text) > MAX_BYTES
  }
  const small = put.filter((row) => !isLarge(row))
  const chunks = toJsonChunks(small).map((rows) =>
    db
      .prepare(
        `${into} select ${columns.map((_, i) => `value ->> ${i}`).join()} from ${JSON_EACH}(?1)`,
      )
      .bind(rows),
  )
  // As JSON, a text may be twice as long.
  const large = put
    .filter(isLarge)
    .map((row) =>
      db.prepare(`${into} values (${columns.map((_, i) => `?${i + 1}`).join()})`).bind(...row),
    )
  return [...chunks, ...large]
}
