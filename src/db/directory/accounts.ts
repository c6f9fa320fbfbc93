import type { FoundPage, Page } from '../paginate.ts'
import { paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import type { Account } from '../schema.ts'

/** The account of this id, if there is one. */
export const findAccount = (db: D1Database, id: string): Promise<Account | null> =>
  withD1Retry(() => db.prepare('select * from accounts where id = ?1').bind(id).first<Account>())

/** One page of all accounts, by id. */
export const listAccounts = (db: D1Database, page: Page): Promise<FoundPage<Account>> =>
  paginate(
    db,
    {
      columns: ['*'],
      from: `accounts where true`,
      key: ['id'],
      total: `select count(*) as total from accounts`,
      values: {},
    },
    page,
  )

/** All accounts, so many at a time. */
export async function* accountPages(db: D1Database, size: number): AsyncGenerator<Account[]> {
  let after: string[] | null = null
  do {
    const page: FoundPage<Account> = await listAccounts(db, { number: 1, size, after })
    yield page.data
    after = page.last
  } while (after !== null)
}

/** What of an account may be changed; what is left out stays as it is. */
export interface AccountChange {
  name?: string | undefined
  time_zone?: string | undefined
  unknown_customer?: 'reject' | 'hold' | undefined
  unknown_affiliate?: 'warn' | 'reject' | undefined
  disabled?: boolean | undefined
}

/** Makes a new account known; fails where its id is taken. */
export const insertAccount = (
  db: D1Database,
  account: Omit<Account, 'disabled' | 'version' | 'pushed'>,
) =>
  db
    .prepare(
      `insert into accounts (id, name, vertical, mode, time_zone, binding, unknown_customer,
         unknown_affiliate, created_at)
       values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    )
    .bind(
      account.id,
      account.name,
      account.vertical,
      account.mode,
      account.time_zone,
      account.binding,
      account.unknown_customer,
      account.unknown_affiliate,
      account.created_at,
    )

/**
 * The next version of a row: never one that was told before, even if the database has been restored
 * to an earlier time since.
 */
export const NEXT_VERSION = `max(version + 1, cast(unixepoch('subsec') * 1000 as integer))`

/** Changes an account, and so its version: its live tokens have something to learn. */
export const updateAccount = (db: D1Database, id: string, change: AccountChange) =>
  db
    .prepare(
      `update accounts set version = ${NEXT_VERSION}, name = coalesce(?2, name),
         time_zone = coalesce(?3, time_zone), unknown_customer = coalesce(?4, unknown_customer),
         unknown_affiliate = coalesce(?5, unknown_affiliate), disabled = coalesce(?6, disabled)
       where id = ?1`,
    )
    .bind(
      id,
      change.name ?? null,
      change.time_zone ?? null,
      change.unknown_customer ?? null,
      change.unknown_affiliate ?? null,
      change.disabled === undefined ? null : Number(change.disabled),
    )

/** Notes that the live tokens of an account know its version, or a newer one. */
export const markPropagated = (db: D1Database, id: string, version: number) =>
  withD1Retry(() =>
    db
      .prepare('update accounts set pushed = max(pushed, ?2) where id = ?1')
      .bind(id, version)
      .run(),
  )

/** Accounts whose live tokens have something to learn, some of them. */
export async function accountsToPropagate(db: D1Database): Promise<string[]> {
  const { results } = await withD1Retry(() =>
    db
      .prepare('select id from accounts where pushed < version order by id limit 100')
      .all<{ id: string }>(),
  )
  return results.map(({ id }) => id)
}

/** All that an account has sent, in whichever table. */
const RECORD_TABLES = [
  'customers',
  'transactions',
  'activity',
  'events',
  'totals',
  'deliveries',
  'overwritten_writes',
  'arrivals',
  'idempotency_keys',
  'clicks',
]

/** Forgets all that an account has sent. */
export const deleteRecords = (db: D1Database, account: string) =>
  RECORD_TABLES.map((table) => db.prepare(`delete from ${table} where account = ?1`).bind(account))

/** The D1 bindings in which accounts are kept, the directory's own among them. */
export async function listBindings(db: D1Database): Promise<string[]> {
  const { results } = await withD1Retry(() =>
    db.prepare('select distinct binding from accounts').all<{ binding: string }>(),
  )
  return [...new Set(['DB', ...results.map(({ binding }) => binding)])]
}
