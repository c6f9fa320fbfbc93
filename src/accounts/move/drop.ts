import { only } from '../../platform/db/query.ts'
import { isAssertionFailure, withD1Retry } from '../../platform/db/retry.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { makeSteps, type Step, within } from '../../platform/db/steps.ts'
import { NOT_GONE, REQUIRE_GONE } from './doors.ts'
import { COPY_LIMITS, type Mover } from './place.ts'
import { describeTables, type MovedTable, quoted } from './tables.ts'
import { withoutTriggers } from './write.ts'

/** The batches after which a step ends: with their queries an invocation makes fewer than it may. */
const BATCHES = 12

/**
 * Deletes the next rows of an account in a database in which it does not live since this move. Returns whether none is
 * left, or the account may live there. Entries of the audit log stay in the directory.
 */
export async function dropStep(database: D1Database, mover: Mover): Promise<boolean> {
  const { account } = mover
  const { isDirectory, tables } = await describeTables(database)
  const dropped = tables.filter(({ name }) => !(isDirectory && name === 'audit_log'))
  const filled = await findFilled(database, account, dropped)
  const works = filled.map(
    (table): Step =>
      async () => {
        const rows = dropRows(database, table, mover)
        const results = await withD1Retry(() => database.batch(rows)).catch((error) => {
          if (isAssertionFailure(error, NOT_GONE)) return []
          throw error
        })
        return results[deletionIn(table)]?.meta.changes !== COPY_LIMITS.deleted
      },
  )
  return makeSteps(works, within(COPY_LIMITS.stepMs, BATCHES))
}

/** Returns those of the tables that have rows of the account. */
async function findFilled(
  db: D1Database,
  account: string,
  tables: readonly MovedTable[],
): Promise<readonly MovedTable[]> {
  // A table that the database lacks has no columns.
  const columns = tables
    .filter((table) => table.columns.length > 0)
    .map(
      ({ name }) =>
        `exists (select 1 from ${quoted(name)} where account = :account) as ${quoted(name)}`,
    )
  const found = await only<Record<string, 0 | 1>>(
    db,
    compileStatement(`select ${columns.join()}`),
    { account },
  )
  return tables.filter(({ name }) => found[name] === 1)
}

/** The place of the deletion among the statements of `dropRows`. */
const deletionIn = ({ triggers }: MovedTable) => 1 + (triggers.length > 0 ? 1 + triggers.length : 0)

function dropRows(db: D1Database, table: MovedTable, mover: Mover): D1PreparedStatement[] {
  const key = ['account', ...table.key].map(quoted).join()
  const deletion = compileStatement(`
    delete from ${quoted(table.name)} where (${key}) in (
      select ${key} from ${quoted(table.name)} where account = :account limit ${COPY_LIMITS.deleted})`)
  return [
    bindStatement(db, REQUIRE_GONE, { ...mover }),
    ...withoutTriggers(db, table, [bindStatement(db, deletion, { ...mover })]),
  ]
}
