import { affiliatesByLink, linksOf } from '../../attribution/db/links.ts'
import {
  type AffiliationRow,
  type Databases,
  FIELDS,
  presentFields,
  SELECT_AFFILIATIONS,
  toAffiliations,
} from '../../ingest/db/histories.ts'
import { decode } from '../../platform/db/column-types.ts'
import { fromOf, partsWithin } from '../../platform/db/history.ts'
import { all } from '../../platform/db/query.ts'
import { isTooLong } from '../../platform/db/retry.ts'
import { customers } from '../../platform/db/schema.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { SIGNUP_COLUMNS } from './facts-sql.ts'
import type { FoundCustomer } from './found-customer.ts'

const COLUMNS = [...SIGNUP_COLUMNS.map((sql) => sql.replace(/ as \w+$/, '')), 'c.affiliate_id']

const NEXT = 'customers not indexed where account = :account and customer_id > :after'

/** The last of the next `:entries` customers after the customer `:after`; null if there are fewer. */
const STEP = `step as materialized (
    select (select customer_id from ${NEXT} order by customer_id limit 1 offset :entries - 1) as last
  )`

/**
 * The customers of a step. The blob `x''` means no upper bound: SQLite sorts every text before
 * it.
 */
const OF_STEP = `c.account = :account and c.customer_id > :after
    and c.customer_id <= ifnull(s.last, x'')`

/** The customer's affiliate never changed. */
const IS_UNCHANGED = `not exists (
    select 1 from customer_affiliations h
    where h.account = :account and h.customer_id = c.customer_id)`

/** A JSON array of `UnchangedCustomer`s. */
const FOUND = `json_group_array(json_array(
      ${COLUMNS.join(', ')}, c.first_day is not null,
      (select r.day from customer_refusals r
        where r.account = :account and r.customer_id = c.customer_id),
      exists (select 1 from customer_fields f
        where f.account = :account and f.customer_id = c.customer_id),
      ${FIELDS.map((name) => `c.${name}`).join(', ')}))
    filter (where c.customer_id is not null) as found`

/** Selects, of the next `:entries` customers, the wanted ones whose affiliate never changed. */
const selectUnchanged = (isWanted: string) =>
  compileStatement(`
  with ${STEP}
  select s.last, iif(s.last is null, (select count(*) from ${NEXT}), :entries) as searched,
    null as share, ${FOUND}
  from step s
  left join customers c not indexed on ${OF_STEP} and ${isWanted} and ${IS_UNCHANGED}`)

/** Finds customers whose affiliate never changed. */
const UNCHANGED_OF_ALL = selectUnchanged('true')

/**
 * The customer is of `:affiliates` or, for brands, of `:links`. Where an affiliate is stored it is the one that
 * is paid, whatever the link says.
 */
const IS_OF_SOME = `(c.affiliate_id in (select value from json_each(:affiliates))
      or c.affiliate_id is null and c.link in (select value from json_each(:links)))`

/** Finds customers of some affiliates whose affiliate never changed, among all customers. */
const UNCHANGED_OF_SOME = selectUnchanged(IS_OF_SOME)

/** Whether a row of `customer_owners` is of `:affiliates` or `:links`. */
const IS_OWNED = `o.account = :account and o.owner in (
      select value from json_each(:affiliates) union all select value from json_each(:links))`

/**
 * Finds the same customers among the next `:entries` whom these affiliates ever had, without a look at others.
 * `share` is the share of these customers among all; null after the first step.
 */
const UNCHANGED_OF_FEW = compileStatement(`
  with owned as materialized (
    select distinct o.customer_id from customer_owners o
    where ${IS_OWNED} and o.customer_id > :after order by o.customer_id limit :entries
  ), step as materialized (
    select count(*) as searched, iif(count(*) = :entries, max(customer_id), null) as last from owned
  )
  select s.last, s.searched,
    iif(:after = '', (select count(*) from customer_owners o where ${IS_OWNED}) * 1.0
      / (select total from totals where account = :account and resource = 'customers'), null) as share,
    ${FOUND}
  from step s left join owned w
  left join customers c not indexed on c.account = :account and c.customer_id = w.customer_id
    and ${IS_OF_SOME} and ${IS_UNCHANGED}
  group by s.last`)

