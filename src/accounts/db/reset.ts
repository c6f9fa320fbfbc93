import { markSql } from '../../ingest/db/changed.ts'
import { isDoorOpen, throughDoor } from '../../platform/db/door.ts'
import { all } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { bindStatement, compileStatement, type Statement } from '../../platform/db/statement.ts'
import type { Step } from '../../platform/db/steps.ts'
import { SENT_TABLES } from './account-tables.ts'

/** The limits of a reset. */
export const RESET_LIMITS = {
  /** The rows that one statement deletes from a table. */
  rows: 1000,
  /** The time for which a request deletes records, in milliseconds. */
  resetMs: 10_000,
}

/** The resources that `totals` counts, by the table of their records. */
export const COUNTED_RESOURCES = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
  customers: 'customers',
} as const

const resources: Readonly<Record<string, string>> = COUNTED_RESOURCES

/** Another run may have ended the reset: what has been sent since must not be deleted. */
const IS_RESETTING = 'exists (select 1 from resets where account = :account)'

const firstRows = (table: string, columns: string, key: readonly string[]) =>
  `select ${columns} from ${table} where account = :account and ${IS_RESETTING}
    order by ${key.join()} limit ${RESET_LIMITS.rows}`

/** Subtracts from the totals what the next statement deletes, so that they are right after each step. */
const subtractDeleted = (table: string, key: readonly string[], resource: string) => {
  const held = table === 'customers' ? '0 as held' : 'held'
  return compileStatement(`
    update totals set total = total - n.listed, held = totals.held - n.held
    from (select count(*) filter (where held = 0) as listed, count(*) filter (where held = 1) as held
      from (${firstRows(table, held, key)})) n
    where account = :account and resource = '${resource}'`)
}

/** Marks the days of what the next statement deletes. */
const markDeleted = (table: string, key: readonly string[], resource: string) => {
  const day = `${table === 'activity' ? 'date' : 'day'} as day`
  return compileStatement(markSql(`'${resource}'`, firstRows(table, day, key)))
}

const deleteRows = (table: string, key: readonly string[]) =>
  compileStatement(`
    delete from ${table} where (${key.join()}) in (${firstRows(table, key.join(), key)})`)

const isEmpty = Object.keys(SENT_TABLES)
  .map((table) => `not exists (select 1 from ${table} where account = :account)`)
  .join(' and ')

/** Lets the other statements of a step delete what was approved, paid and booked: triggers forbid it. */
const OPEN_BOOKS = compileStatement(`
  insert into book_resets (account) select :account where ${IS_RESETTING} on conflict do nothing`)

const CLOSE_BOOKS = compileStatement('delete from book_resets where account = :account')

/**
 * The statements of one step, in order. A step deletes at most 1000 rows of each table. The last step
 * finds all tables empty, deletes the totals, and ends the reset.
 */
export const RESET_STEP: readonly Statement[] = [
  OPEN_BOOKS,
  ...Object.entries(SENT_TABLES).flatMap(([table, key]) => {
    const resource = resources[table]
    return [
      ...(resource
        ? [subtractDeleted(table, key, resource), markDeleted(table, key, resource)]
        : []),
      deleteRows(table, key),
    ]
  }),
  compileStatement(
    `delete from totals where account = :account and ${IS_RESETTING} and ${isEmpty}`,
  ),
  compileStatement(`delete from resets where account = :account and ${isEmpty}`),
  CLOSE_BOOKS,
  compileStatement(`select ${IS_RESETTING} as resetting`),
]

const BEGIN_RESET = compileStatement(`
  insert into resets (account, started_at) values (:account, :now) on conflict do nothing`)

/**
 * Returns the statement that begins to delete everything that an account has sent. Until the reset ends, the account
 * accepts no deliveries: old and new records would mix in its totals.
 */
export const beginReset = (db: D1Database, account: string): D1PreparedStatement =>
  bindStatement(db, BEGIN_RESET, { account, now: new Date().toISOString() })

/** Returns the step of the reset of an account. */
export const resetStep =
  (db: D1Database, account: string): Step =>
  async () => {
    const step = RESET_STEP.map((statement) => bindStatement(db, statement, { account }))
    const results = await withD1Retry(() => db.batch<{ resetting?: 0 | 1 }>(step))
    return results.at(-1)?.results[0]?.resetting === 0
  }

const SELECT_RESETS = compileStatement(`
  select account from resets where account > '' and ${isDoorOpen('account')} order by account limit 100`)

/** Returns the resets that have not ended, of at most 100 accounts. */
export async function pendingResets(db: D1Database): Promise<Step[]> {
  const found = await all<{ account: string }>(db, SELECT_RESETS)
  return found.map(({ account }) => resetStep(throughDoor(db, account), account))
}
