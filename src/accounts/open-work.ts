import { countOpenQuestions } from '../affiliates/db/affiliate-questions.ts'
import { countReturned } from '../books/db/pay.ts'
import { countDrafts } from '../commission/db/statements.ts'
import { type CasesOf, readCasesToNote } from '../fraud/db/attention.ts'
import { accountUrl } from '../ingest/account-url.ts'
import type { ATTENTION_CODES } from '../ingest/attention-codes.ts'
import {
  ATTENTION_LIMITS,
  type Findings,
  readFindings,
  type StatusMembers,
} from '../ingest/db/attention.ts'
import {
  ACTIVITY_DUE_HOUR,
  type Feed,
  findCreation,
  HIGH_REFUSED_SHARE,
  readFeedsOf,
} from '../ingest/feed.ts'
import type { Resource } from '../ingest/resource.ts'
import { type ExpectedSign, expectedEventSign, expectedSign } from '../platform/amount-signs.ts'
import { expiriesOfAccount } from '../platform/directory/credentials.ts'
import type { EventDefinition } from '../platform/directory/event-definitions.ts'
import { readMapping, STATUSES } from '../platform/directory/status-maps.ts'
import { DAY_MS } from '../platform/durations.ts'
import type { Reader } from '../platform/http/operation.ts'
import { quote, quoteAll } from '../platform/validation/quote.ts'
import { todayOf } from '../platform/zone.ts'
import { readFailingEndpoints } from '../webhooks/db/endpoints.ts'

/** Something that needs the attention of an account. */
export interface Attention {
  code: (typeof ATTENTION_CODES)[number]
  count: number
  /** What it is about: resources, statuses, amounts, event names, affiliates, hosts, currencies, periods or instants. */
  names: readonly string[]
  /** What it means and what to do. */
  detail: string
  /** Where to look, in the account's own API. */
  url?: string
}

/** What attention is decided from. */
interface AttentionFacts extends Findings {
  feeds: readonly Feed[]
  isBrand: boolean
  /** The words of the status map, and the standard ones. */
  mapped: ReadonlySet<string>
  /** Returns the sign that amounts of a type of transactions, or of a name of events, should have. */
  signOf: (kind: string) => ExpectedSign
  /** The ends of the credentials that end soon, the earliest first, in milliseconds. */
  ends: readonly number[]
  /** The webhooks, and the postbacks of affiliates, that have failed for a day or that failures have disabled. */
  failing: Awaited<ReturnType<typeof readFailingEndpoints>>
  /** Returns the address of a path of the account's own API. */
  urlOf: (path: string) => string
}

/** The maximum number of names that a detail lists. */
const MAX_NAMES = 5

const DUE_TIME = `${String(ACTIVITY_DUE_HOUR).padStart(2, '0')}:00 UTC`

/** Returns what needs attention, the most urgent first. */
const findAttention = (facts: AttentionFacts): Attention[] =>
  [
    lateFeeds(facts),
    refusedRecords(facts),
    expiringCredentials(facts),
    failingWebhooks(facts),
    failingPostbacks(facts),
    heldRecords(facts),
    unmappedStatuses(facts),
    negativeAmounts(facts),
    unconfiguredAffiliates(facts),
  ].filter(({ count }) => count > 0)

function lateFeeds({ feeds, urlOf }: AttentionFacts): Attention {
  const late = feeds.filter(({ yesterday }) => yesterday === 'late' || yesterday === 'missing')
  return {
    code: 'feed_late',
    count: late.length,
    names: resourcesOf(late),
    detail: `The activity of yesterday did not arrive by ${DUE_TIME}: ${quoteAll(resourcesOf(late))}. Send it; records are accepted late, too.`,
    url: urlOf('feed'),
  }
}

/** Returns whether so many records of a feed were refused that they need attention. */
const refusesMany = ({ refused_share_last_day: share }: Feed) => (share ?? 0) > HIGH_REFUSED_SHARE

function refusedRecords({ feeds, urlOf }: AttentionFacts): Attention {
  const refused = feeds.filter(refusesMany)
  return {
    code: 'refused_records',
    count: refused.reduce((sum, { refused_last_day }) => sum + refused_last_day, 0),
    names: resourcesOf(refused),
    detail: `More than ${HIGH_REFUSED_SHARE * 100} % of the records of the last 24 hours were refused: ${quoteAll(resourcesOf(refused))}. Correct them and send them again.`,
    url: urlOf('deliveries?status=refused'),
  }
}

