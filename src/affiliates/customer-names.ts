import * as v from 'valibot'
import { findCustomersOf } from '../commission/db/customers-of.ts'
import { readHistories } from '../ingest/db/histories.ts'
import { viewOf } from '../platform/auth/affiliate-view.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { pseudonymKeyOf } from '../platform/directory/accounts.ts'
import { operation } from '../platform/http/operation.ts'
import { described } from '../platform/validation/described.ts'
import { member, nullable, said } from '../platform/validation/fields.ts'
import { viewContextOf } from './pseudonyms.ts'
import { HIDDEN } from './view.ts'

/** The customers whose names are compared at once. */
const NAMED_AT_ONCE = 5000

const databasesOf = (env: Env, account: Account) => ({
  db: accountDatabase(env, account),
  directory: env.DB,
})

/** Returns under which names the affiliates whom customers ever had know them; none if ids are hidden. */
async function namesOf(env: Env, account: Account, ids: readonly string[]) {
  const histories = await readHistories(databasesOf(env, account), account.id, ids)
  const owned = [...histories].flatMap(([customer_id, { affiliations }]) =>
    affiliations.map(({ affiliate_id }) => ({ customer_id, affiliate_id })),
  )
  const key = await pseudonymKeyOf(env.DB, account)
  const names = [...Map.groupBy(owned, (one) => one.affiliate_id)].map(async ([own, data]) => {
    if (own === null) return []
    const { nameOf } = await viewContextOf({ data }, viewOf(account), key, own)
    const customers = new Set(data.map(({ customer_id }) => customer_id))
    return [...customers].flatMap((customer_id) => {
      const name = nameOf(customer_id, 'customer')
      return name === HIDDEN ? [] : { customer_id, affiliate_id: own, name }
    })
  })
  return (await Promise.all(names)).flat()
}

/** Returns the id of the customer whom an affiliate knows under a name; null if they never had such a customer. */
export async function findNamedCustomer(
  env: Env,
  account: Account,
  own: string,
  name: string,
): Promise<string | null> {
  if (name === HIDDEN) return null
  const key = await pseudonymKeyOf(env.DB, account)
  const databases = databasesOf(env, account)
  for await (const { ids } of findCustomersOf(databases, account.id, [own], NAMED_AT_ONCE)) {
    const data = ids.map((customer_id) => ({ customer_id }))
    const { nameOf } = await viewContextOf({ data }, viewOf(account), key, own)
    const found = data.find(({ customer_id }) => nameOf(customer_id, 'customer') === name)
    if (!found) continue
    const known = await namesOf(env, account, [found.customer_id])
    return known.some(({ affiliate_id }) => affiliate_id === own) ? found.customer_id : null
  }
  return null
}

/** The form of the names that affiliates see in place of ids. */
export const PSEUDONYM = /^c_[\da-f]{24}$/

export const getCustomerNames = operation({
  topic: 'affiliates',
  id: 'getCustomerNames',
  shows: 'affiliate',
  method: 'GET',
  path: '/customers/{customer_id}/names',
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
      customer_id: nullable(
        v.string(),
        'The id of the customer. Null if no affiliate knows one by it.',
      ),
      names: member(
        v.array(v.object({ affiliate_id: v.string(), name: v.string() })),
        'One for each affiliate that the customer ever had, unless the account shows no ids.',
      ),
    }),
    command: { name: 'customers names' },
  })),
  async run({ env, account }, { customer_id: sent }) {
    let known = await namesOf(env, account, [sent])
    if (known.length === 0 && PSEUDONYM.test(sent)) {
      const databases = databasesOf(env, account)
      for await (const { ids } of findCustomersOf(databases, account.id, null, NAMED_AT_ONCE)) {
        const names = await namesOf(env, account, ids)
        const found = names.find(({ name }) => name === sent)
        if (!found) continue
        known = names.filter(({ customer_id }) => customer_id === found.customer_id)
        break
      }
    }
    return {
      customer_id: known[0]?.customer_id ?? null,
      names: known.map(({ affiliate_id, name }) => ({ affiliate_id, name })),
    }
  },
})
