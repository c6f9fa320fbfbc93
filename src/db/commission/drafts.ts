import { decode } from '../column-types.ts'
import type { Connection } from '../database.ts'
import { affiliatesByLink } from '../directory/links.ts'
import { all } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { isTooLong } from '../retry.ts'
import { customers } from '../schema.ts'
import { compileStatement } from '../statement.ts'
import { isClosedFor } from './books/booked.ts'
import { isOfKind } from './books/is-draft.ts'
import {
  COUNT_UNCHANGED,
  type CountRow,
  UNCHANGED_OF_ALL,
  UNCHANGED_OF_SOME,
  type UnchangedCustomer,
  type UnchangedRow,
} from './customers-of-sql.ts'
import type { FoundCustomer } from './found-customer.ts'
import { type Databases, presentFields } from './histories.ts'
import { fromOf } from './history.ts'

/** A row of `statements` to store: a computed statement, or what a period without one carries. */
export interface StoredDraft {
  readonly period: string
  readonly affiliate_id: string
  readonly plan: string
  readonly id: string
  /** The hash of the statement; empty if there is none. */
  readonly hash: string
  readonly payable: string
  readonly closing: string
  /** The statement as JSON without its lines; null if something is carried without one. */
  readonly statement: string | null
  /** JSON arrays of lines; at least one. */
  readonly parts: readonly string[]
  /** What the period leaves, as JSON: carries and measures. Only the digest of the row uses it. */
  readonly state: string
  /** The digest of the row before it, of the same affiliate and plan; '' if there is none. */
  readonly previous: string
  /** Equal drafts have an equal digest. */
  readonly digest: string
}

/** The key of a statement. */
type StatementKey = Pick<StoredDraft, 'period' | 'affiliate_id' | 'plan'>

/** Reads the digests of the statements of some affiliates up to a period, of its kind. */
const READ_DIGESTS = compileStatement(`
  select s.period, s.affiliate_id, s.plan, s.id, s.digest, s.status
  from ${JSON_EACH}(:affiliates) a cross join statements s indexed by statements_affiliate
    on s.account = :account and s.affiliate_id = a.value and s.period <= :period
    and ${isOfKind('s.period')}`)

/**
 * Whether the period of the row `value` is open for its affiliate and plan: neither its statement nor a
 * later one is approved, and no approval of a period closed it.
 */
const IS_OPEN = `not exists (
    select 1 from statements s indexed by statements_affiliate
    where s.account = :account and s.affiliate_id = value ->> 1 and s.period >= value ->> 0
      and s.plan = value ->> 2 and s.status <> 'draft'
  ) and not ${isClosedFor({ affiliate: 'value ->> 1', plan: 'value ->> 2', period: 'value ->> 0' })}`

/** Whether the run that stores drafts is still running: it may have ended, or its account been reset. */
const IS_RUNNING = `exists (
    select 1 from statement_runs r
    where r.account = :account and r.id = :id and r.status = 'running')`

/**
 * Stores drafts of a run that goes on, unless a later computation has stored them or they are no
 * longer drafts.
 */
export const PUT_DRAFTS = compileStatement(`
  insert into statements (account, period, affiliate_id, plan, id, status, hash, payable, closing,
    statement, lines, parts, state, digest, previous, read_at, computed_at)
  select :account, value ->> 0, value ->> 1, value ->> 2, value ->> 3, 'draft', value ->> 4,
    value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11,
    value ->> 12, :read_at, :computed_at
  from ${JSON_EACH}(:rows) where ${IS_RUNNING} and ${IS_OPEN}
  on conflict (account, period, affiliate_id, plan) do update set
    hash = excluded.hash, payable = excluded.payable, closing = excluded.closing,
    statement = excluded.statement, lines = excluded.lines, parts = excluded.parts,
    state = excluded.state, digest = excluded.digest, previous = excluded.previous, read_at = excluded.read_at,
    computed_at = excluded.computed_at
  where statements.status = 'draft' and statements.read_at <= excluded.read_at
    and statements.digest <> excluded.digest`)

/** Whether the draft `value` of this computation is the one that is stored. */
const IS_STORED = `exists (
    select 1 from statements s where s.account = :account and s.id = value ->> 0
      and s.digest = value ->> 1 and s.read_at = :read_at)`

/** Deletes the parts, after the first, of statements that this computation has stored. */
export const DROP_PARTS = compileStatement(`
  delete from statement_lines
  where account = :account and id in (
    select value ->> 0 from ${JSON_EACH}(:rows) where ${IS_STORED})`)

/** Stores the parts, after the first, of statements that this computation has stored. */
export const PUT_PARTS = compileStatement(`
  insert into statement_lines (account, id, part, lines)
  select :account, value ->> 0, value ->> 2, value ->> 3 from ${JSON_EACH}(:rows) where ${IS_STORED}
  on conflict (account, id, part) do update set lines = excluded.lines`)

