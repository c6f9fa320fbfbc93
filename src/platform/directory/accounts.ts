import { type FoundPage, listRows, type Page } from '../db/paginate.ts'
import { all, first, only, setTerms } from '../db/query.ts'
import type { Account } from '../db/schema.ts'
import { bindStatement, compileStatement, writeBatch } from '../db/statement.ts'
import { columnNames } from '../db/table.ts'
import { accounts } from '../db/tables.ts'
import { requiredChange } from './audit.ts'

const FIND_ACCOUNT = compileStatement(
  `select ${columnNames(accounts).join()} from accounts where id = :id`,
)

/** Returns the account with this id; null if there is none. */
export const findAccount = (db: D1Database, id: string): Promise<Account | null> =>
  first<Account>(db, FIND_ACCOUNT, { id })

/** Returns the pages to which links that affiliates of an account make may lead. */
export const landingPagesOf = ({ landing_pages }: Pick<Account, 'landing_pages'>): string[] =>
  JSON.parse(landing_pages)

/** The terms that applicants accept: a page, or their text. */
type Terms = { readonly version: string } & ({ readonly url: string } | { readonly text: string })

/** The setting `sign_up` of an account. */
export interface SignUp {
  readonly open: boolean
  readonly plan: string | null
  readonly questions: readonly string[]
  readonly terms?: Terms
}

/** The setting of an account that has set nothing. */
export const NO_SIGN_UP: SignUp = { open: false, plan: null, questions: [] }

/** Returns the setting `sign_up` of an account. */
export const signUpOf = ({ sign_up }: Pick<Account, 'sign_up'>): SignUp => ({
  ...NO_SIGN_UP,
  ...JSON.parse(sign_up),
})

const PLACES_AMONG = compileStatement(`
  select id, binding, disabled from accounts where id in (select value from json_each(:ids))`)

/** Where the records of an account are now. */
export type Place = Pick<Account, 'id' | 'binding' | 'disabled'>

/** Returns where the records of those of some accounts are that exist. */
export async function placesOf(
  db: D1Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Place>> {
  const rows = await all<Place>(db, PLACES_AMONG, { ids: JSON.stringify([...new Set(ids)]) })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Reads one page of all accounts, in the order of their ids. */
export const listAccounts = (db: D1Database, page: Page): Promise<FoundPage<Account>> =>
  listRows(db, { table: accounts, key: 'id', account: null }, page)

const FIND_ACCOUNTS = compileStatement(`
  select ${columnNames(accounts).join()} from accounts
  where id in (select value from json_each(:ids)) order by id`)

/** Returns those of some accounts that exist, in the order of their ids. */
export const findAccounts = (db: D1Database, ids: readonly string[]): Promise<Account[]> =>
  all<Account>(db, FIND_ACCOUNTS, { ids: JSON.stringify(ids) })

const LIST_PLACES = compileStatement(`
  select id, binding from accounts where id > :after order by id limit :limit`)

/** Returns the first ids of accounts after an id, in order, each with the binding of its database. */
export const listPlaces = (
  db: D1Database,
  after: string,
  limit: number,
): Promise<Pick<Account, 'id' | 'binding'>[]> => all(db, LIST_PLACES, { after, limit })

/** The settings that can be changed, besides `disabled`. */
const SETTINGS = [
  'name',
  'time_zone',
  'amount_signs',
  'unknown_customer',
  'unknown_affiliate',
  'storage_quota',
  'approvals',
  'payee_hold_hours',
  'retain_years',
  'self_billing',
  'invoicing',
  'exports',
  'affiliate_view',
  'landing_pages',
  'journal_accounts',
  'sign_up',
  'mail_name',
  'reply_to',
] as const

type Settings = Pick<Account, (typeof SETTINGS)[number]>

/** Changed settings of an account; a setting that is absent keeps its value. */
export type AccountChange = { [Name in keyof Settings]?: Settings[Name] | undefined } & {
  disabled?: boolean | undefined
}

/** What a new account must have. */
type Required = 'id' | 'name' | 'vertical' | 'mode' | 'binding' | 'unknown_customer' | 'created_at'

/** A new account; a column that is absent begins with its default. */
export type NewAccount = Pick<Account, Required> & {
  [Name in Exclude<keyof Account, Required>]?: Account[Name] | undefined
}

/** Inserts an account. The statement fails if the id is taken. */
export function insertAccount(db: D1Database, account: NewAccount) {
  const names = columnNames(accounts).filter((name) => Reflect.get(account, name) !== undefined)
  const statement = compileStatement(`
    insert into accounts (${names.join()}) values (${names.map((name) => `:${name}`).join()})`)
  return bindStatement(db, statement, account)
}

/**
 * The next version of a row of `accounts` or `clients`. It is at least the time in milliseconds: a
 * database that was restored to an earlier time must not issue a version twice.
 */
export const NEXT_VERSION = `max(version + 1, cast(unixepoch('subsec') * 1000 as integer))`

/**
 * Changes an account and raises its version, so that its live tokens receive the change. The batch fails if its version
 * is another than was read.
 */
export function updateAccount(
  db: D1Database,
  { id, version }: Account,
  { disabled, ...change }: AccountChange,
) {
  const values = {
    ...change,
    disabled: disabled === undefined ? undefined : Number(disabled),
  }
  const set = [...setTerms(['disabled', ...SETTINGS], values), `version = ${NEXT_VERSION}`]
  const statement = compileStatement(
    `update accounts set ${set.join()} where id = :id and version = :version`,
  )
  return requiredChange(db, statement, { ...values, id, version })
}

const MAKE_PSEUDONYM_KEY = compileStatement(`
  update accounts set pseudonym_key = coalesce(pseudonym_key, lower(hex(randomblob(32))))
  where id = :id returning pseudonym_key`)

/** Returns the key of an account's pseudonyms, which is made when it is first needed. */
export async function pseudonymKeyOf(db: D1Database, account: Account): Promise<string> {
  const { id, pseudonym_key } = account
  if (pseudonym_key !== null) return pseudonym_key
  return (await only<{ pseudonym_key: string }>(db, MAKE_PSEUDONYM_KEY, { id })).pseudonym_key
}

const MARK_PROPAGATED = compileStatement(
  `update accounts set pushed = max(pushed, :version) where id = :id`,
)

/** Records that the live tokens of an account have received this version. */
export const markPropagated = (db: D1Database, id: string, version: number) =>
  writeBatch(db, [bindStatement(db, MARK_PROPAGATED, { id, version })])

const ACCOUNTS_TO_PROPAGATE = compileStatement(
  `select id from accounts where pushed < version order by id limit 1000`,
)

/** Returns the ids of at most 1000 accounts whose live tokens have not received the last version. */
export async function accountsToPropagate(db: D1Database): Promise<string[]> {
  const rows = await all<Pick<Account, 'id'>>(db, ACCOUNTS_TO_PROPAGATE)
  return rows.map(({ id }) => id)
}

const LIST_BINDINGS = compileStatement(`
  with recursive found(binding) as (
    select min(binding) from accounts
    union all
    select (select min(binding) from accounts where binding > f.binding)
    from found f where f.binding is not null
  )
  select binding from found where binding is not null`)

/** Returns the names of the D1 bindings that keep accounts, `DB` always among them. */
export async function listBindings(db: D1Database): Promise<string[]> {
  const rows = await all<Pick<Account, 'binding'>>(db, LIST_BINDINGS)
  return [...new Set(['DB', ...rows.map(({ binding }) => binding)])]
}
