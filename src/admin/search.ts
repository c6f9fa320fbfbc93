import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import { listAccounts } from '../db/directory/accounts.ts'
import { findAccountsWith, SEARCHED_ACCOUNTS } from '../db/records/accounts-with.ts'
import { invalidQuery, readQuery } from '../http/query.ts'

/** The route that finds the accounts that have an id. */
export const search = new Hono<AppEnv>().get('/search', async (c) => {
  const { id } = readQuery(c.req.url, 'id')
  if (id === undefined) throw invalidQuery('The parameter `id` is missing.')
  const { data } = await listAccounts(c.env.DB, { number: 1, size: SEARCHED_ACCOUNTS, after: null })
  const byBinding = Map.groupBy(data, ({ binding }) => binding)
  const found = await Promise.all(
    [...byBinding].map(([binding, accounts]) =>
      findAccountsWith(
        resolveDatabase(c.env, binding),
        accounts.map((one) => one.id),
        id,
      ),
    ),
  )
  const names = new Map(data.map((one) => [one.id, one.name]))
  return c.json({
    data: found
      .flat()
      .toSorted((a, b) => (a.account < b.account ? -1 : 1))
      .map((one) => ({ ...one, name: names.get(one.account) ?? one.account })),
  })
})
