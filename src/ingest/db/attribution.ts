import { decodeRow } from '../../platform/db/column-types.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
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

const COLUMNS = ['customer_id', 'day', 'verdict', 'link', 'affiliate_id'] as const

type Row = Pick<Customer, (typeof COLUMNS)[number]>

/** Reads one page of an account's customers with their origin, in the order of their ids, or of one of them. */
export async function listAttributions(
  db: D1Database,
  account: string,
  page: Page,
  customer_id: string | undefined,
): Promise<FoundPage<CustomerAttribution>> {
  const from = 'customers where account = :account'
  const list = { columns: COLUMNS, key: ['customer_id'] }
  const total = `select total from totals where account = :account and resource = 'customers'`
  const query =
    customer_id === undefined
      ? { ...list, from, total, values: { account } }
      : {
          ...list,
          from: `${from} and customer_id = :customer_id`,
          values: { account, customer_id },
        }
  const found = await paginate<Row>(db, query, page)
  const encoded = encodedColumns(customers)
  const data = found.data.map((row): CustomerAttribution => {
    const decoded = decodeRow(encoded, row)
    return { ...decoded, verdict: decoded.verdict ?? 'organic' }
  })
  return { ...found, data }
}
