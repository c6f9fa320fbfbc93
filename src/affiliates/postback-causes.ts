import { clickTime } from '../attribution/code.ts'
import { SUBS } from '../attribution/db/clicks.ts'
import { linksOf } from '../attribution/db/links.ts'
import { BOOK_LIMITS } from '../books/limits.ts'
import { parsePeriod } from '../commission/engine/calendar.ts'
import { add, decimal, fixedText } from '../commission/engine/decimal.ts'
import type { Adjustment, StatementLine } from '../commission/statements/draft.ts'
import { parseScope } from '../commission/statements/line-groups.ts'
import { splitItems } from '../commission/statements/present.ts'
import { wordsFor } from '../commission/statements/select-facts.ts'
import { firstIdAt } from '../ingest/delivery-id.ts'
import { accountDatabase, resolveDatabase } from '../platform/db/database.ts'
import { limitQueries } from '../platform/db/query-limit.ts'
import { withD1Retry } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { ulidPrefix, ulidTime } from '../platform/db/ulid.ts'
import { findAccounts, pseudonymKeyOf } from '../platform/directory/accounts.ts'
import { readMapping } from '../platform/directory/status-maps.ts'
import { DAY_MS, MINUTE_MS } from '../platform/durations.ts'
import { errorName } from '../platform/errors.ts'
import { type PageJob, pagesOf, sendJobs } from '../platform/jobs.ts'
import { linkAffiliates } from '../reports/db/read-report.ts'
import { queueSoon } from '../webhooks/causes.ts'
import { type PostbackEvent, RETURNED_EVENT } from '../webhooks/events.ts'
import {
  accountsWithWants,
  type BookEntry,
  type CausedEvent,
  type CauseQuery,
  type CustomerDetails,
  dropProgress,
  insertCaused,
  type OnceLine,
  putSubs,
  readDetails,
  readEntries,
  readFirstDeposits,
  readItems,
  readOnceLines,
  readProgress,
  readSent,
  readSignups,
  readWants,
  type SentEvent,
  type Signup,
  type StoredDetails,
  setProgress,
  type Want,
} from './db/postback-causes.ts'
import { keyedDigest } from './pseudonyms.ts'

// The causes of postbacks, which a cron reads each minute for the accounts that have any. Nothing is added to
// a delivery, to a run or to an approval: what these store is their trace. `signup` is a customer whom a
// delivery since the last reading has written and whose signup is recent; its affiliate is the one of that day.
// `first_deposit` is the first approved deposit since the signup, of a customer of whom such a delivery has written
// a deposit, or whom it has written: their transactions may have waited for them. `qualified` is a line of a rule
// that pays once, in the statements as the last run has left them, with its corrections. The others are entries of
// the ledger, whose ids begin with their time: `earned` has the lines of its statement, `adjusted` its corrections
// and `manual` its manual entries, so that the amounts of the events add up to the entry; `paid` is one event, and
// `returned` takes it back. A first deposit or a qualification that is no more, or has another amount, is taken
// back too: by an event with the negative amount, whose id and `about` are those of the first with `-r`. If it comes
// back, so does its event, with one more `-r`.
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
  /** What tells it from the other causes of the type. */
  readonly of: readonly (string | null)[]
  /** In milliseconds. */
  readonly at: number
  /** How the customer came; absent if it is about none. */
  readonly found?: CustomerDetails | undefined
  readonly data: object
}

const ID_DIGITS = 16

const keyOf = ({ of }: Cause) => JSON.stringify(of)

/** Returns what the keys of causes begin with whose first parts are given. */
const startOf = (...parts: readonly string[]) => `${JSON.stringify(parts).slice(0, -1)},`

const TAKEN_BACK = '-r'

async function toEvent({ account, pseudonymKey }: Reading, cause: Cause): Promise<CausedEvent> {
  const { affiliate_id, type, at, data } = cause
  const digits = await keyedDigest(pseudonymKey, JSON.stringify([account.id, type, keyOf(cause)]))
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(11, '0')
  const id = `evt_${time}${digits.slice(0, ID_DIGITS)}`
  return { id, affiliate_id, type, about: keyOf(cause), at, data }
}

