import { decode } from '../column-types.ts'
import { affiliatesByLink } from '../directory/links.ts'
import { all } from '../query.ts'
import { isTooLong } from '../retry.ts'
import { customers } from '../schema.ts'
import { presentFields } from './customer-fields.ts'
import {
  COUNT_UNCHANGED,
  type CountRow,
  UNCHANGED_OF_ALL,
  UNCHANGED_OF_SOME,
  type UnchangedCustomer,
  type UnchangedRow,
} from './customers-of-sql.ts'
import type { FoundCustomer } from './found-customer.ts'
import type { Databases } from './histories.ts'
import { fromOf } from './history.ts'

/** The wanted customers of one step, whose affiliate never changed. */
export interface UnchangedCustomers {
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
