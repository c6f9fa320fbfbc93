import { and, asc, between, count, eq, sql } from 'drizzle-orm'
import { decodeRow } from '../column-types.ts'
import type { FoundPage, Page } from '../paginate.ts'
import { all, build, isOneOf, listRows } from '../query.ts'
import { affiliates, clicks, customers } from '../schema.ts'

type Customer = typeof customers.$inferSelect

/** How a customer was acquired; `organic` if they came without `tracking_data`. */
type Verdict = NonNullable<Customer['verdict']> | 'organic'

/** The origin of a customer, as far as their account's database has it. */
export interface CustomerAttribution
  extends Pick<Customer, 'customer_id' | 'day' | 'link' | 'affiliate_id'> {
  verdict: Verdict
}

/** Reads one page of an account's customers with their origin, in the order of their ids. */
export async function listAttributions(
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<CustomerAttribution>> {
  const found = await listRows(
    db,
    {
      table: customers,
      columns: ['customer_id', 'day', 'verdict', 'link', 'affiliate_id'],
      key: 'customer_id',
      account,
      total: `select total from totals where account = :account and resource = 'customers'`,
    },
    page,
  )
  const data = found.data.map(
    (row): CustomerAttribution => ({ ...row, verdict: row.verdict ?? 'organic' }),
  )
  return { ...found, data }
}

/**
 * Returns the number of customers by day (`from` to `to`, inclusive), verdict and link. Drizzle has no
 * INDEXED BY and infers no types of columns from a FROM clause in SQL, so the types are given.
 */
export const countAttributions = async (
  db: D1Database,
  account: string,
  from: string,
  to: string,
) =>
  withDays(
    await all(
      db,
      build
        .select({
          day: sql<Customer['day']>`${customers.day}`.as('day'),
          verdict: sql<Verdict>`coalesce(${customers.verdict}, 'organic')`.as('verdict'),
          link: sql<Customer['link']>`${customers.link}`.as('link'),
          customers: count().as('customers'),
        })
        .from(sql`${customers} indexed by customers_day`)
        .where(and(eq(customers.account, account), between(customers.day, from, to)))
        .groupBy(sql`1, 2, 3`)
        .orderBy(sql`1, 2, 3`),
    ),
  )

/** Returns the number of clicks by day (`from` to `to`, inclusive) and link. */
export const countClicks = async (db: D1Database, account: string, from: string, to: string) =>
  withDays(
    await all(
      db,
      build
        .select({ day: clicks.day, link_id: clicks.link_id, clicks: count().as('clicks') })
        .from(clicks)
        .where(and(eq(clicks.account, account), between(clicks.day, from, to)))
        .groupBy(clicks.day, clicks.link_id)
        .orderBy(asc(clicks.day), asc(clicks.link_id)),
    ),
  )

/** D1 returns days as they are stored: Drizzle only writes these queries. */
const withDays = <Row extends { day: string }>(rows: readonly Row[]): Row[] =>
  rows.map((row) => decodeRow({ day: clicks.day }, row))

/** Returns those of some affiliate ids that an account has configured. */
export async function configuredAffiliates(
  db: D1Database,
  account: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await all(
    db,
    build
      .select({ affiliate_id: affiliates.affiliate_id })
      .from(affiliates)
      .where(and(eq(affiliates.account, account), isOneOf(affiliates.affiliate_id, ids))),
  )
  return new Set(rows.map(({ affiliate_id }) => affiliate_id))
}
