import { countUnapproved } from '../db/commission/period-sums.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { expiriesOfAccount } from '../db/directory/expiring-credentials.ts'
import { readMapping, STATUSES } from '../db/directory/status-maps.ts'
import { readFindings } from '../db/records/attention.ts'
import type { ResourceName } from '../db/records/record-view.ts'
import { DAY_HOURS, DAY_MS } from '../durations.ts'
import type { Reader } from '../http/read-session.ts'
import { accountUrl } from '../ingest/account-url.ts'
import { type Attention, findAttention } from './attention-items.ts'
import { readFeedsOf } from './feed.ts'

/** The days before its end on which a credential needs attention. */
const EXPIRING_DAYS = 7
/** The days whose kept control totals are searched for statuses. */
export const STATUS_DAYS = 30

/**
 * Reads what needs the attention of an account at `now` (milliseconds), the most urgent first. It reads a
 * bounded number of rows, whatever the account stores. `names` are the resources of its vertical.
 */
export async function readAttention(
  env: Env,
  { grant, session }: Reader,
  names: readonly ResourceName[],
  now: number,
): Promise<Attention[]> {
  const today = Math.floor(now / DAY_MS)
  const span = { firstHour: today * DAY_HOURS, since: today - STATUS_DAYS }
  const { account } = grant
  const row = findAccount(env.DB, account)
  const isBrand = grant.vertical === 'igaming'
  const [found, feeds, ends, map] = await Promise.all([
    readFindings(session, account, span),
    row.then((one) => (one ? readFeedsOf(session, [{ account: one, names }], now) : [])),
    expiriesOfAccount(env.DB, account, now, now + EXPIRING_DAYS * DAY_MS),
    isBrand ? null : readMapping(env.DB, account, 'status'),
  ])
  return findAttention({
    ...found,
    feeds: feeds[0] ?? [],
    isBrand,
    mapped: map && new Set([...Object.keys(map), ...STATUSES]),
    ends,
    urlOf: (path) => accountUrl(env, grant, path),
  })
}

/**
 * Returns `unapproved_drafts` if drafts of ended periods wait for approval. Only the integrations team
 * approves, so the account itself does not see this.
 */
export async function readUnapproved(
  { grant, session }: Reader,
  now: number,
): Promise<Attention[]> {
  const found = await countUnapproved(session, grant.account, now)
  if (!found?.drafts) return []
  const first = [found.first_month, found.first_week].filter((period) => period !== null)
  const detail = `Statements of ended periods are drafts. The first are of ${first.join(' and ')}. Approve them.`
  return [{ code: 'unapproved_drafts', count: found.drafts, detail }]
}
