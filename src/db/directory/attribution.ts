import { decodeRow, encode } from '../column-types.ts'
import {
  type FoundPage,
  foundPage,
  LIST_LIMITS,
  type ListQuery,
  limitCount,
  type Page,
  paginate,
} from '../paginate.ts'
import { all } from '../query.ts'
import { clicks, customers } from '../schema.ts'
import { compileStatement, type Statement } from '../statement.ts'
import { encodedColumns } from '../table.ts'

type Customer = typeof customers.$inferSelect

/** How a customer was acquired; `organic` if they came without `tracking_data`. */
type CustomerVerdict = NonNullable<Customer['verdict']> | 'organic'

/** The origin of a customer, as far as their account's database has it. */
export interface CustomerAttribution
  extends Pick<Customer, 'customer_id' | 'day' | 'link' | 'affiliate_id'> {
  verdict: CustomerVerdict
}

/** Which customers are listed. */
export interface AttributionFilter {
  readonly customer_id?: string | undefined
  /** Only customers who signed up on these days. */
  readonly days?: { readonly from: string; readonly to: string } | undefined
  /** Of these, only customers without an affiliate. */
  readonly isUnattributed?: boolean
}

const COLUMNS = ['customer_id', 'day', 'verdict', 'link', 'affiliate_id'] as const

type Row = Pick<Customer, (typeof COLUMNS)[number]>

/**
 * Reads one page and counts all rows in one pass: no index tells which customers have no affiliate, so
 * each pass looks at every customer of these days.
 */
async function countAndRead(db: D1Database, query: ListQuery, page: Page): Promise<FoundPage<Row>> {
  const { columns, from, key, values } = query
  const { number, size } = page
  const statement = compileStatement(`
    select *, count(*) over () as total from (
      select ${columns.join()} from ${from} limit ${LIST_LIMITS.total + 1}
    ) order by ${key.join()} limit ${size + 1} offset ${(number - 1) * size}`)
  const rows = await all<Row & { total: number }>(db, statement, values)
  // A page beyond the last one has no row that tells how many there are.
  if (rows.length === 0 && number > 1) return paginate(db, query, page)
  return foundPage(query, page, rows, limitCount(rows[0]?.total ?? 0))
}

/**
 * Reads one page of an account's customers with their origin, in the order of their ids; those of some days in
 * the order of their days.
 */
export async function listAttributions(
  db: D1Database,
  account: string,
  page: Page,
  filter: AttributionFilter,
): Promise<FoundPage<CustomerAttribution>> {
  const query = attributionQuery(account, filter)
  const isScan = filter.isUnattributed && !page.counted && page.after === null
  const found = await (isScan ? countAndRead(db, query, page) : paginate<Row>(db, query, page))
  const encoded = encodedColumns(customers)
  const data = found.data.map((row): CustomerAttribution => {
    const decoded = decodeRow(encoded, row)
    return { ...decoded, verdict: decoded.verdict ?? 'organic' }
  })
  return { ...found, data }
}

function attributionQuery(
  account: string,
  { customer_id, days, isUnattributed = false }: AttributionFilter,
): ListQuery {
  const list = { columns: COLUMNS, from: 'customers where account = :account' }
  if (customer_id !== undefined) {
    return {
      ...list,
      from: `${list.from} and customer_id = :customer_id`,
      key: ['customer_id'],
      values: { account, customer_id: encode(customers.customer_id, customer_id) },
    }
  }
  if (days === undefined) {
    const total = `select total from totals where account = :account and resource = 'customers'`
    return { ...list, key: ['customer_id'], total, values: { account } }
  }
  const { from, to } = days
  return {
    ...list,
    from: `customers indexed by customers_day where account = :account
        and day between :from and :to${isUnattributed ? ' and affiliate_id is null and link is null' : ''}`,
    key: ['day', 'customer_id'],
    values: { account, from: encode(customers.day, from), to: encode(customers.day, to) },
  }
}

/** The limits of reports. */
export const REPORT_LIMITS = {
  /** The customers or clicks that one report reads. */
  rows: 1_000_000,
  /** The groups that one report returns. */
  groups: 50_000,
}

const COUNT_ATTRIBUTIONS = compileStatement(`
  select day, coalesce(verdict, 'organic') as verdict, link, count(*) as customers
  from (
    select day, verdict, link from customers indexed by customers_day
    where account = :account and day between :from and :to limit :rows + 1
  )
  group by 1, 2, 3 order by 1, 2, 3 limit :groups + 1`)

/**
 * Returns the number of customers by day (`from` to `to`, inclusive), verdict and link; null if these
 * days have more than a report may have.
 */
export async function countAttributions(db: D1Database, account: string, from: string, to: string) {
  type Row = Pick<Customer, 'day' | 'link'> & { verdict: CustomerVerdict; customers: number }
  const rows = await readReport<Row>(db, COUNT_ATTRIBUTIONS, account, { from, to })
  return isTooMuch(rows, ({ customers }) => customers) ? null : rows
}

const countClicksSql = (condition: string) =>
  compileStatement(`
  select day, link_id, count(*) as clicks
  from (
    select day, link_id from clicks
    where account = :account and ${condition} order by day, link_id limit :rows + 1
  )
  group by day, link_id order by day, link_id limit :groups + 1`)

const COUNT_CLICKS = countClicksSql('day between :from and :to')

/** Reads the clicks of each day and link, not those of the other links of the account. */
const COUNT_CLICKS_OF = countClicksSql(`day in (select value from json_each(:days))
      and link_id in (select value from json_each(:links))`)

/** Which clicks are counted: those of some days (`from` to `to`, inclusive), and of some links if given. */
interface ClickFilter {
  readonly from: string
  readonly to: string
  readonly links?: readonly string[] | undefined
}

/** Returns the number of clicks by day and link; null if there are more than a report may have. */
export async function countClicks(
  db: D1Database,
  account: string,
  { from, to, links }: ClickFilter,
) {
  type Row = Pick<typeof clicks.$inferSelect, 'day' | 'link_id'> & { clicks: number }
  const statement = links ? COUNT_CLICKS_OF : COUNT_CLICKS
  const rows = await readReport<Row>(db, statement, account, { from, to, links })
  return isTooMuch(rows, ({ clicks }) => clicks) ? null : rows
}

async function readReport<Row extends { day: string }>(
  db: D1Database,
  statement: Statement,
  account: string,
  { from, to, links }: ClickFilter,
): Promise<Row[]> {
  const [first, last] = [Number(encode(clicks.day, from)), Number(encode(clicks.day, to))]
  const days = () => Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const lists = links ? { days: JSON.stringify(days()), links: JSON.stringify(links) } : {}
  const values = { account, from: first, to: last, ...lists, ...REPORT_LIMITS }
  const rows = await all<Row>(db, statement, values)
  return rows.map((row) => decodeRow({ day: clicks.day }, row))
}

const isTooMuch = <Row>(rows: readonly Row[], countOf: (row: Row) => number) =>
  rows.length > REPORT_LIMITS.groups ||
  rows.reduce((sum, row) => sum + countOf(row), 0) > REPORT_LIMITS.rows

const CONFIGURED_AMONG = compileStatement(`
  select affiliate_id from affiliates
  where account = :account and affiliate_id in (select value from json_each(:ids))`)

/** Returns those of some affiliate ids that an account has configured. */
export async function configuredAffiliates(
  db: D1Database,
  account: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const values = { account, ids: JSON.stringify(ids) }
  const rows = await all<{ affiliate_id: string }>(db, CONFIGURED_AMONG, values)
  return new Set(rows.map(({ affiliate_id }) => affiliate_id))
}