/** Returns the event that takes another one back, which may have taken back one before. */
function takeBack({ id, about, data, ...event }: SentEvent, now: number): CausedEvent {
  const { amount, ...values } = JSON.parse(data)
  const opposite = amount.startsWith('-') ? amount.slice(1) : `-${amount}`
  const names = { id: id + TAKEN_BACK, about: about + TAKEN_BACK }
  return { ...event, ...names, at: now, data: { ...values, amount: opposite } }
}

async function insert({ db, account, now }: Reading, events: readonly CausedEvent[]) {
  for (let i = 0; i < events.length; i += BATCH) {
    const part = events.slice(i, i + BATCH)
    await withD1Retry(() => insertCaused(db, account.id, part, now).run())
  }
  return events.length
}

/** Stores the events of causes that a postback wants, each once. `isWanted` decides instead, if it is given. */
async function store(
  reading: Reading,
  causes: readonly Cause[],
  isWanted = ({ affiliate_id, type, at, found }: Cause) => {
    const since = reading.wants.get(wantKey(affiliate_id, type))
    // `skipQualified` has stored what was found before.
    const isSince = since !== undefined && (type === 'qualified' || at >= since)
    return isSince && !(found && waitsForClick(found))
  },
): Promise<number> {
  const wanted = causes.filter((one) => one.at >= reading.query.since && isWanted(one))
  return insert(reading, await Promise.all(wanted.map((one) => toEvent(reading, one))))
}

