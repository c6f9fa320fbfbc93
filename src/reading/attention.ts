import { expectedEventSign, expectedSign } from '../amount-signs.ts'
import { countDrafts } from '../db/commission/period-sums.ts'
import { findAccount } from '../db/directory/accounts.ts'
import type { EventDefinition } from '../db/directory/event-definitions.ts'
import { expiriesOfAccount } from '../db/directory/expiring-credentials.ts'
import { readMapping, STATUSES } from '../db/directory/status-maps.ts'
import { readFindings, type StatusMembers } from '../db/records/attention.ts'
import { DAY_HOURS, DAY_MS } from '../durations.ts'
import type { Reader } from '../http/read-session.ts'
import { accountUrl } from '../ingest/account-url.ts'
import type { Resource } from '../ingest/resource.ts'
import { nameSuggester } from '../validation/suggest.ts'
import { type Attention, findAttention, refusesMany } from './attention-items.ts'
import { readFeedsOf } from './feed.ts'
import { countRefusedStoredSince } from './stored-since.ts'

/** The days before its end on which a credential needs attention. */
const EXPIRING_DAYS = 7
/** The days whose kept control totals are searched for statuses. */
export const STATUS_DAYS = 30

/**
 * Reads what needs the attention of an account at `now` (milliseconds), the most urgent first. It reads a
 * bounded number of rows, whatever the account stores. `resources` are those of its vertical.
 */
export async function readAttention(
  env: Env,
  { grant, session }: Reader,
  resources: readonly Resource[],
  now: number,
): Promise<Attention[]> {
  const today = Math.floor(now / DAY_MS)
  const span = { firstHour: today * DAY_HOURS, today, since: today - STATUS_DAYS }
  const { account } = grant
  const names = resources.map(({ name }) => name)
  const row = findAccount(env.DB, account)
  const [found, feeds = [], ends, map] = await Promise.all([
    readFindings(session, account, span, statusMembersOf(grant.events)),
    row.then(async (one) =>
      one ? (await readFeedsOf(session, [{ account: one, names }], now))[0] : [],
    ),
    expiriesOfAccount(env.DB, account, now, now + EXPIRING_DAYS * DAY_MS),
    readMapping(env.DB, account, 'status'),
  ])
  const refused = resources.filter(({ name }) =>
    feeds.some((feed) => feed.resource === name && refusesMany(feed)),
  )
  const stored = await Promise.all(
    refused.map((one) => countRefusedStoredSince(session, account, one, now)),
  )
  const outflows = new Map(grant.events.map(({ eventname, outflow }) => [eventname, outflow]))
  const suggestName = nameSuggester([...outflows.keys()])
  const isBrand = grant.vertical === 'igaming'
  const signs = grant.amount_signs ?? 'magnitude'
  return findAttention({
    ...found,
    feeds,
    isBrand,
    mapped: new Set([...Object.keys(map), ...STATUSES]),
    ends,
    signOf: (kind) =>
      isBrand ? expectedEventSign(outflows.get(kind) ?? false, signs) : expectedSign(kind, signs),
    suggestName: (name) => (outflows.has(name) ? null : suggestName(name)),
    storedSince: new Map(refused.map(({ name }, i) => [name, stored[i] ?? 0])),
    urlOf: (path) => accountUrl(env, grant, path),
  })
}

/** Returns the members that hold the status of events, by the name of the event. */
export const statusMembersOf = (definitions: readonly EventDefinition[]): StatusMembers =>
  definitions.flatMap(({ eventname, status_member }) =>
    status_member ? [[eventname, status_member] as const] : [],
  )

/**
 * Returns `unapproved_drafts` if drafts of ended periods wait for approval, and `waiting_for_rates` if amounts
 * of drafts wait for an exchange rate. Only the integrations team approves and imports rates, so the account
 * itself does not see this.
 */
export async function readUnapproved(
  { grant, session }: Reader,
  now: number,
): Promise<Attention[]> {
  const { unapproved, waiting } = await countDrafts(session, grant.account, now)
  const first = [unapproved.first_month, unapproved.first_week].filter((period) => period !== null)
  const items: Attention[] = [
    {
      code: 'unapproved_drafts',
      count: unapproved.drafts,
      detail: `Statements of ended periods are drafts. The first are of ${first.join(' and ')}. Approve them.`,
    },
    {
      code: 'waiting_for_rates',
      count: waiting.reduce((sum, { count }) => sum + count, 0),
      detail: `Amounts in drafts wait for exchange rates, so nothing is paid for them yet: ${waiting.map(({ currency, count }) => `${count} in ${currency}`).join(', ')}. Import the rates and compute the periods again.`,
    },
  ]
  return items.filter(({ count }) => count > 0)
}
