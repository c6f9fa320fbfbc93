import { findCustomersOf } from '../db/commission/customers-of.ts'
import { resolveDatabase } from '../db/database.ts'
import { pseudonymKeyOf } from '../db/directory/accounts.ts'
import type { AdmittedAffiliate } from './me.ts'
import { viewContextOf } from './pseudonyms.ts'
import { HIDDEN } from './view.ts'

const ALL_DAYS = { from: '0000-01-01', to: '9999-12-31' }

/** Returns the id of the customer whom an affiliate knows under a name; null if they never had such a customer. */
export async function findNamedCustomer(
  env: Env,
  { id, account, view }: Pick<AdmittedAffiliate, 'id' | 'account' | 'view'>,
  name: string,
): Promise<string | null> {
  if (name === HIDDEN) return null
  const databases = { db: resolveDatabase(env, account.binding), directory: env.DB }
  const pseudonymKey = await pseudonymKeyOf(env.DB, account)
  const query = { account: account.id, affiliates: [id], ...ALL_DAYS }
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const { customers, next } = await findCustomersOf(databases, query, cursor)
    const data = customers.map(({ customer_id }) => ({ customer_id }))
    const { nameOf } = await viewContextOf({ data }, view, pseudonymKey, id)
    const found = data.find(({ customer_id }) => nameOf(customer_id, 'customer') === name)
    if (found) return found.customer_id
    if (next === null) return null
    cursor = next
  }
}
