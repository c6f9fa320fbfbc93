import { and, asc, eq, lt, sql } from 'drizzle-orm'
import type { FoundPage, Page } from '../paginate.ts'
import { all, build, first, isOneOf, listRows, toStatement } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { type Account, accounts } from '../schema.ts'

/** Returns the account with this id; null if there is none. */
export const findAccount = (db: D1Database, id: string): Promise<Account | null> =>
  first(db, build.select().from(accounts).where(eq(accounts.id, id)))

/** Returns those of some accounts that are not disabled. */
export async function enabledAccounts(
  db: D1Database,
  ids: readonly string[],
): Promise<Set<string>> {
  const enabled = and(isOneOf(accounts.id, ids), eq(accounts.disabled, 0))
  const rows = await all(db, build.select({ id: accounts.id }).from(accounts).where(enabled))
  return new Set(rows.map(({ id }) => id))
}

/** Reads one page of all accounts, in the order of their ids. */
export const listAccounts = (db: D1Database, page: Page): Promise<FoundPage<Account>> =>
  listRows(db, { table: accounts, key: 'id', account: null }, page)

/** Yields all accounts in the order of their ids, at most `size` at a time. */
export async function* accountPages(db: D1Database, size: number): AsyncGenerator<Account[]> {
  let after: Page['after'] = null
  do {
    const page: FoundPage<Account> = await listAccounts(db, { number: 1, size, after })
    yield page.data
    after = page.last
  } while (after !== null)
}

type Settings = Pick<
  Account,
  | 'name'
  | 'time_zone'
  | 'book_zone'
  | 'unknown_customer'
  | 'unknown_affiliate'
  | 'region'
  | 'storage_quota'
  | 'approvals'
  | 'unattributed_threshold'
>

/** Changed settings of an account; a setting that is absent keeps its value. */
export type AccountChange = { [Name in keyof Settings]?: Settings[Name] | undefined } & {
  disabled?: boolean | undefined
}

/** Inserts an account. The statement fails if the id is taken. */
export const insertAccount = (
  db: D1Database,
  account: Omit<Account, 'disabled' | 'version' | 'pushed'>,
) => toStatement(db, build.insert(accounts).values(account))

/**
 * The next version of a row of `accounts` or `clients`. It is at least the time in milliseconds: a
 * database that was restored to an earlier time must not issue a version twice.
 */
export const NEXT_VERSION = sql`max(version + 1, cast(unixepoch('subsec') * 1000 as integer))`

/** Changes an account and raises its version, so that its live tokens receive the change. */
export function updateAccount(db: D1Database, id: string, { disabled, ...change }: AccountChange) {
  const set = {
    ...change,
    version: NEXT_VERSION,
    disabled: disabled === undefined ? undefined : Number(disabled),
  }
  return toStatement(db, build.update(accounts).set(set).where(eq(accounts.id, id)))
}

/** Records that the live tokens of an account have received this version. */
export const markPropagated = (db: D1Database, id: string, version: number) =>
  withD1Retry(() =>
    toStatement(
      db,
      build
        .update(accounts)
        .set({ pushed: sql`max(${accounts.pushed}, ${version})` })
        .where(eq(accounts.id, id)),
    ).run(),
  )

/** Returns the ids of at most 100 accounts whose live tokens have not received the last version. */
export async function accountsToPropagate(db: D1Database): Promise<string[]> {
  const rows = await all(
    db,
    build
      .select({ id: accounts.id })
      .from(accounts)
      .where(lt(accounts.pushed, accounts.version))
      .orderBy(asc(accounts.id))
      .limit(100),
  )
  return rows.map(({ id }) => id)
}

/** Returns the names of the D1 bindings that keep accounts, `DB` always among them. */
export async function listBindings(db: D1Database): Promise<string[]> {
  const rows = await all(db, build.selectDistinct({ binding: accounts.binding }).from(accounts))
  return [...new Set(['DB', ...rows.map(({ binding }) => binding)])]
}

/** The number of the accounts in a database, and the sum of their quotas in bytes. */
export interface QuotaSum {
  accounts: number
  storage_quotas: number
}

/** Sums the storage quotas of the accounts whose records are in the database of a binding. */
export async function sumQuotas(db: D1Database, binding: string): Promise<QuotaSum> {
  const sum = await first(
    db,
    build
      .select({
        accounts: sql<number>`count(*)`.as('accounts'),
        storage_quotas: sql<number>`coalesce(sum(${accounts.storage_quota}), 0)`.as(
          'storage_quotas',
        ),
      })
      .from(accounts)
      .where(eq(accounts.binding, binding)),
  )
  return sum ?? { accounts: 0, storage_quotas: 0 }
}
