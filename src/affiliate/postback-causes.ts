import { type PageJob, pagesOf, sendJobs } from '../admin/jobs.ts'
import { BOOK_LIMITS } from '../commission/books/limits.ts'
import { parsePeriod } from '../commission/engine/calendar.ts'
import type { Adjustment, StatementLine } from '../commission/statements/draft.ts'
import { parseScope } from '../commission/statements/line-groups.ts'
import { splitItems } from '../commission/statements/present.ts'
import { wordsFor } from '../commission/statements/select-facts.ts'
import { resolveDatabase } from '../db/database.ts'
import { findAccounts, pseudonymKeyOf } from '../db/directory/accounts.ts'
import { SUBS } from '../db/directory/clicks.ts'
import { linksOf } from '../db/directory/links.ts'
import { readMapping } from '../db/directory/status-maps.ts'
import { limitQueries } from '../db/query-limit.ts'
import { linkAffiliates } from '../db/reports/read-report.ts'
import { withD1Retry } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ulidPrefix, ulidTime } from '../db/ulid.ts'
import {
  accountsWithWants,
  type BookEntry,
  type CausedEvent,
  type CauseQuery,
  type CustomerDetails,
  dropProgress,
  insertCaused,
  putSubs,
  readDetails,
  readEntries,
  readFirstDeposits,
  readItems,
  readOnceLines,
  readProgress,
  readSignups,
  readWants,
  type Signup,
  type StoredDetails,
  setProgress,
  type Want,
} from '../db/webhooks/postback-causes.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { errorName } from '../errors.ts'
import { firstIdAt } from '../ingest/delivery-id.ts'
import { queueSoon } from '../webhooks/causes.ts'
import type { PostbackEvent } from '../webhooks/events.ts'
import { keyedDigest } from './pseudonyms.ts'

// The causes of postbacks, which a cron reads each minute for the accounts that have any. Nothing is added to
// a delivery, to a run or to an approval: what these store is their trace. `signup` is a customer whom a
// delivery since the last reading has written and whose signup is recent; its affiliate is the one of that day.
// `first_deposit` is the first approved deposit since the signup, of a transaction that such a delivery has
// written, or of a customer whom it has written: their transactions may have waited for them. `qualified` is a
// line of a rule that pays once, in the statements as the last run has left them. The others are entries of the
// ledger, whose ids begin with their time: `earned` has the lines of its statement, `adjusted` its corrections
// and `manual` its manual entries, so that the amounts of the events add up to the entry; `paid` is one event.
// The id of an event is a keyed digest of its cause, which names its customer, and begins with its time: a cause
// that is read again, or after a restore, is the same event, and is stored once. Events are kept for 30 days after
// the time of their cause, and older causes cause none. How far the causes were read is stored in the transaction
// of the last events: what was interrupted is read again.

/** The oldest cause of an event, in milliseconds: before its event expires. */
const RECENT_MS = 28 * DAY_MS

/** How long before the last reading the next one begins, in milliseconds: a transaction may end that late. */
const OVERLAP_MS = BOOK_LIMITS.commitMs

/** How long ago statements were computed of which a period can be recent, in milliseconds. */
const COMPUTED_MS = 70 * DAY_MS

/** The events that one transaction stores. */
const BATCH = 500

/** An account whose causes are read, and what its postbacks want. */
interface Reading {
  readonly env: Env
  readonly db: D1Database
  readonly account: Account
  readonly pseudonymKey: string
  readonly now: number
  /** When the first postback was created that wants a type, in milliseconds, by affiliate and type. */
  readonly wants: ReadonlyMap<string, number>
  readonly affiliates: readonly string[]
  /** Whose each link of these affiliates is. */
  readonly ownLinks: ReadonlyMap<string, string>
  readonly query: CauseQuery
}

const wantKey = (affiliate: string, type: string) => JSON.stringify([affiliate, type])

