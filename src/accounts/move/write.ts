import { byteLength, toJsonChunks } from '../../platform/db/json-chunks.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { REQUIRE_COPY } from './doors.ts'
import type { StoredRow } from './pages.ts'
import type { Mover } from './place.ts'
import { type MovedTable, quoted } from './tables.ts'

/** The largest value that a statement takes, in bytes; see `toJsonChunks`. */
const MAX_BYTES = 1_900_000

// A migration may have replaced them since they were read.
const HAS_TRIGGERS = compileStatement(`
  select iif(:triggers = (select json_group_array(sql) from (
    select sql from sqlite_schema where type = 'trigger' and tbl_name = :table order by rowid)), 1, ${ABORT})`)

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

/**
 * Writes rows of a table into the copy of a move; rows that it has are replaced.
 *
 * @throws Error if the copy has ended.
 */
export async function writeCopy(
  target: D1Database,
  table: MovedTable,
  mover: Mover,
  rows: readonly StoredRow[],
): Promise<void> {
  const batch = [
    bindStatement(target, REQUIRE_COPY, { ...mover }),
    ...withoutTriggers(target, table, insertStatements(target, table, rows)),
  ]
  await withD1Retry(() => target.batch(batch))
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
