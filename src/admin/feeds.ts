import { resolveDatabase } from '../db/database.ts'
import { readArrivals } from '../db/records/arrivals.ts'
import type { Account } from '../db/schema.ts'
import { feedFreshness } from '../reading/freshness.ts'

/** Returns the names of the resources of a vertical. */
export type ResourceNames = (vertical: string) => readonly string[]

/** Returns how fresh the feeds of accounts are at `now` (milliseconds), in the order of the accounts. */
export async function readFeeds(
  env: Env,
  accounts: readonly Account[],
  namesOf: ResourceNames,
  now: number,
) {
  const byBinding = Map.groupBy(accounts, ({ binding }) => binding)
  const lists = await Promise.all(
    [...byBinding].map(async ([binding, members]) => {
      const queries = members.map(({ id, vertical }) => ({ account: id, names: namesOf(vertical) }))
      const arrivals = await readArrivals(resolveDatabase(env, binding), queries, now)
      return members.map((account, i) => {
        const feeds = (arrivals[i] ?? []).map((arrival) => feedFreshness(arrival, account, now))
        return [account.id, feeds] as const
      })
    }),
  )
  const byAccount = new Map(lists.flat())
  return accounts.map(({ id, name, vertical }) => ({
    account: id,
    name,
    vertical,
    feeds: byAccount.get(id) ?? [],
  }))
}