/** A cause of an event. */
interface Cause {
  readonly affiliate_id: string
  readonly type: PostbackEvent
  /** What tells it from the other causes of the type and affiliate. */
  readonly of: readonly (string | null)[]
  /** In milliseconds. */
  readonly at: number
  readonly data: object
}

const ID_DIGITS = 16

async function toEvent({ account, pseudonymKey }: Reading, cause: Cause): Promise<CausedEvent> {
  const { affiliate_id, type, at, data, of } = cause
  const causeKey = JSON.stringify([affiliate_id, ...of])
  const digits = await keyedDigest(pseudonymKey, JSON.stringify([account.id, type, causeKey]))
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(11, '0')
  return {
    id: `evt_${time}${digits.slice(0, ID_DIGITS)}`,
    affiliate_id,
    type,
    about: causeKey,
    at,
    data,
  }
}

/** Stores the events of causes that a postback wants, each once. `isWanted` decides instead, if it is given. */
async function store(
  reading: Reading,
  causes: readonly Cause[],
  isWanted = ({ affiliate_id, type, at }: Cause) => {
    const since = reading.wants.get(wantKey(affiliate_id, type))
    // `skipQualified` has stored what was found before.
    return since !== undefined && (type === 'qualified' || at >= since)
  },
): Promise<number> {
  const { db, account, now } = reading
  const wanted = causes.filter((one) => one.at >= now - RECENT_MS && isWanted(one))
  for (let i = 0; i < wanted.length; i += BATCH) {
    const part = wanted.slice(i, i + BATCH).map((one) => toEvent(reading, one))
    const events = await Promise.all(part)
    await withD1Retry(() => insertCaused(db, account.id, events, now).run())
  }
  return wanted.length
}

/** Returns what an event says of a customer: their link only if it is one of the affiliate's own. */
function detailsOf(
  reading: Reading,
  affiliate: string,
  found: CustomerDetails | StoredDetails | undefined,
) {
  if (!found) return {}
  const { link, country_code, affiliate_id } = found
  const isOwn = link !== null && reading.ownLinks.get(link) === affiliate
  return {
    ...(isOwn && { link_id: link, ...subsOf(found) }),
    ...(country_code !== null && affiliate_id === affiliate && { country: country_code }),
  }
}

