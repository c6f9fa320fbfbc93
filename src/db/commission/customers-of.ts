import { decode } from '../column-types.ts'
import { affiliatesByLink, linksOf } from '../directory/links.ts'
import { withD1Retry } from '../retry.ts'
import { customers } from '../schema.ts'
import { bindStatement } from '../statement.ts'
import {
  type Affiliation,
  type AffiliationRow,
  SELECT_AFFILIATIONS,
  toAffiliations,
} from './affiliations.ts'
import {
  SELECT_CHANGED,
  SELECT_DAYS,
  UNCHANGED_OF_ALL,
  UNCHANGED_OF_SOME,
  type UnchangedRow,
} from './customers-of-sql.ts'
import type { Databases } from './histories.ts'
import { partsWithin } from './history.ts'

/** The limits of one step of the search. */
export const SEARCH_LIMITS = {
  /** The customers that it reads. */
  entries: 20_000,
  /** The customers with a changed affiliate that it reads, each with all changes. */
  changed: 500,
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

/** A customer with the affiliates by day. */
export interface FoundCustomer {
  readonly customer_id: string
  /** The day of the signup, by which lists and totals find the customer. */
  readonly day: string
  readonly affiliations: readonly Affiliation[]
}

/**
 * Where a search goes on. It first walks along the customers, and finds those whose affiliate never
 * changed; then along the changes.
 */
export interface CustomersCursor {
  readonly phase: 'unchanged' | 'changed'
  /** The last customer of the step before, as stored. */
  readonly customer_id: string
}

/** One step of a search. */
export interface FoundCustomers {
  readonly customers: readonly FoundCustomer[]
  /** The number of customers in the range of ids in which they were found; Infinity: any number. */
  readonly searched: number
  /** Where the next step begins; null if the search is done. */
  readonly next: CustomersCursor | null
}

/**
 * Finds the customers of affiliates, in steps that each read a bounded number of rows: by what the
 * customers have now, and by their history. Some steps find none. A customer whose affiliate changes
 * during the search may be found twice.
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
  { db, directory }: Databases,
  { account, affiliates }: CustomersQuery,
  { customer_id: after }: CustomersCursor,
): Promise<FoundCustomers> {
  const { entries } = SEARCH_LIMITS
  const links = affiliates ? await linksOf(directory, account, affiliates) : []
  const statement = affiliates ? UNCHANGED_OF_SOME : UNCHANGED_OF_ALL
  const values = {
    ...{ account, after, entries },
    ...(affiliates && { affiliates: JSON.stringify(affiliates), links: JSON.stringify(links) }),
  }
  const { results } = await withD1Retry(() =>
    bindStatement(db, statement, values).all<UnchangedRow>(),
  )
  const found = results.flatMap(({ customer_id, ...row }) =>
    customer_id === null ? [] : [{ customer_id, ...row }],
  )
  const named = [...new Set(found.flatMap((row) => (row.affiliate_id ? [] : (row.link ?? []))))]
  const byLink = named.length > 0 ? await affiliatesByLink(directory, account, named) : new Map()
  const { last = null, searched = 0 } = results[0] ?? {}
  return {
    searched,
    customers: found.map(({ customer_id, day, affiliate_id, link }) => ({
      customer_id: String(decode(customers.customer_id, customer_id)),
      day: String(decode(customers.day, day)),
      affiliations: [
        {
          from: null,
          affiliate_id: affiliate_id ?? byLink.get(link ?? '') ?? null,
          link,
          delivery_id: null,
        },
      ],
    })),
    next: last ? { phase: 'unchanged', customer_id: last } : { phase: 'changed', customer_id: '' },
  }
}

async function findChanged(
  { db, directory }: Databases,
  { account, affiliates, from, to }: CustomersQuery,
  { customer_id: after }: CustomersCursor,
): Promise<FoundCustomers> {
  const { changed } = SEARCH_LIMITS
  const { results } = await withD1Retry(() =>
    bindStatement(db, SELECT_CHANGED, { account, after, changed }).all<{ customer_id: string }>(),
  )
  const ids = JSON.stringify(results.map(({ customer_id }) => customer_id))
  const [rows, days] = await withD1Retry(() =>
    db.batch<unknown>(
      [SELECT_AFFILIATIONS, SELECT_DAYS].map((statement) =>
        bindStatement(db, statement, { account, ids }),
      ),
    ),
  )
  const histories = await toAffiliations(
    directory,
    account,
    (rows?.results ?? []) as AffiliationRow[],
  )
  const dayOf = new Map(
    ((days?.results ?? []) as { customer_id: string; day: number }[]).map(
      ({ customer_id, day }) => [customer_id, day] as const,
    ),
  )
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
        day: String(decode(customers.day, dayOf.get(id))),
        affiliations,
      })),
    next: end ? { phase: 'changed', customer_id: end.customer_id } : null,
  }
}
