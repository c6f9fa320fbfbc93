import { countOpenQuestions } from '../affiliates/db/affiliate-questions.ts'
import { listManaged } from '../affiliates/db/affiliates.ts'
import { countDrafts } from '../commission/db/statements.ts'
import { statusMembersOf } from '../commission/run/select-facts.ts'
import { counted } from '../commission/words/english.ts'
import { type CasesOf, readCasesToNote } from '../fraud/db/attention.ts'
import { accountUrl } from '../ingest/account-url.ts'
import { readFindings } from '../ingest/db/attention.ts'
import { ACTIVITY_DUE_HOUR, type Feed, HIGH_REFUSED_SHARE, readFeedsOf } from '../ingest/feed.ts'
import { resourcesOf } from '../ingest/verticals.ts'
import { listToConfirm } from '../payouts/db/batches.ts'
import { countOpenMovements } from '../payouts/db/movements.ts'
import { countReturned } from '../payouts/db/payable.ts'
import { listSameAccount, listWaiting } from '../payouts/db/payees.ts'
import { APPLICATION_LIMITS, countWaiting } from '../people/db/applications.ts'
import { isAtLeast } from '../platform/auth/roles.ts'
import { listLowered } from '../platform/directory/audit.ts'
import { listBrandTokens, listClients } from '../platform/directory/credentials.ts'
import { invitedByRoot, memberIds, ROOT_ACTOR } from '../platform/directory/members.ts'
import { readMapping, STATUSES } from '../platform/directory/status-maps.ts'
import { DAY_MS } from '../platform/durations.ts'
import type { Call, Reader } from '../platform/http/operation.ts'
import { quote, quoteAll } from '../platform/validation/quote.ts'
import { todayOf } from '../platform/zone.ts'
import { readFailingEndpoints } from '../webhooks/db/endpoints.ts'

/** What can need the attention of an account. */
export const ATTENTION_CODES = [
  'feed_late',
  'refused_records',
  'expiring_credentials',
  'failing_webhooks',
  'failing_postbacks',
  'held_records',
  'unmapped_statuses',
  'unconfigured_affiliates',
  'unapproved_drafts',
  'waiting_for_rates',
  'prepared_batches',
  'returned_payments',
  'unbooked_movements',
  'open_cases',
  'waiting_cases',
  'open_questions',
  'waiting_applications',
  'waiting_payees',
  'same_account',
  'unmanaged_affiliates',
  'lowered_settings',
  'root_invitations',
] as const

/** Something that needs the attention of an account, if its count is not 0. */
export interface Attention {
  code: (typeof ATTENTION_CODES)[number]
  count: number
  /** What it is about: resources, statuses, affiliates, payers, hosts, currencies, periods or instants. */
  names: readonly string[]
  /** What it means and what to do. */
  detail: string
  /** Where to look, in the account's own API. */
  url?: string
}

const item = (
  code: Attention['code'],
  names: readonly string[],
  detail: string,
  more: Partial<Pick<Attention, 'count' | 'url'>> = {},
): Attention => ({ code, count: names.length, names, detail, ...more })

const withoutEmpty = (items: readonly Attention[]) => items.filter(({ count }) => count > 0)

const sumOf = (list: readonly { readonly count: number }[]) =>
  list.reduce((sum, { count }) => sum + count, 0)

/** The maximum number of names that a detail lists. */
const MAX_NAMES = 5