/** A customer as these statements return it. */
type UnchangedCustomer = [
  customer_id: string,
  day: number,
  signup_date: number | null,
  signup_day: number,
  delivery: string,
  affiliate_id: string | null,
  is_brand: number,
  /** The first day of a refusal; null if there is none. */
  refused: number | null,
  /** Whether fields that conditions use have changed. */
  has_changed: number,
  ...fields: (string | number | null)[],
]

/** The row of these statements. */
interface UnchangedRow {
  /** The last of the next `:entries` customers; null if there are fewer. */
  last: string | null
  /** The number of these customers. */
  searched: number
  share: number | null
  /** A JSON array of `UnchangedCustomer`s. */
  found: string
}

/** Selects the next customers whose affiliate has changed. */
const SELECT_CHANGED = compileStatement(`
  select distinct customer_id from customer_affiliations
  where account = :account and customer_id > :after order by customer_id limit :changed`)

/** Selects the next customers whose affiliate has changed, of those whom a few affiliates ever had. */
const SELECT_CHANGED_OF_FEW = compileStatement(`
  select distinct o.customer_id from customer_owners o
  where ${IS_OWNED} and o.customer_id > :after and exists (
    select 1 from customer_affiliations h
    where h.account = :account and h.customer_id = o.customer_id)
  order by o.customer_id limit :changed`)

/** The limits of one step of the search. */
export const SEARCH_LIMITS = {
  /** The customers that it reads. */
  entries: 5000,
  /** The customers with a changed affiliate that it reads, each with all changes. */
  changed: 500,
  /** The affiliates and links whose customers are found without a look at others. */
  owners: 1000,
  /** The share of their customers among all, above which the next steps look at all. */
  ownedShare: 0.25,
}

