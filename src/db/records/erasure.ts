import { and, eq } from 'drizzle-orm'
import { encode } from '../column-types.ts'
import type { FoundPage, Page } from '../paginate.ts'
import { build, first, listRows } from '../query.ts'
import { customers, erasures } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { brandCustomerTable, partnerCustomerTable } from './record-table.ts'
import { columnList, JSON_EACH, rowValue } from './sql-fragments.ts'

/** A customer whose personal data was erased, and the time. */
export type Erasure = Omit<typeof erasures.$inferSelect, 'account'>

const INSERT_ERASURES = compileStatement(`
  insert into erasures (account, customer_id, erased_at)
  select :account, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows)
  where true on conflict do nothing`)

/** The personal columns of the customers of partners and brands, each once. */
const PERSONAL_COLUMNS = [
  ...new Set([...partnerCustomerTable.personalColumns, ...brandCustomerTable.personalColumns]),
]

const CLEAR_PERSONAL_COLUMNS = compileStatement(`
  update customers set ${columnList(PERSONAL_COLUMNS, (name) => `${name} = null`)}
  where account = :account and customer_id in (select value ->> 0 from ${JSON_EACH}(:rows))
    and ${rowValue(PERSONAL_COLUMNS, (name) => name)}
      is not ${rowValue(PERSONAL_COLUMNS, () => 'null')}`)

/**
 * Erases the personal data of customers, stored or not: clears what is stored, and records the
 * erasure, so that data which arrives later is not kept. A repeated erasure changes nothing.
 */
export function erasePersonalData(
  db: D1Database,
  account: string,
  erased: readonly Erasure[],
): D1PreparedStatement[] {
  const rows = JSON.stringify(
    erased.map(({ customer_id, erased_at }) => [
      encode(erasures.customer_id, customer_id),
      erased_at,
    ]),
  )
  return [INSERT_ERASURES, CLEAR_PERSONAL_COLUMNS].map((statement) =>
    bindStatement(db, statement, { account, rows }),
  )
}

/** Returns whether this customer of an account is stored. */
export async function customerExists(
  db: D1Database,
  account: string,
  id: string,
): Promise<boolean> {
  const found = await first(
    db,
    build
      .select({ customer_id: customers.customer_id })
      .from(customers)
      .where(and(eq(customers.account, account), eq(customers.customer_id, id))),
  )
  return found !== null
}

/** Reads one page of an account's erasures, in the order of the customer ids. */
export const listErasures = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<Erasure>> =>
  listRows(
    db,
    { table: erasures, columns: ['customer_id', 'erased_at'], key: 'customer_id', account },
    page,
  )
