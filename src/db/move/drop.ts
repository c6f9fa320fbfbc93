import { ABORT } from '../commission/books/audit-guard.ts'
import { first, only } from '../query.ts'
import { isAssertionFailure, withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { endCopying } from './follow.ts'
import { COPY_LIMITS, CopyRefused } from './place.ts'
import { describeTables, type MovedTable, quoted } from './tables.ts'
import { takeOver, withoutTriggers } from './write.ts'

const READ_ROLE = compileStatement(`
  select exists (select 1 from move_copies where account = :account) as is_copy,
    exists (select 1 from move_sources where account = :account and closed_at is not null) as is_closed`)

/** Fails unless the writes of the account are refused, or the database has a copy of it. */
const REQUIRE_ROLE = compileStatement(`
  select iif(exists (select 1 from move_copies where account = :account)
    or exists (select 1 from move_sources where account = :account and closed_at is not null), 1, ${ABORT})`)

/** Lets the statements until the next one delete what other writes may not. */
const OPEN_ROWS = compileStatement(
  'update move_sources set account = account || char(10) where account = :account',
)
const CLOSE_ROWS = compileStatement(
  'update move_sources set account = :account where account = :account || char(10)',
)

/**
 * Deletes the next rows of an account whose writes are refused in this database, or of which it has a copy that
 * has not ended. Returns whether all are deleted. Entries of the audit log stay in the directory.
 *
 * @throws CopyRefused if the account may live in this database.
 */
export async function dropStep(database: D1Database, account: string): Promise<boolean> {
  const [{ isDirectory, tables }, role] = await Promise.all([
    describeTables(database),
    first<{ is_copy: 0 | 1; is_closed: 0 | 1 }>(database, READ_ROLE, { account }),
  ])
  if (!role?.is_copy && !role?.is_closed) throw new CopyRefused('not_a_copy')
  // A step that copies writes nothing after that.
  if (role.is_copy) await takeOver(database, account)
  const filled = await findFilled(
    database,
    account,
    tables.filter(({ name }) => !(isDirectory && name === 'audit_log')),
  )
  let queries = 6
  for (const table of filled) {
    for (let deleted = COPY_LIMITS.deleted; deleted === COPY_LIMITS.deleted; ) {
      const statements = dropRows(database, table, account)
      queries += statements.length
      if (queries > COPY_LIMITS.queries) return false
      const results = await withD1Retry(() => database.batch(statements)).catch((error) => {
        throw isAssertionFailure(error) ? new CopyRefused('not_a_copy') : error
      })
      deleted = results[deletionIn(table)]?.meta.changes ?? 0
    }
  }
  await endCopying(database, account)
  return true
}

/** Returns the names of the tables with rows of an account, without the audit log. */
export async function filledTables(database: D1Database, account: string): Promise<string[]> {
  const { tables } = await describeTables(database)
  const found = await findFilled(
    database,
    account,
    tables.filter(({ name }) => name !== 'audit_log'),
  )
  return found.map(({ name }) => name)
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
const deletionIn = ({ triggers }: MovedTable) => 2 + (triggers.length > 0 ? 1 + triggers.length : 0)

function dropRows(db: D1Database, table: MovedTable, account: string): D1PreparedStatement[] {
  const key = ['account', ...table.key].map(quoted).join()
  const deletion = compileStatement(`
    delete from ${quoted(table.name)} where (${key}) in (
      select ${key} from ${quoted(table.name)} where account = :account limit ${COPY_LIMITS.deleted})`)
  return [
    bindStatement(db, REQUIRE_ROLE, { account }),
    bindStatement(db, OPEN_ROWS, { account }),
    ...withoutTriggers(db, table, [bindStatement(db, deletion, { account })]),
    bindStatement(db, CLOSE_ROWS, { account }),
  ]
}
