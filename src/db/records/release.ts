import { readBatch, required } from '../batch.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { HELD_LIMITS } from './held-limits.ts'
import {
  brandActivityTable,
  heldKeyOf,
  type RecordTable,
  tradingActivityTable,
  transactionTable,
} from './record-table.ts'

/** The tables with held records, by the resource that counts them in `totals`. */
const HELD_TABLES: Readonly<Record<string, RecordTable>> = {
  transactions: transactionTable,
  'trading-activity': tradingActivityTable,
  activities: brandActivityTable,
}

/** The statements of a step, which walks along the index of what is held. */
interface StepStatements {
  /** Selects the last key of the step; returns no row if the walk ends with this step. */
  readonly selectEnd: Statement
  readonly release: Statement
  readonly addReleased: Statement
}

/**
 * Returns the statements of one step over at most `:max_released` held records. A walk begins without
 * a key; each further step begins after the last key of the step before.
 */
export function releaseStep(resource: string, position: 'first' | 'next'): StepStatements {
  const recordTable = required(HELD_TABLES[resource], `table of held ${resource}`)
  const { table, key } = recordTable
  const order = heldKeyOf(recordTable)
  const after =
    position === 'next'
      ? `and (${order.join()}) > (${order.map((_, i) => `:after_${i}`).join()})`
      : ''
  const held = `from ${table} indexed by ${table}_held
        where account = :account and held = 1 ${after} order by ${order.join()}`
  return {
    selectEnd: compileStatement(`select ${order.join()} ${held} limit 1 offset :max_released - 1`),
    release: compileStatement(`
      update ${table} set held = 0
      where (account, ${key.join()}) in (
        select :account, ${key.map((name) => `w.${name}`).join()}
        from (select ${order.join()} ${held} limit :max_released) w
        where exists (select 1 from customers c
          where c.account = :account and c.customer_id = w.customer_id))`),
    addReleased: compileStatement(`
      update totals set total = total + changes(), held = held - changes(), released_at = :now
      where changes() > 0 and account = :account and resource = '${resource}'`),
  }
}

/**
 * Counts the held records of accounts again, and returns the resources whose kept count was wrong. A
 * version of the service that does not keep the count may run during a deployment.
 */
export async function recountHeld(
  db: D1Database,
  accounts: readonly string[],
): Promise<{ account: string; resource: string }[]> {
  const results = await withD1Retry(() =>
    db.batch<{ account: string; resource: string }>(
      accounts.flatMap((account) =>
        RECOUNT_HELD.map((statement) => bindStatement(db, statement, { account })),
      ),
    ),
  )
  return results.flatMap((result) => result.results)
}

const RECOUNT_HELD = Object.entries(HELD_TABLES).map(([resource, { table }]) =>
  compileStatement(`
    insert into totals (account, resource, total, held)
    select :account, '${resource}', 0, n.held
    from (select count(*) as held from ${table} indexed by ${table}_held
      where account = :account and held = 1) n
    where n.held <> coalesce((
      select held from totals where account = :account and resource = '${resource}'), 0)
    on conflict (account, resource) do update set held = excluded.held
    returning account, resource`),
)

/** A release that is not finished, and the delivery that left it so. */
interface PendingRelease {
  account: string
  resource: string
  releasing: string
}

/** The accounts and resources of which one run finishes the releases. */
const RELEASES_PER_RUN = 100

const SELECT_PENDING_RELEASES = `
  select account, resource, releasing from totals indexed by totals_releasing
  where releasing is not null order by account, resource limit ${RELEASES_PER_RUN}`

const SELECT_RELEASES_OF_ACCOUNT = compileStatement(`
  select account, resource, releasing from totals
  where account = :account and releasing is not null`)

/** Ends a release unless a later delivery has left records that this walk may have passed. */
const END_RELEASE = compileStatement(`
  update totals set releasing = null
  where account = :account and resource = :resource and releasing = :releasing`)

/**
 * Continues the releases that earlier deliveries of customers began, until `deadline` (milliseconds): for
 * one account, or for at most 100 if `account` is null. A run that ends early, or fails, loses
 * nothing: the next run goes on. Returns whether nothing is left to release: the time was enough, and no
 * delivery has left records meanwhile that this run may have passed.
 */
export async function finishReleases(
  db: D1Database,
  account: string | null,
  deadline: number,
): Promise<boolean> {
  const statement =
    account === null
      ? db.prepare(SELECT_PENDING_RELEASES)
      : bindStatement(db, SELECT_RELEASES_OF_ACCOUNT, { account })
  const { results } = await withD1Retry(() => statement.all<PendingRelease>())
  let isFinished = true
  for (const pending of results) {
    if (!(await finishRelease(db, pending, deadline))) isFinished = false
  }
  return isFinished
}

/**
 * Walks along the held records of one resource in steps, and releases those whose customer is known.
 * Returns whether nothing is left to release.
 */
async function finishRelease(
  db: D1Database,
  pending: PendingRelease,
  deadline: number,
): Promise<boolean> {
  const { account, resource } = pending
  const values = { account, max_released: HELD_LIMITS.release }
  let after: Record<string, unknown> = {}
  while (Date.now() <= deadline) {
    const { selectEnd, release, addReleased }: StepStatements = releaseStep(
      resource,
      'after_0' in after ? 'next' : 'first',
    )
    const bound: Record<string, unknown> = { ...values, ...after, now: Date.now() }
    const [[last]] = await readBatch<[Record<string, unknown>[], [], []]>(db, [
      bindStatement(db, selectEnd, bound),
      bindStatement(db, release, bound),
      bindStatement(db, addReleased, bound),
    ])
    if (!last) {
      const { meta } = await withD1Retry(() => bindStatement(db, END_RELEASE, { ...pending }).run())
      return meta.changes > 0
    }
    after = Object.fromEntries(Object.values(last).map((value, i) => [`after_${i}`, value]))
  }
  return false
}