/** The customers that a search is for. */
export interface CustomersQuery {
  readonly account: string
  /** Customers who had one of these affiliates on any of the days; null: all customers. */
  readonly affiliates: readonly string[] | null
  /** The first and the last day, as `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
}

/**
 * Where a search continues. Its first phase reads the customers and finds those whose affiliate never
 * changed. Its second phase reads the customers with changes.
 */
export interface CustomersCursor {
  readonly phase: 'unchanged' | 'changed'
  /** The last customer of the step before, as stored. */
  readonly customer_id: string
  /** How many customers the next step reads. */
  readonly entries?: number
  /** The links of the affiliates, once they have been read. */
  readonly links?: readonly string[]
  /** The share of customers whom the affiliates ever had among all; absent: unknown. */
  readonly share?: number | undefined
}

/** One step of a search. */
export interface FoundCustomers {
  readonly customers: readonly FoundCustomer[]
  /** How many customers have ids in the range that was searched; Infinity: unknown. */
  readonly searched: number
  /** Where the next step begins; null if the search is done. */
  readonly next: CustomersCursor | null
}

/**
 * Makes one step of a search for the customers of affiliates. A step reads a bounded number of rows, and
 * may find no customers although later steps find some. A customer whose affiliate changes during the
 * search may be found twice.
 */
export async function findCustomersOf(
  databases: Databases,
  query: CustomersQuery,
  cursor: CustomersCursor | null,
): Promise<FoundCustomers> {
  const at = cursor ?? { phase: 'unchanged', customer_id: '' }
  return at.phase === 'unchanged'
    ? findUnchanged(databases, query, at)
    : findChanged(databases, query, at)
}

async function findUnchanged(
  databases: Databases,
  query: CustomersQuery,
  { customer_id: after, entries = SEARCH_LIMITS.entries, links: known, share }: CustomersCursor,
): Promise<FoundCustomers> {
  const { account, affiliates } = query
  const links =
    known ??
    (affiliates ? [...(await linksOf(databases.directory, account, affiliates)).keys()] : [])
  const areFew = isOfFew(affiliates, links, share)
  const step = (customer_id: string, size: number, of = share): CustomersCursor => ({
    phase: 'unchanged',
    customer_id,
    entries: size,
    links,
    share: of,
  })
  const read = await readUnchanged(databases, query, links, after, entries, areFew)
  if (read === 'too long')
    return findUnchanged(databases, query, step(after, Math.ceil(entries / 2)))
  const { customers, searched, last } = read
  const ofAll = read.share ?? share
  return {
    customers,
    searched: areFew && ofAll ? searched / ofAll : searched,
    next:
      last === null
        ? { phase: 'changed', customer_id: '', links, share: ofAll }
        : step(last, entries, ofAll),
  }
}

/** Returns whether the customers of affiliates are found without a look at others: they are few. */
const isOfFew = (
  affiliates: readonly string[] | null,
  links: readonly string[],
  share: number | undefined,
): boolean =>
  affiliates !== null &&
  affiliates.length + links.length <= SEARCH_LIMITS.owners &&
  (share ?? 0) <= SEARCH_LIMITS.ownedShare

/** The wanted customers of one step, whose affiliate never changed. */
interface UnchangedCustomers {
  readonly customers: readonly FoundCustomer[]
  /** How many customers were read. */
  readonly searched: number
  /** The last of these, as stored; null if there are no more. */
  readonly last: string | null
  /** The share of customers whom the affiliates ever had among all; null: not read. */
  readonly share: number | null
}

/**
 * Reads the next customers after a stored id and returns the wanted ones whose affiliate never changed,
 * or `too long` if they are too long for one response of D1.
 *
 * @param links The links of the affiliates.
 * @param entries How many customers to read.
 * @param areFew Whether only customers are read whom the affiliates ever had.
 */
export async function readUnchanged(
  { db, directory }: Databases,
  { account, affiliates }: { account: string; affiliates: readonly string[] | null },
  links: readonly string[],
  after: string,
  entries: number,
  areFew = false,
): Promise<UnchangedCustomers | 'too long'> {
  const ofSome = areFew ? UNCHANGED_OF_FEW : UNCHANGED_OF_SOME
  const statement = affiliates ? ofSome : UNCHANGED_OF_ALL
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
    const { searched, last, share } = row
    return {
      customers: await withAffiliates(directory, account, found.map(toFound)),
      searched,
      last,
      share,
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

async function findChanged(
  { db, directory }: Databases,
  { account, affiliates, from, to }: CustomersQuery,
  { customer_id: after, links = [], share }: CustomersCursor,
): Promise<FoundCustomers> {
  const { changed } = SEARCH_LIMITS
  const areFew = isOfFew(affiliates, links, share)
  const statement = areFew ? SELECT_CHANGED_OF_FEW : SELECT_CHANGED
  const results = await all<{ customer_id: string }>(db, statement, {
    account,
    after,
    changed,
    ...(areFew && { affiliates: JSON.stringify(affiliates), links: JSON.stringify(links) }),
  })
  if (results.length === 0) {
    return { customers: [], searched: Number.POSITIVE_INFINITY, next: null }
  }
  const ids = JSON.stringify(results.map(({ customer_id }) => customer_id))
  const rows = await all<AffiliationRow>(db, SELECT_AFFILIATIONS, { account, ids })
  const histories = await toAffiliations(directory, account, rows)
  const wanted = affiliates && new Set<string | null>(affiliates)
  const end = results.length === changed ? results.at(-1) : undefined
  return {
    searched: Number.POSITIVE_INFINITY,
    customers: [...histories]
      .filter(
        ([, history]) =>
          !wanted ||
          partsWithin(history, from, to).some(({ affiliate_id }) => wanted.has(affiliate_id)),
      )
      .map(([id, affiliations]) => ({
        customer_id: String(decode(customers.customer_id, id)),
        affiliations,
        stored: null,
      })),
    next: end ? { phase: 'changed', customer_id: end.customer_id, links, share } : null,
  }
}

const COUNT_OWNED = compileStatement(`
  select owner, count(*) as customers from customer_owners where account = :account group by owner`)

/** Returns how many customers each affiliate ever had. */
export async function countCustomers(
  { db, directory }: Databases,
  account: string,
): Promise<Map<string, number>> {
  type Row = { owner: string; customers: number }
  const rows = await all<Row>(db, COUNT_OWNED, { account })
  const owners = rows.map(({ owner }) => owner)
  const byLink = await affiliatesByLink(directory, account, owners)
  const counts = new Map<string, number>()
  for (const { owner, customers } of rows) {
    const affiliate = byLink.get(owner) ?? owner
    counts.set(affiliate, (counts.get(affiliate) ?? 0) + customers)
  }
  return counts
}