/** Deletes drafts that a computation no longer has. */
export const DROP_DRAFTS = compileStatement(`
  delete from statements
  where account = :account and status = 'draft' and read_at <= :read_at and ${IS_RUNNING}
    and (period, affiliate_id, plan) in (
      select value ->> 0, value ->> 1, value ->> 2 from ${JSON_EACH}(:rows))`)

/** Deletes the parts, after the first, of statements that are no longer stored. */
export const DROP_LOST_PARTS = compileStatement(`
  delete from statement_lines
  where account = :account and id in (
    select value ->> 3 from ${JSON_EACH}(:rows) where not exists (
      select 1 from statements s where s.account = :account and s.id = value ->> 3))`)

/** What is stored of a statement. */
export interface StatementDigest extends StatementKey {
  readonly id: string
  readonly digest: string
  readonly status: string
}

/** Returns the digests of the statements of some affiliates up to a period, of its kind. */
export async function readDigests(
  db: Connection,
  account: string,
  period: string,
  affiliates: readonly string[],
): Promise<StatementDigest[]> {
  const values = { account, period, affiliates: JSON.stringify(affiliates) }
  return all<StatementDigest>(db, READ_DIGESTS, values)
}

/** The wanted customers of one step, whose affiliate never changed. */
interface UnchangedCustomers {
  readonly customers: readonly FoundCustomer[]
  /** How many customers were read. */
  readonly searched: number
  /** The last of these, as stored; null if there are no more. */
  readonly last: string | null
}

/**
 * Reads the next customers after a stored id and returns the wanted ones whose affiliate never changed,
 * or `too long` if they are too long for one response of D1.
 *
 * @param links The links of the affiliates.
 * @param entries How many customers to read.
 */
export async function readUnchanged(
  { db, directory }: Databases,
  { account, affiliates }: { account: string; affiliates: readonly string[] | null },
  links: readonly string[],
  after: string,
  entries: number,
): Promise<UnchangedCustomers | 'too long'> {
  const statement = affiliates ? UNCHANGED_OF_SOME : UNCHANGED_OF_ALL
  const values = {
    account,
    after,
    entries,
    ...(affiliates && { affiliates: JSON.stringify(affiliates), links: JSON.stringify(links) }),
  }
  try {
    const results = await all<UnchangedRow>(db, statement, values)
    // An aggregate without groups has one row.
    const [row] = results as [UnchangedRow]
    const found: UnchangedCustomer[] = JSON.parse(row.found)
    const { searched, last } = row
    return {
      customers: await withAffiliates(directory, account, found.map(toFound)),
      searched,
      last,
    }
  } catch (error) {
    if (isTooLong(error) && entries > 1) return 'too long'
    throw error
  }
}

function toFound(row: UnchangedCustomer): FoundCustomer {
  const [customer_id, day, signup_date, signup_day, delivery, affiliate_id, ...others] = row
  const [isBrand, refused, hasChanged] = others
  const fields = presentFields((_, index) => row[index + UNNAMED] ?? null)
  const link = isBrand === 1 ? (fields.link ?? null) : null
  const refusal = refused === null ? null : { from: fromOf(refused) }
  return {
    customer_id: String(decode(customers.customer_id, customer_id)),
    affiliations: [{ from: null, affiliate_id, link, delivery_id: null }],
    stored:
      hasChanged === 1
        ? null
        : { signup: { customer_id, day, signup_date, signup_day, delivery }, fields, refusal },
  }
}

/** The number of values of an `UnchangedCustomer` before its fields. */
const UNNAMED = 9

/** Adds the affiliates of links, where none is stored. */
async function withAffiliates(
  directory: D1Database,
  account: string,
  found: readonly FoundCustomer[],
): Promise<readonly FoundCustomer[]> {
  const links = new Set(found.flatMap(({ affiliations }) => affiliations.map(({ link }) => link)))
  links.delete(null)
  if (links.size === 0) return found
  const byLink = await affiliatesByLink(directory, account, [...links].map(String))
  return found.map((customer) => ({
    ...customer,
    affiliations: customer.affiliations.map((own) => ({
      ...own,
      affiliate_id: own.affiliate_id ?? byLink.get(own.link ?? '') ?? null,
    })),
  }))
}

/** The limits of one step of a count. */
export const COUNT_LIMITS = {
  /** The customers that it reads. */
  entries: 20_000,
}

/** Returns the number of customers of each affiliate, counting those whose affiliate never changed. */
export async function countUnchanged(
  { db, directory }: Databases,
  account: string,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const add = (affiliate: string | undefined, customers: number) => {
    if (affiliate !== undefined) counts.set(affiliate, (counts.get(affiliate) ?? 0) + customers)
  }
  for (let after = ''; ; ) {
    const values = { account, after, ...COUNT_LIMITS }
    const results = await all<CountRow>(db, COUNT_UNCHANGED, values)
    const links = results.flatMap(({ link }) => link ?? [])
    const byLink = links.length > 0 ? await affiliatesByLink(directory, account, links) : new Map()
    for (const row of results) {
      add(row.affiliate_id ?? byLink.get(row.link ?? '') ?? undefined, row.customers)
    }
    const last = results[0]?.last ?? null
    if (last === null) return counts
    after = last
  }
}
