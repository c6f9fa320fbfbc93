import { and, eq } from 'drizzle-orm'
import { BEGINNING } from '../commission/history.ts'
import { type FoundPage, type Page, paginate } from '../paginate.ts'
import { build, first } from '../query.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { affiliates } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** An affiliate; `parent` is the affiliate who referred them, or null. */
export type Affiliate = Omit<typeof affiliates.$inferSelect, 'account'>

const PUT_AFFILIATES = compileStatement(`
  insert into affiliates (account, affiliate_id, parent)
  select :account, value ->> 0, iif(value ->> 2, value ->> 1, t.parent) from ${JSON_EACH}(:rows)
  left join affiliates t on t.account = :account and t.affiliate_id = value ->> 0 where true
  on conflict (account, affiliate_id) do update set parent = excluded.parent
  where parent is not excluded.parent`)

/** Upserts affiliates. An affiliate that is sent without a parent keeps the stored one. */
export const putAffiliates = (
  db: D1Database,
  account: string,
  sent: readonly { affiliate_id: string; parent?: string | null }[],
) =>
  toJsonChunks(
    sent.map(({ affiliate_id, parent }) => [affiliate_id, parent, parent !== undefined]),
  ).map((rows) => bindStatement(db, PUT_AFFILIATES, { account, rows }))

/** The maximum length of a chain of parents that is followed. */
const MAX_DEPTH = 1000

/**
 * Text that is not valid JSON. D1 has no RAISE outside triggers; `json()` of invalid text aborts the
 * batch. See `isAssertionFailure`.
 */
const NOT_JSON = 'a circle'

/** A day after all days. */
const NEVER = 3_000_000

/**
 * The days on which a row of `affiliate_parents` applies, or all days if an affiliate has none. `p` is
 * the row, `a` the affiliate.
 */
const FIRST_DAY = `coalesce(p.day, ${BEGINNING})`
const END_DAY = `coalesce((select min(n.day) from affiliate_parents n
        where n.account = :account and n.affiliate_id = p.affiliate_id and n.day > p.day), ${NEVER})`
const PARENT = 'iif(p.day is null, a.parent, p.parent)'
const PARENTS = `cross join affiliates a on a.account = :account and a.affiliate_id = `
const BY_DAY = `left join affiliate_parents p
      on p.account = :account and p.affiliate_id = a.affiliate_id`

const REJECT_CYCLES = compileStatement(`
  with recursive up(start, parent, first_day, end_day, depth) as (
    select a.affiliate_id, ${PARENT}, ${FIRST_DAY}, ${END_DAY}, 1
    from ${JSON_EACH}(:rows) ${PARENTS} value ->> 0 ${BY_DAY}
    where ${PARENT} is not null
    union all
    select up.start, ${PARENT}, max(up.first_day, ${FIRST_DAY}), min(up.end_day, ${END_DAY}),
      depth + 1
    from up ${PARENTS} up.parent ${BY_DAY}
    where up.parent <> up.start and depth < ${MAX_DEPTH} and ${PARENT} is not null
      and ${FIRST_DAY} < up.end_day and ${END_DAY} > up.first_day
  )
  select json('${NOT_JSON}') from up where parent = start limit 1`)

/**
 * Fails, and so does its batch, if one of these affiliates is its own ancestor on any day. Two valid changes at
 * the same time could otherwise make a cycle, on which payments to parents would never end.
 */
export const rejectCycles = (
  db: D1Database,
  account: string,
  sent: readonly { affiliate_id: string }[],
) =>
  toJsonChunks(sent.map(({ affiliate_id }) => [affiliate_id])).map((rows) =>
    bindStatement(db, REJECT_CYCLES, { account, rows }),
  )

/** Reads one page of an account's affiliates, in the order of their ids; only `id` if it is given. */
export const listAffiliates = (
  db: D1Database,
  account: string,
  page: Page,
  id?: string | undefined,
): Promise<FoundPage<Affiliate>> =>
  paginate<Affiliate>(
    db,
    {
      columns: ['affiliate_id', 'parent'],
      from: `affiliates where account = :account${id === undefined ? '' : ' and affiliate_id = :id'}`,
      key: ['affiliate_id'],
      values: { account, ...(id !== undefined && { id }) },
    },
    page,
  )

/** The limits of the report of unconfigured affiliates. */
export const UNCONFIGURED_LIMITS = {
  /** The customers that it reads, the latest ones. */
  customers: 1_000_000,
  /** The affiliates that it lists. */
  affiliates: 1000,
}

/** An affiliate id that customers name, and the number of these customers. */
interface UnconfiguredAffiliate {
  affiliate_id: string
  customers: number
}

const LIST_UNCONFIGURED = compileStatement(`
  with latest as (
    select affiliate_id from customers indexed by customers_day
    where account = :account order by day desc limit :customers
  )
  select affiliate_id, count(*) as customers
  from latest
  where affiliate_id is not null
  group by affiliate_id
  having not exists (
    select 1 from affiliates a where a.account = :account and a.affiliate_id = latest.affiliate_id
  )
  order by customers desc, affiliate_id limit :affiliates`)

const HAS_MORE_CUSTOMERS = compileStatement(`
  select total > :customers as more from totals
  where account = :account and resource = 'customers'`)

/**
 * Returns the affiliate ids that customers name but the account has not configured, each with its
 * number of customers, the largest first: at most 1000 ids of the last 1,000,000 customers by day.
 * `hasMore` tells whether the account has more customers.
 */
export async function listUnconfigured(
  db: D1Database,
  account: string,
): Promise<{ data: UnconfiguredAffiliate[]; hasMore: boolean }> {
  const values = { account, ...UNCONFIGURED_LIMITS }
  const [found, counted] = await withD1Retry(() =>
    db.batch<Record<string, unknown>>([
      bindStatement(db, LIST_UNCONFIGURED, values),
      bindStatement(db, HAS_MORE_CUSTOMERS, values),
    ]),
  )
  const data = (found?.results ?? []).map(({ affiliate_id, customers }) => ({
    affiliate_id: String(affiliate_id),
    customers: Number(customers),
  }))
  return { data, hasMore: counted?.results[0]?.more === 1 }
}

/** Returns whether an account has configured this affiliate. */
export async function affiliateExists(
  db: D1Database,
  account: string,
  id: string,
): Promise<boolean> {
  const found = await first(
    db,
    build
      .select({ affiliate_id: affiliates.affiliate_id })
      .from(affiliates)
      .where(and(eq(affiliates.account, account), eq(affiliates.affiliate_id, id))),
  )
  return found !== null
}
