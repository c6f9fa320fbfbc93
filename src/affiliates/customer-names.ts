import * as v from 'valibot'
import { countCustomers, findCustomersOf } from '../commission/db/customers-of.ts'
import { readHistories } from '../ingest/db/histories.ts'
import { type AffiliateView, viewOf } from '../platform/auth/affiliate-view.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { pseudonymKeyOf } from '../platform/directory/accounts.ts'
import { accountOperation } from '../platform/http/operation.ts'
import { described } from '../platform/validation/described.ts'
import { member, said } from '../platform/validation/fields.ts'
import { viewContextOf } from './pseudonyms.ts'
import { HIDDEN } from './view.ts'

/** The customers whose names are compared at once. */
const NAMED_AT_ONCE = 5000

/** Returns the affiliates that a customer ever had. */
async function affiliatesOf(env: Env, account: Account, customer: string): Promise<string[]> {
  const databases = { db: accountDatabase(env, account), directory: env.DB }
  const history = (await readHistories(databases, account.id, [customer])).get(customer)
  return [...new Set(history?.affiliations.flatMap(({ affiliate_id }) => affiliate_id ?? []))]
}

/** Returns the id of the customer whom an affiliate knows under a name; null if they never had such a customer. */
export async function findNamedCustomer(
  env: Env,
  { id, account, view }: { id: string; account: Account; view: AffiliateView },
  name: string,
): Promise<string | null> {
  if (name === HIDDEN) return null
  const databases = { db: accountDatabase(env, account), directory: env.DB }
  const pseudonymKey = await pseudonymKeyOf(env.DB, account)
  for await (const { ids } of findCustomersOf(databases, account.id, [id], NAMED_AT_ONCE)) {
    const data = ids.map((customer_id) => ({ customer_id }))
    const { nameOf } = await viewContextOf({ data }, view, pseudonymKey, id)
    const found = data.find(({ customer_id }) => nameOf(customer_id, 'customer') === name)
    if (!found) continue
    const owners = await affiliatesOf(env, account, found.customer_id)
    return owners.includes(id) ? found.customer_id : null
  }
  return null
}

/** The form of the names that affiliates see in place of ids. */
export const PSEUDONYM = /^c_[\da-f]{24}$/

export const getCustomerNames = accountOperation({
  topic: 'affiliates',
  id: 'getCustomerNames',
  method: 'GET',
  path: '/customers/{customer_id}/names',
  role: 'viewer',
  params: {
    customer_id: member(
      v.string(),
      said('The id of the customer, or the name under which an affiliate knows them.', 'C-1001'),
    ),
  },
  words: described(() => ({
    description:
      'Returns under which name each affiliate knows a customer: what `affiliate_view` says of `customer_ids`. A name is found among those of all customers.',
    answer: v.object({
      customer_id: v.nullable(
        member(v.string(), 'The id of the customer. Null if no affiliate knows one by it.'),
      ),
      names: member(
        v.array(v.object({ affiliate_id: v.string(), name: v.string() })),
        'One for each affiliate that the customer ever had.',
      ),
    }),
    command: { name: 'customers names' },
  })),
  async run({ env, account, db }, { customer_id: sent }) {
    const view = viewOf(account)
    const affiliates = await countCustomers({ db, directory: env.DB }, account.id)
    let customer_id = sent
    for (const id of PSEUDONYM.test(sent) ? affiliates.keys() : []) {
      const found = await findNamedCustomer(env, { id, account, view }, sent)
      if (found) customer_id = found
    }
    const owners = await affiliatesOf(env, account, customer_id)
    const key = await pseudonymKeyOf(env.DB, account)
    const names = owners.map(async (affiliate_id) => {
      const { nameOf } = await viewContextOf({ customer_id }, view, key, affiliate_id)
      return { affiliate_id, name: nameOf(customer_id, 'customer') }
    })
    return { customer_id: owners.length > 0 ? customer_id : null, names: await Promise.all(names) }
  },
})