/** Returns the parameters of the click of a customer: as they were stored or, without that, as the click has them. */
function subsOf(found: CustomerDetails | StoredDetails): Record<string, string> {
  const stored = 'subs' in found && found.subs !== null ? JSON.parse(found.subs) : {}
  return Object.fromEntries(
    SUBS.flatMap((name) => {
      const value = found[name] ?? stored[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )
}

/** Keeps the parameters of the clicks of new customers: postbacks of later months need them. */
async function keepSubs(reading: Reading, signups: readonly Signup[]): Promise<void> {
  const rows = signups.flatMap((one) => {
    const affiliate = one.affiliate_id ?? ''
    const { link_id, ...rest } = detailsOf(reading, affiliate, one) as { link_id?: string }
    const subs = link_id === undefined ? {} : subsOf({ ...one, ...rest })
    return Object.keys(subs).length === 0 ? [] : [[one.customer_id, affiliate, subs] as const]
  })
  const { db, account } = reading
  if (rows.length > 0) await withD1Retry(() => putSubs(db, account.id, rows).run())
}

/** How long a click may wait in its queue before it is stored, in milliseconds. */
const CLICK_MS = MINUTE_MS

/**
 * Whether the click by which a customer came may not be stored yet: the next reading finds the customer again, for
 * readings overlap by more than this.
 */
const waitsForClick = (found: CustomerDetails, at: number): boolean =>
  found.link !== null &&
  Math.abs(Date.now() - at) < CLICK_MS &&
  Object.keys(subsOf(found)).length === 0

async function readCustomerCauses(reading: Reading): Promise<Cause[]> {
  const { db, account, query } = reading
  const [foundSignups, foundDeposits] = await Promise.all([
    readSignups(db, query),
    account.vertical === 'forex' ? readFirstDeposits(db, query) : [],
  ])
  const signups = foundSignups.filter((one) => !waitsForClick(one, one.at))
  const deposits = foundDeposits.filter((one) => !waitsForClick(one, one.transaction_date))
  await keepSubs(reading, signups)
  const causeOf = (one: CustomerDetails, type: PostbackEvent, at: number, data: object): Cause => {
    const affiliate_id = one.affiliate_id ?? ''
    const own = { customer: one.customer_id, ...detailsOf(reading, affiliate_id, one) }
    return { affiliate_id, type, of: [one.customer_id], at, data: { ...own, ...data } }
  }
  return [
    ...signups.map((one) => causeOf(one, 'signup', one.at, {})),
    ...deposits.map((one) =>
      causeOf(one, 'first_deposit', one.transaction_date, {
        amount: String(one.amount_currency),
        currency: one.currency,
      }),
    ),
  ]
}

/** Returns the customer that a scope names; null if it names something else. */
function customerOf(scope: string | null): string | null {
  if (scope === null) return null
  const { of, id } = parseScope(scope)
  return of === 'customer' ? id : null
}

/** Reads how the customers of scopes came to an affiliate, by customer. */
async function readScopes(
  { db, account, query }: Reading,
  affiliate_id: string,
  scopes: readonly (string | null)[],
): Promise<ReadonlyMap<string, StoredDetails>> {
  const ids = [...new Set(scopes.flatMap((scope) => customerOf(scope) ?? []))]
  if (ids.length === 0) return new Map()
  const { links, last_day } = query
  const values = { account: account.id, links, last_day, affiliate_id }
  const found = await readDetails(db, values, ids)
  return new Map(found.map((one) => [one.customer_id, one]))
}

/** Returns what an event says of the scope of a line. */
function scopeDetails(
  reading: Reading,
  affiliate: string,
  scope: string | null,
  found: ReadonlyMap<string, StoredDetails>,
) {
  const customer = customerOf(scope)
  if (customer === null) return {}
  return { customer, ...detailsOf(reading, affiliate, found.get(customer)) }
}

/** Reads the lines of rules that pay once of some affiliates: each is a customer who qualified. */
async function readQualified(reading: Reading, affiliates: readonly string[]): Promise<Cause[]> {
  const { db, account, now } = reading
  const lines = await readOnceLines(db, {
    account: account.id,
    affiliates: JSON.stringify(affiliates),
    oldest: now - COMPUTED_MS,
  })
  const causes: Cause[] = []
  for (const [affiliate_id, own] of Map.groupBy(lines, (one) => one.affiliate_id)) {
    const found = await readScopes(
      reading,
      affiliate_id,
      own.map(({ scope }) => scope),
    )
    for (const { plan, period, currency, rule, scope, amount } of own) {
      const last = parsePeriod(period)?.last
      if (last === undefined) continue
      const data = {
        amount,
        currency,
        period,
        ...scopeDetails(reading, affiliate_id, scope, found),
      }
      const of = [plan, rule, customerOf(scope)]
      causes.push({ affiliate_id, type: 'qualified', of, at: last * DAY_MS, data })
    }
  }
  return causes
}

const isNotZero = ({ amount }: { readonly amount: string }) => /[1-9]/.test(amount)

/** Yields the causes that an entry of the ledger stands for, one part of its statement after the other. */
async function* readEntryCauses(reading: Reading, entry: BookEntry): AsyncGenerator<Cause[]> {
  const { affiliate_id, kind, statement, currency, period, reference } = entry
  const at = ulidTime(entry.id)
  const causeOf = (type: PostbackEvent, of: readonly string[], data: object): Cause => ({
    ...{ affiliate_id, type, of, at },
    data: { currency, period, ...data },
  })
  if (kind === 'paid') {
    const amount = entry.amount.replace(/^-/, '')
    yield [causeOf('statement.paid', [statement, reference ?? ''], { amount })]
    return
  }
  for (let part = 1; ; part++) {
    const found = await readItems(reading.db, { account: reading.account.id, statement, part })
    if (!found || found.lines === null) return
    if (kind === 'manual') {
      const manual: { id: string; amount: string }[] = JSON.parse(found.manual ?? '[]')
      yield manual
        .filter(isNotZero)
        .map(({ id, amount }) => causeOf('commission.adjusted', [id], { amount }))
      return
    }
    const { lines, adjustments } = splitItems(JSON.parse(found.lines))
    const items: readonly (StatementLine | Adjustment)[] = kind === 'earned' ? lines : adjustments
    const type = kind === 'earned' ? 'commission.approved' : 'commission.adjusted'
    const details = await readScopes(
      reading,
      affiliate_id,
      items.map(({ scope }) => scope),
    )
    yield items.filter(isNotZero).map(({ id, amount, scope }) => {
      const of = scopeDetails(reading, affiliate_id, scope, details)
      return causeOf(type, [id], { amount, ...of })
    })
  }
}

/** Returns the times from which on types are wanted, by affiliate and type. */
const wantedSince = (wants: readonly Want[]): ReadonlyMap<string, number> =>
  new Map(wants.map((one) => [wantKey(one.affiliate_id, one.type), one.since]))

/** Prepares to read the causes of an account from `from` (milliseconds) on. */
async function openReading(
  env: Env,
  account: Account,
  wants: readonly Want[],
  { now, from }: { readonly now: number; readonly from: number },
): Promise<Reading> {
  const affiliates = [...new Set(wants.map(({ affiliate_id }) => affiliate_id))]
  const isBrand = account.vertical === 'igaming'
  const [statusMap, links, ownLinks, pseudonymKey] = await Promise.all([
    readMapping(env.DB, account.id, 'status'),
    isBrand ? linkAffiliates(env.DB, account.id) : new Map<string, string>(),
    linksOf(env.DB, account.id, affiliates),
    pseudonymKeyOf(env.DB, account),
  ])
  const sinces = wants.map(({ since }) => since)
  const since = Math.max(now - RECENT_MS, Math.min(now, ...sinces))
  return {
    ...{ env, account, pseudonymKey, now, affiliates, db: resolveDatabase(env, account.binding) },
    wants: wantedSince(wants),
    ownLinks,
    query: {
      account: account.id,
      first: firstIdAt(from),
      since,
      since_day: Math.floor(since / DAY_MS) - 1,
      last_day: Math.floor(now / DAY_MS) + 1,
      affiliates: JSON.stringify(affiliates),
      links: JSON.stringify(Object.fromEntries(links)),
      approved: JSON.stringify(wordsFor(statusMap, ['approved'])),
    },
  }
}

/** The affiliates whose qualified customers one part of a reading finds. */
const AFFILIATES = 20

/** Yields the parts of a reading, in an order that later messages repeat. Each returns how many events it found. */
async function* partsOf(
  reading: Reading,
  qualified: readonly string[],
  first: string,
): AsyncGenerator<() => Promise<number>> {
  yield async () => store(reading, await readCustomerCauses(reading))
  for (const affiliates of pagesOf(qualified, AFFILIATES)) {
    yield async () => store(reading, await readQualified(reading, affiliates))
  }
  for (const entry of await readEntries(reading.db, { ...reading.query, first })) {
    yield async () => {
      let stored = 0
      for await (const causes of readEntryCauses(reading, entry))
        stored += await store(reading, causes)
      return stored
    }
  }
}

/**
 * Reads the causes of an account since the last reading, and stores their events: parts from `done` on, until
 * `isSpent`, but at least one. Returns how many parts are done; null if all are.
 */
async function readCauses(
  env: Env,
  account: Account,
  wants: readonly Want[],
  { now, done, isSpent }: { now: number; done: number; isSpent: () => boolean },
): Promise<number | null> {
  const db = resolveDatabase(env, account.binding)
  const values = { account: account.id, now, overlap: OVERLAP_MS }
  const progress = await readProgress(db, values)
  if (!progress) return null
  const from = progress.read_to - OVERLAP_MS
  const reading = await openReading(env, account, wants, { now, from })
  const ofQualified = progress.has_run === 1 ? wants.filter(({ type }) => type === 'qualified') : []
  const qualified = ofQualified.map(({ affiliate_id }) => affiliate_id).sort()
  let stored = 0
  let number = 0
  let isComplete = true
  for await (const part of partsOf(reading, qualified, ulidPrefix(Math.max(0, from)))) {
    isComplete = number <= done || !isSpent()
    if (!isComplete) break
    if (number >= done) stored += await part()
    number += 1
  }
  if (isComplete && progress.is_releasing === 0) {
    await withD1Retry(() => setProgress(db, account.id, now).run())
  }
  if (stored > 0) await queueSoon(env, account.binding, account.id)
  return isComplete ? null : number
}

/**
 * Stores the customers of an affiliate who have qualified so far as events without a message: a postback that
 * is created or enabled now is not sent what was found before.
 */
export async function skipQualified(
  env: Env,
  account: Account,
  affiliate_id: string,
  now: number,
): Promise<void> {
  const want = { account: account.id, affiliate_id, type: '', since: now }
  const reading = await openReading(env, account, [want], { now, from: now })
  await store(reading, await readQualified(reading, [affiliate_id]), () => true)
}

/** The accounts whose causes one message reads. */
const ACCOUNTS = 10

/** The queries of a message: it begins no part of a reading after `enough`, and ends one after `most`. */
export const POSTBACK_QUERIES = { enough: 250, most: 480 }

/** Puts a message on the queue for each page of accounts of a database with postbacks. */
export async function queuePostbacks(env: Env, binding: string, at: number): Promise<void> {
  const db = resolveDatabase(env, binding)
  await withD1Retry(() => dropProgress(db).run())
  const pages = pagesOf(await accountsWithWants(db), ACCOUNTS)
  await sendJobs(
    env,
    pages.map((accounts) => ({ job: 'postbacks', binding, accounts, at })),
  )
}

/**
 * Reads the causes of postbacks of some accounts of a database, and stores and sends their events. If the queries
 * of a message do not suffice, another one goes on. A failure is logged: the message of the next minute reads again.
 */
export async function readPostbackCauses(env: Env, job: PageJob<'postbacks'>): Promise<void> {
  const { binding, at } = job
  const used = { queries: 0 }
  const limited = limitQueries(env, POSTBACK_QUERIES.most, () => {}, used)
  const isSpent = () => used.queries > POSTBACK_QUERIES.enough
  // What happens later than by the clock is not read yet.
  const now = Math.min(at, Date.now())
  const wants = Map.groupBy(
    await readWants(resolveDatabase(limited, binding), job.accounts),
    (one) => one.account,
  )
  const found = await findAccounts(limited.DB, job.accounts)
  const accounts = found.filter((one) => one.disabled === 0 && one.binding === binding)
  for (const [i, account] of accounts.entries()) {
    const rest = accounts.slice(i).map(({ id }) => id)
    const done = account.id === job.accounts[0] ? (job.done ?? 0) : 0
    if (i > 0 && isSpent()) return sendJobs(env, [{ ...job, accounts: rest, done }])
    const own = wants.get(account.id)
    if (!own) continue
    try {
      const left = await readCauses(limited, account, own, { now, done, isSpent })
      if (left !== null) return sendJobs(env, [{ ...job, accounts: rest, done: left }])
    } catch (error) {
      const [fault, delayed] = [errorName(error), 'postbacks']
      console.error(JSON.stringify({ fault, delayed, account: account.id }))
    }
  }
}