function expiringCredentials({ ends, isBrand }: AttentionFacts): Attention {
  const credential = isBrand ? 'Brand Token' : 'client secret'
  const instants = ends.map((end) => new Date(end).toISOString())
  return {
    code: 'expiring_credentials',
    count: ends.length,
    names: instants,
    detail: `A previous ${credential} ends at ${instants[0]}. Switch to the new one before then.`,
  }
}

function failingWebhooks({ failing }: AttentionFacts): Attention {
  const found = failing.filter(({ affiliate_id }) => affiliate_id === null)
  const hosts = found.map(({ url }) => new URL(url).host)
  return {
    code: 'failing_webhooks',
    count: found.length,
    names: hosts,
    detail: `Receivers of webhooks have failed for a day, or so often that their webhooks are disabled: ${firstNames(hosts)}. Correct them; then the integrations team enables the webhooks and replays what is missing.`,
  }
}

function failingPostbacks({ failing }: AttentionFacts): Attention {
  const found = failing.flatMap(({ affiliate_id }) => affiliate_id ?? [])
  const affiliates = [...new Set(found)]
  return {
    code: 'failing_postbacks',
    count: found.length,
    names: affiliates,
    detail: `Trackers of affiliates have failed for a day, or so often that their postbacks are stopped: ${firstNames(affiliates)}. Tell the affiliates, who can let a postback go on.`,
  }
}

const heldRecords = ({ held, urlOf }: AttentionFacts): Attention => ({
  code: 'held_records',
  count: held,
  names: [],
  detail:
    'Records wait for their customers and are not counted until these arrive. Send the customers.',
  url: urlOf('held'),
})

function unmappedStatuses({ statuses, mapped }: AttentionFacts): Attention {
  const unmapped = statuses.filter((status) => !mapped.has(status))
  return {
    code: 'unmapped_statuses',
    count: unmapped.length,
    names: unmapped,
    detail: `Records have statuses without a meaning, so they earn nothing: ${firstNames(unmapped)}. The integrations team says what they mean.`,
  }
}

function negativeAmounts({ signs, signOf }: AttentionFacts): Attention {
  const wrong = signs.flatMap(({ kind, negative, positive }) => {
    const expected = signOf(kind)
    const count = expected === 'negative' ? positive : expected === 'positive' ? negative : 0
    return count > 0 ? [{ kind, count, expected }] : []
  })
  const names = wrong.map(({ kind }) => kind)
  const isAnyNegative = wrong.some(({ expected }) => expected === 'positive')
  return {
    code: 'negative_amounts',
    count: wrong.reduce((sum, { count }) => sum + count, 0),
    names,
    detail: `Of the latest ${ATTENTION_LIMITS.records} records, these have ${isAnyNegative ? 'negative' : 'positive'} amounts although the account sends them as ${isAnyNegative ? 'positive' : 'negative'} numbers, so they count with the wrong sign: ${firstNames(names)}. Send them again under the same ids; or the integrations team sets how the account writes its outflows.`,
  }
}

const unconfiguredAffiliates = ({ affiliates }: AttentionFacts): Attention => ({
  code: 'unconfigured_affiliates',
  count: affiliates.length,
  names: affiliates,
  detail: `The latest customers name affiliates that are not configured, so these affiliates earn nothing: ${firstNames(affiliates)}. Correct the customers, or the integrations team configures the affiliates.`,
})

const resourcesOf = (feeds: readonly Feed[]) => feeds.map(({ resource }) => resource)

