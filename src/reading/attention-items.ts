import type { ExpectedSign } from '../amount-signs.ts'
import { ATTENTION_LIMITS, type Findings } from '../db/records/attention.ts'
import { MAX_LOGGED_BYTES_PER_DAY } from '../db/records/storage-limits.ts'
import { quote, quoteAll } from '../validation/quote.ts'
import type { Feed } from './feed.ts'
import { ACTIVITY_DUE_HOUR, HIGH_REFUSED_SHARE } from './freshness.ts'

/** Something that needs the attention of an account. */
export interface Attention {
  code:
    | 'feed_late'
    | 'refused_records'
    | 'log_budget_used'
    | 'expiring_credentials'
    | 'held_records'
    | 'unmapped_statuses'
    | 'negative_amounts'
    | 'implausible_times'
    | 'unknown_events'
    | 'unconfigured_affiliates'
    | 'unapproved_drafts'
    | 'waiting_for_rates'
  count: number
  /** What it means and what to do. */
  detail: string
  /** Where to look, in the account's own API. */
  url?: string
}

/** What attention is decided from. */
export interface AttentionFacts extends Findings {
  feeds: readonly Feed[]
  isBrand: boolean
  /** The words of the status map, and the standard ones. */
  mapped: ReadonlySet<string>
  /** Returns the sign that amounts of a type of transactions, or of a name of events, should have. */
  signOf: (kind: string) => ExpectedSign
  /** Returns the defined name that a name of events without a definition probably means, or null. */
  suggestName: (name: string) => string | null
  /** The records by resource that were refused in the last 24 hours and are stored since. */
  storedSince: ReadonlyMap<string, number>
  /** The ends of the credentials that end soon, the earliest first, in milliseconds. */
  ends: readonly number[]
  /** Returns the address of a path of the account's own API. */
  urlOf: (path: string) => string
}

/** The maximum number of names that a detail lists. */
const MAX_NAMES = 5

const DUE_TIME = `${String(ACTIVITY_DUE_HOUR).padStart(2, '0')}:00 UTC`

/** Returns what needs attention, the most urgent first. */
export const findAttention = (facts: AttentionFacts): Attention[] =>
  [
    lateFeeds(facts),
    refusedRecords(facts),
    usedLogBudget(facts),
    expiringCredentials(facts),
    heldRecords(facts),
    unmappedStatuses(facts),
    negativeAmounts(facts),
    implausibleTimes(facts),
    unknownEvents(facts),
    unconfiguredAffiliates(facts),
  ].filter(({ count }) => count > 0)

function lateFeeds({ feeds, urlOf }: AttentionFacts): Attention {
  const late = feeds.filter(({ yesterday }) => yesterday === 'late' || yesterday === 'missing')
  return {
    code: 'feed_late',
    count: late.length,
    detail: `The activity of yesterday did not arrive by ${DUE_TIME}: ${resourcesOf(late)}. Send it; records are accepted late, too.`,
    url: urlOf('feed'),
  }
}

/** Returns whether so many records of a feed were refused that they need attention. */
export const refusesMany = ({ refused_share_last_day: share }: Feed) =>
  (share ?? 0) > HIGH_REFUSED_SHARE

function refusedRecords({ feeds, storedSince, urlOf }: AttentionFacts): Attention {
  const stillRefused = ({ resource, refused_last_day: refused }: Feed) =>
    refused - (storedSince.get(resource) ?? 0)
  const refused = feeds.filter((feed) => refusesMany(feed) && stillRefused(feed) > 0)
  return {
    code: 'refused_records',
    count: refused.reduce((sum, feed) => sum + stillRefused(feed), 0),
    detail: `More than ${HIGH_REFUSED_SHARE * 100} % of the records of the last 24 hours were refused, and these have not been stored since: ${resourcesOf(refused)}. Correct them and send them again.`,
    url: urlOf('deliveries?status=refused'),
  }
}

