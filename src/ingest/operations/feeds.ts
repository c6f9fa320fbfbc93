import * as v from 'valibot'
import { resolveDatabase } from '../../platform/db/database.ts'
import type { Account } from '../../platform/db/schema.ts'
import { listAccounts } from '../../platform/directory/accounts.ts'
import { list, operation } from '../../platform/http/operation.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../../platform/validation/described.ts'
import { exactOptional, member, nullable } from '../../platform/validation/fields.ts'
import { readFeedsOf } from '../feed.ts'
import { resourcesOf } from '../verticals.ts'

/** Returns the names of the resources of a vertical. */
const namesOf = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)

/** Returns how fresh the feeds of accounts are at `now` (milliseconds), in the same order. */
export async function readFeeds(env: Env, accounts: readonly Account[], now: number) {
  const byBinding = Map.groupBy(accounts, ({ binding }) => binding)
  const lists = await Promise.all(
    [...byBinding].map(async ([binding, members]) => {
      const queries = members.map(({ id, vertical }) => ({ account: id, names: namesOf(vertical) }))
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

const feed = component('Feed', () => ({
  resource: member(
    v.picklist(['customers', 'transactions', 'trading-activity', 'activities']),
    'The resource, as it is named in the address.',
  ),
  last_delivery_at: nullable(time, 'When the last delivery arrived. Null if there has been none.'),
  lag_seconds: nullable(count, 'The seconds since the last delivery, even if it was rejected.'),
  received_last_day: member(count, 'The number of records in the last 24 hours.'),
  rejected_last_day: member(count, 'How many of those records were rejected.'),
  not_stored_last_day: member(
    count,
    'How many of those records were valid and not stored, because others of their request were rejected.',
  ),
  refused_share_last_day: nullable(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    'The share of those records that was rejected or not stored. Null if there were none.',
  ),
  yesterday: exactOptional(
    v.picklist(['arrived', 'missing', 'pending']),
    'Whether activity dated yesterday (UTC) has arrived: at least one record, not all. It is `missing` from 06:00 UTC on. Absent for resources without that deadline.',
  ),
}))

export const getFeed = operation({
  id: 'getFeed',
  shows: 'account',
  topic: 'monitoring',
  method: 'GET',
  path: '/feed',
  callers: ['team', 'account'],
  words: described(() => ({
    description:
      'Returns, for each resource, the last delivery, the lag, the share of records that were not stored in the last 24 hours, and whether activity dated yesterday has arrived.',
    answer: listOf(feed),
    command: { name: 'feed' },
  })),
  async run({ grant: { account, vertical }, session }) {
    const names = namesOf(vertical)
    const [data = []] = await readFeedsOf(session, [{ account, names }], Date.now())
    return { data }
  },
})

export const listFeeds = list({
  of: 'team',
  id: 'listFeeds',
  shows: 'account',
  topic: 'monitoring',
  path: '/feeds',
  words: described(() => ({
    description: 'Lists the feeds of all accounts, ordered by account id.',
    answer: component('FeedOfAccount', () => ({
      account: member(v.string(), 'The id of the account.'),
      name: member(v.string(), 'The display name of the account.'),
      vertical: member(
        v.picklist(['prop-trading', 'forex', 'igaming']),
        'The vertical of the account.',
      ),
      feeds: member(v.array(feed), 'One entry for each resource.'),
    })),
    command: { name: 'feeds', rows: 'feeds' },
  })),
  async list({ env }, _, page) {
    const accounts = await listAccounts(env.DB, page)
    return { ...accounts, data: await readFeeds(env, accounts.data, Date.now()) }
  },
})
