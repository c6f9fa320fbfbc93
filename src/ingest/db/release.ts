import { isDoorOpen, throughDoor } from '../../platform/db/door.ts'
import { type FoundPage, type ListQuery, type Page, paginate } from '../../platform/db/paginate.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { columnList } from '../../platform/db/sql-fragments.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
  type Statement,
} from '../../platform/db/statement.ts'
import type { Step } from '../../platform/db/steps.ts'
import { markSql } from './changed.ts'
import { insertReleasedSql } from './late-changes.ts'
import { presentRow, type RecordView } from './list.ts'
import {
  brandActivityTable,
  heldKeyOf,
  type RecordTable,
  tradingActivityTable,
  transactionTable,
} from './record-table.ts'

/** The limits of held records. */
export const HELD_LIMITS = {
  /** The maximum number of held records of an account. Above, records of unknown customers are rejected. */
  account: 100_000,
  /** The maximum number of records that one statement releases. */
  release: 1000,
  /** The time for which held records are released after a response, in milliseconds. */
  releaseMs: 20_000,
}

/** A record that waits for its customer, and the delivery that last brought it. */
interface HeldRecord {
  resource: string
  delivery_id: string
  record: Record<string, unknown>
}

/** A held record as it is read: its columns as JSON. */
interface HeldRow {
  readonly resource: string
  readonly delivery: string
  readonly record: string
}

/** The number of held records of an account. */
export const COUNT_HELD =
  'select max(coalesce(sum(held), 0), 0) as total from totals where account = :account'

/** The most columns of the key of a table of held records. */
const KEY_COLUMNS = ['key_0', 'key_1', 'key_2', 'key_3']

/** Returns the query of the held records of an account, along the indexes of what is held. */
export function heldQuery(views: readonly RecordView[], account: string): ListQuery {
  const rows = views
    .filter(({ recordTable }) => recordTable.canHold)
    .map(({ name, columns, recordTable }) => {
      const key = heldKeyOf(recordTable)
      return `
      select '${name}' as resource, ${KEY_COLUMNS.map((as, i) => `${key[i] ?? "''"} as ${as}`).join()}, delivery,
        json_object(${columnList(columns, (column) => `'${column}', ${column}`)}) as record
      from ${recordTable.table} indexed by ${recordTable.table}_held where account = :account and held = 1`
    })
  return {
    columns: ['resource', ...KEY_COLUMNS, 'delivery', 'record'],
    from: `(${rows.join(' union all ')}) where true`,
    key: ['resource', ...KEY_COLUMNS],
    total: COUNT_HELD,
    values: { account },
    limitsBytes: true,
  }
}

/** Reads one page of the records that wait for their customer, in the order of resource, customer and day. */
export async function listHeld(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  page: Page,
): Promise<FoundPage<HeldRecord>> {
  const found = await paginate<HeldRow>(session, heldQuery(views, account), page)
  const viewOf = new Map(views.map((view) => [view.name as string, view]))
  return {
    ...found,
    data: found.data.map(({ resource, delivery, record }) => ({
      resource,
      delivery_id: delivery,
      record: presentRow(required(viewOf.get(resource), resource), JSON.parse(record)),
    })),
  }
}

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
  readonly mark: Statement
  /** Notes those of closed periods. */
  readonly note: Statement
  readonly release: Statement
  readonly addReleased: Statement
}

/**
 * Returns the statements of one step over at most `:max_released` held records. A walk begins without
 * a key; each further step begins after the last key of the step before.
 */
function releaseStep(resource: string, position: 'first' | 'next'): StepStatements {
  const recordTable = required(HELD_TABLES[resource], `table of held ${resource}`)
  const { table, key, dayColumn } = recordTable
  const order = heldKeyOf(recordTable)
  const after =
    position === 'next'
      ? `and (${order.join()}) > (${order.map((_, i) => `:after_${i}`).join()})`
      : ''
  const held = `from ${table} indexed by ${table}_held
        where account = :account and held = 1 ${after} order by ${order.join()}`
  const released = (columns: string) => `
        select ${columns} from (select * ${held} limit :max_released) w
        where exists (select 1 from customers c
          where c.account = :account and c.customer_id = w.customer_id)`
  return {
    mark: compileStatement(markSql(`'${resource}'`, released(`w.${dayColumn} as day`))),
    note: compileStatement(insertReleasedSql({ table, dayColumn, resource }, released)),
    selectEnd: compileStatement(`select ${order.join()} ${held} limit 1 offset :max_released - 1`),
    release: compileStatement(`
      update ${table} set held = 0
      where (account, ${key.join()}) in (${released(`:account, ${key.map((name) => `w.${name}`).join()}`)})`),
    addReleased: compileStatement(`
      update totals set total = total + changes(), held = held - changes()
      where changes() > 0 and account = :account and resource = '${resource}'`),
  }
}

/** A release that is not finished, and the delivery that left it so. */
interface PendingRelease {
  account: string
  resource: string
  releasing: string
}

const SELECT_PENDING_RELEASES = `
  select account, resource, releasing from totals indexed by totals_releasing
  where releasing is not null and ${isDoorOpen('account')} order by account, resource limit 100`

const SELECT_RELEASES_OF_ACCOUNT = compileStatement(`
  select account, resource, releasing from totals
  where account = :account and releasing is not null`)

/** Ends a release unless a later delivery has left records that this walk may have passed. */
const END_RELEASE = compileStatement(`
  update totals set releasing = null
  where account = :account and resource = :resource and releasing = :releasing`)

/** Returns the releases that earlier deliveries of customers began: of one account or, if it is null, of at most 100. */
export async function pendingReleases(db: D1Database, account: string | null): Promise<Step[]> {
  const statement =
    account === null
      ? db.prepare(SELECT_PENDING_RELEASES)
      : bindStatement(db, SELECT_RELEASES_OF_ACCOUNT, { account })
  const { results } = await withD1Retry(() => statement.all<PendingRelease>())
  return results.map((pending) => releaseWalk(throughDoor(db, pending.account), pending))
}

/** Returns the walk along the held records of one resource, which releases those whose customer is known. */
function releaseWalk(db: D1Database, pending: PendingRelease): Step {
  const { account, resource } = pending
  let after: Record<string, unknown> = {}
  return async () => {
    const { selectEnd, mark, note, release, addReleased }: StepStatements = releaseStep(
      resource,
      'after_0' in after ? 'next' : 'first',
    )
    const bound = {
      ...{ account, delivery: pending.releasing, max_released: HELD_LIMITS.release },
      ...{ ...after, now: Date.now() },
    }
    const [[last]] = await readBatch<[Record<string, unknown>[], [], [], [], []]>(db, [
      bindStatement(db, selectEnd, bound),
      bindStatement(db, mark, bound),
      bindStatement(db, note, bound),
      bindStatement(db, release, bound),
      bindStatement(db, addReleased, bound),
    ])
    after = Object.fromEntries(Object.values(last ?? {}).map((value, i) => [`after_${i}`, value]))
    if (last) return false
    await withD1Retry(() => bindStatement(db, END_RELEASE, { ...pending }).run())
    return true
  }
}