/** Returns the first names, quoted, and how many more there are. */
function firstNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  return `${names.slice(0, MAX_NAMES).map(quote).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

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
  const { account } = grant
  const since = Math.floor(now / DAY_MS) - STATUS_DAYS
  const names = resources.map(({ name }) => name)
  const createdAt = findCreation(env.DB, account)
  const [found, [feeds = []], ends, map, failing] = await Promise.all([
    readFindings(session, account, { since, members: statusMembersOf(grant.events) }),
    readFeedsOf(session, [{ account, createdAt, names }], now),
    expiriesOfAccount(env.DB, account, now, now + EXPIRING_DAYS * DAY_MS),
    readMapping(env.DB, account, 'status'),
    readFailingEndpoints(session, { account, since: now - DAY_MS }),
  ])
  const outflows = new Map(grant.events.map(({ eventname, outflow }) => [eventname, outflow]))
  const isBrand = grant.vertical === 'igaming'
  const signs = grant.amount_signs
  return findAttention({
    ...found,
    feeds,
    isBrand,
    mapped: new Set([...Object.keys(map), ...STATUSES]),
    ends,
    failing,
    signOf: (kind) =>
      isBrand ? expectedEventSign(outflows.get(kind) ?? false, signs) : expectedSign(kind, signs),
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
export async function readUnapproved({ grant, session }: Reader): Promise<Attention[]> {
  const { unapproved, waiting } = await countDrafts(session, grant.account, todayOf(grant))
  const first = [unapproved.first_month, unapproved.first_week].filter((period) => period !== null)
  const items: Attention[] = [
    {
      code: 'unapproved_drafts',
      count: unapproved.drafts,
      names: first,
      detail: `Statements of ended periods are drafts. The first are of ${first.join(' and ')}. Approve them.`,
    },
    {
      code: 'waiting_for_rates',
      count: waiting.reduce((sum, { count }) => sum + count, 0),
      names: waiting.map(({ currency }) => currency),
      detail: `Amounts in drafts wait for exchange rates, so nothing is paid for them yet: ${waiting.map(({ currency, count }) => `${count} in ${currency}`).join(', ')}. Import the rates and compute the periods again.`,
    },
  ]
  return items.filter(({ count }) => count > 0)
}

/** Returns `returned_payments` if payments came back and are due again: only the integrations team pays. */
export async function readReturned({ grant, session }: Reader): Promise<Attention[]> {
  const { count, affiliates } = await countReturned(session, grant.account)
  if (count === 0) return []
  const names: string[] = JSON.parse(affiliates)
  const detail = `Payments came back and are due again, of the affiliates ${firstNames(names)}. Correct where they are paid, and pay them again.`
  return [{ code: 'returned_payments', count, names, detail }]
}

/** Returns `open_questions` if questions of affiliates wait for an answer of the team. */
export async function readOpenQuestions({ grant, session }: Reader): Promise<Attention[]> {
  const { open, affiliates } = await countOpenQuestions(session, grant.account)
  if (open === 0) return []
  const names: string[] = JSON.parse(affiliates)
  const detail = `Questions wait for an answer, of the affiliates ${firstNames(names)}. Answer them.`
  return [{ code: 'open_questions', count: open, names, detail }]
}

/**
 * Returns what the fraud review asks for: `open_cases` of high severity or that hold payouts, `waiting_cases` that a second person must decide,
 * and `too_large_affiliates`, which have too many records to be evaluated. Only the integrations team decides cases.
 */
export async function readReview({ grant, session }: Reader): Promise<Attention[]> {
  const { undecided, waiting, tooLarge } = await readCasesToNote(session, grant.account)
  const countOf = (all: readonly CasesOf[]) => all.reduce((sum, { cases }) => sum + cases, 0)
  const namesOf = (all: readonly CasesOf[]) => all.map(({ affiliate_id }) => affiliate_id)
  const items: Attention[] = [
    {
      code: 'open_cases',
      count: countOf(undecided),
      names: namesOf(undecided),
      detail: `Cases that are of high severity or hold payouts are open, of the affiliates ${firstNames(namesOf(undecided))}. Decide them.`,
    },
    {
      code: 'waiting_cases',
      count: countOf(waiting),
      names: namesOf(waiting),
      detail: `Cases wait for the decision of a second person, of the affiliates ${firstNames(namesOf(waiting))}. Decide the same, or differently.`,
    },
    {
      code: 'too_large_affiliates',
      count: tooLarge.length,
      names: tooLarge,
      detail: `Affiliates have too many records to be evaluated by all fraud rules: ${firstNames(tooLarge)}. Look at them yourself, or put rules that read fewer days.`,
    },
  ]
  return items.filter(({ count }) => count > 0)
}