/** Returns the first names, quoted, and how many more there are. */
function firstNames(names: readonly string[], write = quote): string {
  const more = names.length - MAX_NAMES
  return `${names
    .slice(0, MAX_NAMES)
    .map((name) => write(name))
    .join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const DUE_TIME = `${String(ACTIVITY_DUE_HOUR).padStart(2, '0')}:00 UTC`

/** For how many days everybody is told by what one person could get round the others. */
const LOWERED_DAYS = 7

/** The days before its end on which a credential needs attention. */
const EXPIRING_DAYS = 7

/**
 * Reads what needs the attention of an account at `now` (milliseconds), the most urgent first. It reads a
 * bounded number of rows, whatever the account stores.
 */
export async function readAttention(
  env: Env,
  { grant, session }: Reader,
  now: number,
): Promise<Attention[]> {
  const { account } = grant
  const names = resourcesOf(grant.vertical).map(({ name }) => name)
  const [{ held, ...found }, [feeds = []], ends, map, failing] = await Promise.all([
    readFindings(session, account, Object.entries(statusMembersOf(grant.events))),
    readFeedsOf(session, [{ account, names }], now),
    readEnds(env, account, now),
    readMapping(env.DB, account),
    readFailingEndpoints(session, { account, since: now - DAY_MS }),
  ])
  const urlOf = (path: string) => accountUrl(env, grant, path)
  const instants = ends.map((end) => new Date(end).toISOString())
  const credential = grant.vertical === 'igaming' ? 'Brand Token' : 'client secret'
  const mapped = new Set<string>([...Object.keys(map), ...STATUSES])
  const unmapped = found.statuses.filter((status) => !mapped.has(status))
  return withoutEmpty([
    ...feedItems(feeds, urlOf),
    item(
      'expiring_credentials',
      instants,
      `A previous ${credential} ends at ${instants[0]}. Switch to the new one before then.`,
    ),
    ...endpointItems(failing),
    item(
      'held_records',
      [],
      'A held record is not counted until its customer arrives. Send the customers.',
      { count: held, url: urlOf('held') },
    ),
    item(
      'unmapped_statuses',
      unmapped,
      `A record whose status has no meaning earns nothing: ${firstNames(unmapped)}. The integrations team says what a status means.`,
    ),
    item(
      'unconfigured_affiliates',
      found.affiliates,
      `Whoever is not configured earns nothing, and the latest customers name ${firstNames(found.affiliates)}. Correct the customers, or the integrations team configures whom they name.`,
    ),
  ])
}

/** Returns when the previous secrets and the Brand Tokens of an account end that end soon, in milliseconds. */
async function readEnds(env: Env, account: string, now: number): Promise<number[]> {
  const [clients, tokens] = await Promise.all([
    listClients(env.DB, account),
    listBrandTokens(env.DB, account),
  ])
  const secrets = clients.map((one) => (one.revoked ? null : one.previous_ends_at))
  return [...secrets, ...tokens.map(({ ends_at }) => ends_at)]
    .filter((end) => end !== null)
    .filter((end) => end > now && end <= now + EXPIRING_DAYS * DAY_MS)
    .sort((a, b) => a - b)
}

function feedItems(feeds: readonly Feed[], urlOf: (path: string) => string): Attention[] {
  const namesOf = (some: readonly Feed[]) => some.map(({ resource }) => resource)
  const late = namesOf(feeds.filter(({ yesterday }) => yesterday === 'missing'))
  const refusing = feeds.filter((feed) => (feed.refused_share_last_day ?? 0) > HIGH_REFUSED_SHARE)
  const refused = namesOf(refusing)
  return [
    item(
      'feed_late',
      late,
      `The activity of yesterday was due at ${DUE_TIME} and has not arrived: ${quoteAll(late)}. Send it; records are accepted late, too.`,
      { url: urlOf('feed') },
    ),
    item(
      'refused_records',
      refused,
      `More than ${HIGH_REFUSED_SHARE * 100} % of the records of the last 24 hours were not stored: ${quoteAll(refused)}. Correct what was rejected, and send all again.`,
      {
        count: sumOf(
          refusing.map((feed) => ({ count: feed.rejected_last_day + feed.not_stored_last_day })),
        ),
        url: urlOf('deliveries?outcome=refused'),
      },
    ),
  ]
}

/** Returns what concerns webhooks, and postbacks of affiliates, that have failed for a day or are disabled. */
function endpointItems(failing: Awaited<ReturnType<typeof readFailingEndpoints>>): Attention[] {
  const own = failing.filter(({ affiliate_id }) => affiliate_id === null)
  const hosts = own.map(({ url }) => new URL(url).host)
  const trackers = failing.flatMap(({ affiliate_id }) => affiliate_id ?? [])
  const affiliates = [...new Set(trackers)]
  return [
    item(
      'failing_webhooks',
      hosts,
      `Webhooks to ${firstNames(hosts)} have failed for a day, or so often that they are disabled. Correct the receiver; then the integrations team enables the webhooks and replays what is missing.`,
    ),
    item(
      'failing_postbacks',
      affiliates,
      `Postbacks of ${firstNames(affiliates)} have failed for a day, or so often that they are stopped. Say so: an affiliate can let a postback go on.`,
      { count: trackers.length },
    ),
  ]
}

/** From how many applications on it is said that the form will close. */
const MANY_APPLICATIONS = 150

const applicationsText = (count: number) =>
  `Whoever wants to become an affiliate waits for a decision.${
    count < MANY_APPLICATIONS
      ? ''
      : ` At ${APPLICATION_LIMITS.waiting} the form says that it is full, and takes no more.`
  }`

/** Reads what waits for the integrations team alone: drafts, rates, payments, cases and questions. */
export async function readTeamWork(env: Env, call: Call): Promise<Attention[]> {
  const { grant, session } = call
  const { account } = grant
  const since = Date.now() - LOWERED_DAYS * DAY_MS
  const [
    { unapproved, waiting },
    review,
    payouts,
    questions,
    applications,
    { names: lowered },
    invited,
    unmanaged,
  ] = await Promise.all([
    countDrafts(session, account, todayOf(grant)),
    readCasesToNote(session, account),
    readPayoutWork(call),
    countOpenQuestions(session, account),
    countWaiting(session, account),
    listLowered(env.DB, account, since),
    call.member.affiliates === 'all' ? invitedByRoot(env.DB, account, since) : [],
    readUnmanaged(env, call),
  ])
  const periods = unapproved.map(({ period }) => period)
  const asking: string[] = JSON.parse(questions.affiliates)
  return withoutEmpty([
    item(
      'unapproved_drafts',
      periods,
      `Not approved, although the period has ended: ${firstNames(periods, String)}. Approve the earliest first.`,
      { count: unapproved.reduce((sum, { drafts }) => sum + drafts, 0) },
    ),
    item(
      'waiting_for_rates',
      waiting.map(({ currency }) => currency),
      `Not paid before there is an exchange rate: ${waiting.map(({ currency, count }) => `${counted(count, 'amount')} in ${currency}`).join(', ')}. Import the rates and compute the periods again.`,
      { count: sumOf(waiting) },
    ),
    casesItem(
      'open_cases',
      review.undecided,
      'To decide, because of a high severity or a held payout',
    ),
    casesItem(
      'waiting_cases',
      review.waiting,
      'To decide by a second person, the same or differently',
    ),
    ...payouts,
    unmanaged,
    item(
      'lowered_settings',
      JSON.parse(lowered),
      `In the last ${LOWERED_DAYS} days it was asked for, or begun with, that one person approves what is paid, or that new bank details wait for less than 72 hours. The audit log says by whom.`,
    ),
    item(
      'root_invitations',
      invited,
      `In the last ${LOWERED_DAYS} days the root key has invited ${firstNames(invited)}. If none of you did, remove them and change the key.`,
    ),
    item('open_questions', asking, `What ${firstNames(asking)} asked waits for an answer.`, {
      count: questions.open,
    }),
    item('waiting_applications', [], applicationsText(applications), { count: applications }),
  ])
}

async function readUnmanaged(env: Env, { grant, session }: Call): Promise<Attention> {
  const [managers, members] = await Promise.all([
    listManaged(session, grant.account),
    memberIds(env.DB),
  ])
  const gone = managers.filter(({ manager }) => !members.has(manager))
  const left = gone.flatMap(({ affiliates }): string[] => JSON.parse(affiliates))
  return item(
    'unmanaged_affiliates',
    left,
    `Who looked after ${firstNames(left)} is no member of the team any more. Choose another one.`,
  )
}

/** Reads what waits of payments and bank details. */
async function readPayoutWork(call: Call): Promise<Attention[]> {
  const { session: db, actor, role } = call
  const { id: account, approvals } = call.account
  const areTwo = approvals > 1
  const mayConfirm = isAtLeast(role, 'approver') && !(areTwo && actor === ROOT_ACTOR)
  const [prepared, returned, moved, payees, same] = await Promise.all([
    mayConfirm ? listToConfirm(db, account, actor, areTwo) : [],
    countReturned(db, account),
    countOpenMovements(db, account),
    listWaiting(db, account),
    listSameAccount(db, account),
  ])
  const paidBack: string[] = JSON.parse(returned.affiliates)
  const references: string[] = JSON.parse(moved.names)
  const unusable: string[] = JSON.parse(payees.names)
  const sharing: string[] = JSON.parse(same.names)
  const batches = prepared.map(({ id, total, currency }) => `${id} for ${total} ${currency}`)
  return [
    item(
      'prepared_batches',
      prepared.map(({ id }) => id),
      `Prepared, and waiting for your confirmation: ${firstNames(batches, String)}.`,
    ),
    item(
      'returned_payments',
      paidBack,
      `Paid to ${firstNames(paidBack)}, but it came back, or the bank refused it: it is due again. Look at the bank details, then tick it in To pay.`,
      { count: returned.count },
    ),
    item(
      'unbooked_movements',
      references,
      `Money that left or came back and is not booked: ${firstNames(references, String)}. Look at it with your bank, then dismiss it with a reason. Whoever was paid twice is not in the next batch until then.`,
      { count: moved.count },
    ),
    item(
      'waiting_payees',
      unusable,
      `Bank details that wait for an approval or are blocked: ${firstNames(unusable)}. Until they are approved, or entered anew, nothing is paid to them or from them.`,
    ),
    item(
      'same_account',
      sharing,
      `Paid to the account of another affiliate: ${firstNames(sharing)}. Look at their bank details, and say why that is right.`,
    ),
  ]
}

function casesItem(
  code: 'open_cases' | 'waiting_cases',
  all: readonly CasesOf[],
  what: string,
): Attention {
  const names = all.map(({ affiliate_id }) => affiliate_id)
  const own = all.map(
    ({ affiliate_id, cases }) => `${counted(cases, 'case')} of ${quote(affiliate_id)}`,
  )
  const count = all.reduce((sum, { cases }) => sum + cases, 0)
  return item(code, names, `${what}: ${firstNames(own, String)}.`, { count })
}
