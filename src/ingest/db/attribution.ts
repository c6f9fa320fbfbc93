import { dayNumber, decodeRow } from '../../platform/db/column-types.ts'
import { type FoundPage, type ListQuery, type Page, paginate } from '../../platform/db/paginate.ts'
import { encodedColumns, type RowOf } from '../../platform/db/table.ts'
import { customers } from '../../platform/db/tables.ts'

type Customer = RowOf<typeof customers>

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
 * Reads one page of an account's customers with their origin, in the order of their ids; those of some days in
 * the order of their days.
 */
export async function listAttributions(
  db: D1Database,
  account: string,
  page: Page,
  filter: AttributionFilter,
): Promise<FoundPage<CustomerAttribution>> {
  const found = await paginate<Row>(db, attributionQuery(account, filter), page)
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
      values: { account, customer_id },
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
    values: { account, from: dayNumber(from), to: dayNumber(to) },
  }
}
