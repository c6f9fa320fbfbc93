import { readActivityDays } from '../db/records/activity-days.ts'
import { readArrivals } from '../db/records/arrivals.ts'
import type { ResourceName } from '../db/records/record-view.ts'
import type { Account } from '../db/schema.ts'
import { completenessOf, completenessSpan } from './completeness.ts'
import { feedFreshness } from './freshness.ts'

/** A feed as the API shows it: how fresh and how complete one resource of an account is. */
export type Feed = ReturnType<typeof feedFreshness> & ReturnType<typeof completenessOf>

/** An account whose feeds are read, and the names of its resources. */
interface FeedsOfAccount {
  readonly account: Pick<Account, 'id' | 'created_at'>
  readonly names: readonly ResourceName[]
}

/** Reads the feeds of accounts of one database at `now` (milliseconds); returns a list for each account. */
export async function readFeedsOf(
  db: D1Database | D1DatabaseSession,
  accounts: readonly FeedsOfAccount[],
  now: number,
): Promise<Feed[][]> {
  const queries = accounts.map(({ account, names }) => ({ account: account.id, names }))
  const span = completenessSpan(now)
  const [arrivals, days] = await Promise.all([
    readArrivals(db, queries, now),
    readActivityDays(db, queries, span),
  ])
  return accounts.map(({ account }, i) =>
    (arrivals[i] ?? []).map((arrival, j) => {
      const ofResource = days[i]?.[j] ?? NO_DAYS
      return {
        ...feedFreshness(arrival, account, now),
        ...completenessOf(ofResource, span),
      }
    }),
  )
}

const NO_DAYS = { resource: '', firstDay: null, days: [], counted: new Map() }