const usedLogBudget = ({ loggedBytes, urlOf }: AttentionFacts): Attention => ({
  code: 'log_budget_used',
  count: Number(loggedBytes >= MAX_LOGGED_BYTES_PER_DAY),
  detail:
    'The errors and dry runs of today (UTC) have filled the log: it keeps no more of them until tomorrow. The responses still have them. Correct the records before you send them again.',
  url: urlOf('deliveries?status=refused'),
})

function expiringCredentials({ ends, isBrand }: AttentionFacts): Attention {
  const credential = isBrand ? 'Brand Token' : 'client secret'
  return {
    code: 'expiring_credentials',
    count: ends.length,
    detail: `A previous ${credential} ends at ${new Date(ends[0] ?? 0).toISOString()}. Switch to the new one before then.`,
  }
}

const heldRecords = ({ held, urlOf }: AttentionFacts): Attention => ({
  code: 'held_records',
  count: held,
  detail:
    'Records wait for their customers and are not counted until these arrive. Send the customers.',
  url: urlOf('held'),
})

function unmappedStatuses({ statuses, mapped }: AttentionFacts): Attention {
  const unmapped = statuses.filter((status) => !mapped.has(status))
  return {
    code: 'unmapped_statuses',
    count: unmapped.length,
    detail: `Records have statuses without a meaning, so they earn nothing: ${firstNames(unmapped)}. Tell the integrations team what they mean.`,
  }
}

function negativeAmounts({ signs, signOf }: AttentionFacts): Attention {
  const wrong = signs.flatMap(({ kind, negative, positive }) => {
    const expected = signOf(kind)
    const count = expected === 'negative' ? positive : expected === 'positive' ? negative : 0
    return count > 0 ? [{ kind, count, expected }] : []
  })
  const isAnyNegative = wrong.some(({ expected }) => expected === 'positive')
  return {
    code: 'negative_amounts',
    count: wrong.reduce((sum, { count }) => sum + count, 0),
    detail: `Of the latest ${ATTENTION_LIMITS.records} records, these have ${isAnyNegative ? 'negative' : 'positive'} amounts although the account sends them as ${isAnyNegative ? 'positive' : 'negative'} numbers, so they count with the wrong sign: ${firstNames(wrong.map(({ kind }) => kind))}. Send them again under the same ids, or have the integrations team set how the account writes its outflows.`,
  }
}

const implausibleTimes = ({ implausible }: AttentionFacts): Attention => ({
  code: 'implausible_times',
  count: implausible,
  detail:
    'Records are dated before the year 2000, or later than tomorrow, so they earn nothing. Send them again under the same ids with the right dates.',
})

function unknownEvents({ signs, suggestName }: AttentionFacts): Attention {
  const near = signs.flatMap(({ kind }) => {
    const meant = suggestName(kind)
    return meant === null ? [] : [`${quote(kind)} (probably ${quote(meant)})`]
  })
  return {
    code: 'unknown_events',
    count: near.length,
    detail: `Recent events have names without a definition, so plans that name the defined ones pay nothing for them: ${firstOf(near)}. Correct the names, or have the integrations team define them.`,
  }
}

const unconfiguredAffiliates = ({ affiliates }: AttentionFacts): Attention => ({
  code: 'unconfigured_affiliates',
  count: affiliates.length,
  detail: `The latest customers name affiliates that are not configured, so these affiliates earn nothing: ${firstNames(affiliates)}. Correct the customers, or have the integrations team configure the affiliates.`,
})

const resourcesOf = (feeds: readonly Feed[]) => quoteAll(feeds.map(({ resource }) => resource))

/** Returns the first names, quoted, and how many more there are. */
const firstNames = (names: readonly string[]) => firstOf(names.map(quote))

/** Returns the first texts, and how many more there are. */
function firstOf(texts: readonly string[]): string {
  const more = texts.length - MAX_NAMES
  return `${texts.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
