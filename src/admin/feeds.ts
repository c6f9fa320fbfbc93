import { resolveDatabase } from '../db/database.ts'
import { readArrivals } from '../db/records/arrivals.ts'
import type { Account } from '../db/schema.ts'
import { feedFreshness } from '../reading/freshness.ts'

/** The resources of a vertical, by name. */
export type ResourceNames = (vertical: string) => readonly string[]

/** How fresh the feeds of some accounts are, in the order of the accounts. */
export async function readFeeds(
  env: Env,
  accounts: readonly Account[],
  namesOf: ResourceNames,
  now: number,
) {
  const byBinding = Map.groupBy(accounts, ({ binding }) => binding)
  const found = await Promise.all(
    [...byBinding].map(async ([binding, own]) => {
      const asked = own.map(({ id, vertical }) => ({ account: id, names: namesOf(vertical) }))
      const feeds = await readArrivals(resolveDatabase(env, binding), asked, now)
      return own.map(({ id }, i) => [id, feeds[i]!.map((one) => feedFreshness(one, now))] as const)
    }),
  )
  const byAccount = new Map(found.flat())
  return accounts.map(({ id, name, vertical }) => ({
    account: id,
    name,
    vertical,
    feeds: byAccount.get(id)!,
  }))
}