/** Stores the events by which those of a type add up to the causes of now, among those with one of some starts. */
async function settle(
  reading: Reading,
  type: PostbackEvent,
  { causes, starts }: { readonly causes: readonly Cause[]; readonly starts: readonly string[] },
): Promise<number> {
  const { db, account, now, query } = reading
  if (starts.length === 0) return 0
  const sent = Map.groupBy(await readSent(db, account.id, type, starts), ({ about }) =>
    about.slice(0, about.lastIndexOf(']') + 1),
  )
  const keys = new Set(causes.map(keyOf))
  const changed = [...sent].flatMap(([key, events]) => {
    const [first, last] = [events[0], events.at(-1)]
    const isChanged = (events.length % 2 === 1) !== keys.has(key)
    return first && last && isChanged && first.at >= query.since ? [takeBack(last, now)] : []
  })
  const fresh = causes.filter((one) => !sent.has(keyOf(one)))
  return (await insert(reading, changed)) + (await store(reading, fresh))
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
 * Whether the click by which a customer came may not be stored yet: the next reading finds the cause again, for
 * readings overlap by more than this.
 */
const waitsForClick = ({ link, clicked_at, tracking_data }: CustomerDetails): boolean =>
  link !== null &&
  clicked_at === null &&
  Date.now() - (clickTime(tracking_data ?? '') ?? 0) < CLICK_MS

/** Reads the customers that were written or deposited, and stores the events about them. */
async function storeCustomerCauses(reading: Reading): Promise<number> {
  const { db, account, query } = reading
  const [signups, deposits] = await Promise.all([
    readSignups(db, query),
    account.vertical === 'forex' ? readFirstDeposits(db, query) : [],
  ])
  await keepSubs(reading, signups)
  const causeOf = (found: CustomerDetails, type: PostbackEvent, at: number, data = {}): Cause => {
    const { customer_id, affiliate_id } = found
    const affiliate = affiliate_id ?? ''
    const own = { customer: customer_id, ...detailsOf(reading, affiliate, found), ...data }
    const of = [customer_id, ...Object.values(data).map(String), affiliate]
    return { affiliate_id: affiliate, type, of, at, found, data: own }
  }
  const first = deposits.flatMap((one) => {
    if (one.transaction_id === null) return []
    const { transaction_id, transaction_date, amount_currency, currency } = one
    const amount = String(amount_currency)
    const cause = causeOf(one, 'first_deposit', transaction_date, { amount, currency })
    return [{ ...cause, of: [...cause.of, transaction_id] }]
  })
  const starts = deposits.map(({ customer_id }) => startOf(customer_id))
  return (
    (await store(
      reading,
      signups.map((one) => causeOf(one, 'signup', one.at)),
    )) + (await settle(reading, 'first_deposit', { causes: first, starts }))
  )
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

/** Returns what an event says of the scope of a line, and how its customer came. */
function scopeDetails(
  reading: Reading,
  affiliate: string,
  scope: string | null,
  details: ReadonlyMap<string, StoredDetails>,
) {
  const customer = customerOf(scope)
  if (customer === null) return { own: {}, found: undefined }
  const found = details.get(customer)
  return { own: { customer, ...detailsOf(reading, affiliate, found) }, found }
}

/** Adds up the lines of rules that pay once and their corrections; one of nothing left is left out. */
function addUpLines(lines: readonly OnceLine[]): OnceLine[] {
  const groups = Map.groupBy(lines, ({ plan, rule, scope }) => JSON.stringify([plan, rule, scope]))
  return [...groups.values()].flatMap((group) => {
    const line = group.find(({ kind }) => kind === 'once')
    const sum = group.map((one) => decimal(one.amount)).reduce(add)
    return line && sum.units !== 0n ? [{ ...line, amount: fixedText(sum, sum.scale) }] : []
  })
}

/** Reads the customers of some affiliates who qualified under rules that pay once. */
async function readQualified(reading: Reading, affiliates: readonly string[]): Promise<Cause[]> {
  const { db, account, now } = reading
  const lines = await readOnceLines(db, {
    account: account.id,
    affiliates: JSON.stringify(affiliates),
    oldest: now - COMPUTED_MS,
  })
  const causes: Cause[] = []
  for (const [affiliate_id, all] of Map.groupBy(lines, (one) => one.affiliate_id)) {
    const lines = addUpLines(all)
    const scopes = lines.map(({ scope }) => scope)
    const details = await readScopes(reading, affiliate_id, scopes)
    for (const { plan, period, currency, rule, scope, amount } of lines) {
      const last = parsePeriod(period)?.last
      if (last === undefined) continue
      const { own, found } = scopeDetails(reading, affiliate_id, scope, details)
      const of = [affiliate_id, plan, rule, customerOf(scope), amount, currency]
      const data = { amount, currency, period, ...own }
      causes.push({ affiliate_id, type: 'qualified', of, at: last * DAY_MS, found, data })
    }
  }
  return causes
}

const isNotZero = ({ amount }: { readonly amount: string }) => /[1-9]/.test(amount)

/** Stores the events that take back the payments of a statement before it was returned. */
async function storeReturn(reading: Reading, { id, affiliate_id, statement }: BookEntry) {
  const { db, account, now } = reading
  const starts = [startOf(affiliate_id, statement)]
  const paid = await readSent(db, account.id, 'statement.paid', starts)
  const before = paid.filter(({ at }) => at <= ulidTime(id))
  return insert(
    reading,
    before.map((one) => takeBack({ ...one, type: RETURNED_EVENT }, now)),
  )
}

/** Yields the causes that an entry of the ledger stands for, one part of its statement after the other. */
async function* readEntryCauses(reading: Reading, entry: BookEntry): AsyncGenerator<Cause[]> {
  const { affiliate_id, kind, statement, currency, period, reference } = entry
  const at = ulidTime(entry.id)
  const causeOf = (type: PostbackEvent, of: readonly string[], data: object): Cause => ({
    ...{ affiliate_id, type, of: [affiliate_id, ...of], at },
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
      const { own, found } = scopeDetails(reading, affiliate_id, scope, details)
      return { ...causeOf(type, [id], { amount, ...own }), found }
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
    readMapping(env.DB, account.id),
    isBrand ? linkAffiliates(env.DB, account.id) : new Map<string, string>(),
    linksOf(env.DB, account.id, affiliates),
    pseudonymKeyOf(env.DB, account),
  ])
  const since = now - RECENT_MS
  return {
    ...{ env, account, pseudonymKey, now, affiliates, db: accountDatabase(env, account) },
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
  yield () => storeCustomerCauses(reading)
  for (const affiliates of pagesOf(qualified, AFFILIATES)) {
    const starts = affiliates.map((one) => startOf(one))
    yield async () => {
      const causes = await readQualified(reading, affiliates)
      return settle(reading, 'qualified', { causes, starts })
    }
  }
  for (const entry of await readEntries(reading.db, { ...reading.query, first })) {
    yield async () => {
      if (entry.kind === 'returned') return storeReturn(reading, entry)
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
  const db = accountDatabase(env, account)
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
  if (isComplete) await withD1Retry(() => setProgress(db, account.id, now).run())
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
