import type { Grant } from '../auth/grant.ts'
import { countUnapproved } from '../db/commission/period-sums.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { credentialEnds } from '../db/directory/credential-ends.ts'
import { readMapping, STATUSES } from '../db/directory/status-maps.ts'
import { type Findings, readFindings } from '../db/records/attention.ts'
import { MAX_LOGGED_BYTES_PER_DAY } from '../db/records/storage-limits.ts'
import { DAY_HOURS, DAY_MS } from '../durations.ts'
import type { Reader } from '../http/session.ts'
import { accountUrl } from '../ingest/account-url.ts'
import { quoteAll } from '../validation/quote.ts'
import { type Feed, readFeedsOf } from './feed.ts'
import { MANY_REFUSED } from './freshness.ts'

/** Something that needs the attention of an account. */
export interface Attention {
  code:
    | 'feed_late'
    | 'refused_records'
    | 'log_budget_used'
    | 'expiring_credentials'
    | 'held_records'
    | 'unmapped_statuses'
    | 'unconfigured_affiliates'
    | 'unapproved_drafts'
  count: number
  /** What it means and what to do. */
  detail: string
  /** Where to look, in the account's own API. */
  url?: string
}

/** How long before its end a credential needs attention, in days. */
const EXPIRING_DAYS = 7
/** The days whose kept control totals are searched for statuses. */
export const STATUS_DAYS = 30
/** The names that a detail lists. */
const MAX_NAMES = 5

/** What attention is decided from. */
interface Facts extends Findings {
  feeds: readonly Feed[]
  /** The words of the status map; null for brands, which have none. */
  mapped: ReadonlySet<string> | null
  /** When credentials end that end soon, in order, in milliseconds. */
  ends: readonly number[]
}

/**
 * Reads what needs the attention of an account at `now` (milliseconds), the most urgent first. It reads a
 * bounded number of rows, whatever the account stores. `names` are the resources of its vertical.
 */
export async function readAttention(
  env: Env,
  { grant, session }: Reader,
  names: readonly string[],
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
    credentialEnds(env.DB, account, now, now + EXPIRING_DAYS * DAY_MS),
    isBrand ? null : readMapping(env.DB, account, 'status'),
  ])
  const mapped = map && new Set([...Object.keys(map), ...STATUSES])
  const urlOf = (path: string) => accountUrl(env, grant, path)
  return attentionOf({ ...found, feeds: feeds[0] ?? [], mapped, ends }, grant, urlOf)
}

/** Decides what needs attention. */
export function attentionOf(
  { feeds, loggedBytes, ends, held, mapped, statuses, affiliates }: Facts,
  { vertical }: Pick<Grant, 'vertical'>,
  urlOf: (path: string) => string,
): Attention[] {
  const late = feeds.filter(({ yesterday }) => yesterday === 'late' || yesterday === 'missing')
  const refused = feeds.filter(({ refused_share_last_day: share }) => (share ?? 0) > MANY_REFUSED)
  const unmapped = mapped ? statuses.filter((status) => !mapped.has(status)) : []
  const credential = vertical === 'igaming' ? 'Brand Token' : 'client secret'
  const found: Attention[] = [
    {
      code: 'feed_late',
      count: late.length,
      detail: `The activity of yesterday did not arrive by 06:00 UTC: ${quoteAll(late.map(({ resource }) => resource))}. Send it; records are accepted late, too.`,
      url: urlOf('feed'),
    },
    {
      code: 'refused_records',
      count: refused.reduce((sum, { refused_last_day }) => sum + refused_last_day, 0),
      detail: `More than 5 % of the records of the last 24 hours were refused: ${quoteAll(refused.map(({ resource }) => resource))}. Correct them and send them again.`,
      url: urlOf('deliveries?status=refused'),
    },
    {
      code: 'log_budget_used',
      count: Number(loggedBytes >= MAX_LOGGED_BYTES_PER_DAY),
      detail:
        'The errors and dry runs of today (UTC) have filled the log: it keeps no more of them until tomorrow. The responses still have them. Correct the records before you send them again.',
      url: urlOf('deliveries?status=refused'),
    },
    {
      code: 'expiring_credentials',
      count: ends.length,
      detail: `A previous ${credential} ends at ${new Date(ends[0] ?? 0).toISOString()}. Use the new one before.`,
    },
    {
      code: 'held_records',
      count: held,
      detail:
        'Records wait for their customers and count nowhere until these arrive. Send the customers.',
      url: urlOf('held'),
    },
    {
      code: 'unmapped_statuses',
      count: unmapped.length,
      detail: `Transactions have statuses without a meaning, so they earn nothing: ${listed(unmapped)}. Tell the integrations team what they mean.`,
    },
    {
      code: 'unconfigured_affiliates',
      count: affiliates.length,
      detail: `The latest customers name affiliates that are not configured, so these affiliates earn nothing: ${listed(affiliates)}. Correct the customers, or have the integrations team configure the affiliates.`,
    },
  ]
  return found.filter(({ count }) => count > 0)
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

/** Lists the first names, and how many more there are. */
function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  return `${quoteAll(names.slice(0, MAX_NAMES))}${more > 0 ? ` and ${more} more` : ''}`
}
