import { encode } from '../../platform/db/column-types.ts'
import { all } from '../../platform/db/query.ts'
import { customers, transactions } from '../../platform/db/schema.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** The accounts that a search looks at, in the order of their ids. */
export const SEARCHED_ACCOUNTS = 500

/** What can have an id, or a name. */
export const SEARCHED = ['customer', 'transaction', 'event', 'affiliate', 'statement'] as const

const CONDITIONS: Readonly<Record<(typeof SEARCHED)[number], string>> = {
  customer: 'from customers t where t.account = a.value and t.customer_id = :customer_id',
  transaction: `from transactions t indexed by transactions_key
    where t.account = a.value and t.transaction_id = :transaction_id`,
  event: `from events t indexed by events_key where t.account = a.value and t.id = :event_id`,
  affiliate: `from affiliates t where t.account = a.value and t.affiliate_id = :id
    union all
    select 1 from affiliates t where t.account = a.value and t.display_name = :id collate nocase
    union all
    select 1 from affiliates t where t.account = a.value and t.contact_email = :id collate nocase`,
  statement: 'from statements t indexed by statements_id where t.account = a.value and t.id = :id',
}

/** Their columns. The name of one is a keyword. */
const COLUMNS = SEARCHED.map((name) => `"${name}"`)

const FIND = compileStatement(`
  select account, ${COLUMNS.join()} from (
    select a.value as account,
      ${SEARCHED.map((name) => `exists (select 1 ${CONDITIONS[name]}) as "${name}"`).join()}
    from json_each(:accounts) a
  ) where ${COLUMNS.join(' or ')} order by account`)

/** An account that has an id, and what has it there. */
export interface AccountWith {
  readonly account: string
  readonly found: readonly (typeof SEARCHED)[number][]
}

/** Finds those of some accounts of a database that have an id, or an affiliate with this name or address. */
export async function findAccountsWith(
  db: D1Database,
  accounts: readonly string[],
  id: string,
): Promise<AccountWith[]> {
  type Row = { account: string } & Record<(typeof SEARCHED)[number], number>
  const values = {
    accounts: JSON.stringify(accounts),
    id,
    customer_id: encode(customers.customer_id, id),
    transaction_id: encode(transactions.transaction_id, id),
    event_id: `e ${id}`,
  }
  const rows = await all<Row>(db, FIND, values)
  return rows.map((row) => ({
    account: row.account,
    found: SEARCHED.filter((name) => row[name] === 1),
  }))
}
