import { resolveDatabase } from '../db/database.ts'
import type { ResourceName } from '../db/records/list.ts'
import type { Account } from '../db/schema.ts'
import { readFeedsOf } from '../ingest/feed.ts'

/** Returns the names of the resources of a vertical. */
export type ResourceNames = (vertical: string) => readonly ResourceName[]

/** Returns how fresh and complete the feeds of accounts are at `now` (milliseconds), in the same order. */
export async function readFeeds(
  env: Env,
  accounts: readonly Account[],
  namesOf: ResourceNames,
  now: number,
) {
  const byBinding = Map.groupBy(accounts, ({ binding }) => binding)
  const lists = await Promise.all(
    [...byBinding].map(async ([binding, members]) => {
      const queries = members.map(({ id, created_at, vertical }) => ({
        account: id,
        createdAt: created_at,
        names: namesOf(vertical),
      }))
      const feeds = await readFeedsOf(resolveDatabase(env, binding), queries, now)
      return members.map(({ id }, i) => [id, feeds[i] ?? []] as const)
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
