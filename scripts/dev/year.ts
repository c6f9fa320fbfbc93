import { encodeTrackingCode, newClickId } from '../../src/attribution/code.ts'
import { firstRules } from '../../src/fraud/rule-sets.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { type Call, computeStatements, senderOf } from './client.ts'
import { IB_PLAN, readPlan } from './commissions/records.ts'
import { fractions } from './fractions.ts'
import type { MemberKeys } from './members.ts'
import {
  dayText,
  type Payment,
  patternsUntil,
  type Records,
  type Signup,
  YEAR,
} from './patterns.ts'
import { BILLED, createPayouts, INVOICING, payByHand } from './payouts.ts'
import { profileOf } from './profiles.ts'

// A demo account with twelve months of records that end today: what a console shows after a year of use.

const AT = `accounts/${YEAR.account}`
const MONTHS = 12
/** Of the months that have ended: the latest is a draft, the one before is approved, all others are paid. */
const DRAFT = 10
const APPROVED = 9

/** How many customers each affiliate brings, compared with the others. IB-1 is above IB-2 and IB-4. */
const AFFILIATES = [
  { affiliate_id: 'IB-1', weight: 5 },
  { affiliate_id: 'IB-2', weight: 4, parent: 'IB-1' },
  { affiliate_id: 'IB-3', weight: 2, parent: 'IB-2' },
  { affiliate_id: 'IB-4', weight: 3, parent: 'IB-1' },
  { affiliate_id: 'IB-5', weight: 2 },
  { affiliate_id: 'AFF-1', weight: 6 },
  { affiliate_id: 'AFF-2', weight: 3 },
  { affiliate_id: 'AFF-3', weight: 1 },
  { affiliate_id: 'US-1', weight: 4 },
  { affiliate_id: 'US-2', weight: 2 },
] as const

/** The keys of the team, and those that sign clicks. */
export interface DemoKeys extends MemberKeys {
  readonly TRACKING_KEYS: string
}

interface Month {
  readonly period: string
  /** Its first day, and the last one that has come, in days since 1970-01-01. */
  readonly first: number
  readonly last: number
}

/** Returns twelve months, of which the last is that of `today` (days since 1970-01-01). */
export function monthsUntil(today: number): Month[] {
  const now = new Date(today * DAY_MS)
  const firstOf = (i: number) =>
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS + 1 + i, 1) / DAY_MS
  return Array.from({ length: MONTHS }, (_, i) => ({
    period: dayText(firstOf(i)).slice(0, 7),
    first: firstOf(i),
    last: Math.min(firstOf(i + 1) - 1, today),
  }))
}

/** Returns functions that make records by chance, and what they have made until today. */
function createRecords(today: number) {
  const random = fractions(11)
  const integer = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const pick = <T>(values: readonly T[]): T => values[integer(0, values.length - 1)] as T
  const customers: Signup[] = []
  const transactions: Payment[] = []
  const activity: object[] = []
  /** The time of a record of today must not be in the future. */
  const timeOf = (day: number) =>
    `${dayText(day)}T${String(day === today ? 0 : integer(7, 21)).padStart(2, '0')}:00:00Z`

  const signUp = (affiliate_id: string, day: number, country_code: string) => {
    const customer_id = `C-${10_001 + customers.length}`
    customers.push({ customer_id, affiliate_id, signup_date: timeOf(day), country_code })
    return customer_id
  }
  const pay = (
    customer_id: string,
    transaction_type: string,
    day: number,
    amount_currency: number,
    currency: string,
    status = random() < 0.04 ? 'declined' : 'approved',
  ) => {
    if (day > today) return
    const transaction_id = `T-${10_001 + transactions.length}`
    const kind = { transaction_type, amount_currency, currency, status }
    transactions.push({ transaction_id, customer_id, ...kind, transaction_date: timeOf(day) })
  }
  const trade = (customer_id: string, from: number, currency: string) => {
    // Some leave each time that they trade.
    for (let day = from; day <= today && random() > 0.07; day += integer(5, 12)) {
      const lots = integer(1, 60) / 10
      activity.push({
        date: dayText(day),
        customer_id,
        instrument: pick(['EURUSD', 'EURUSD', 'GBPUSD', 'XAUUSD', 'USDJPY', 'USOIL']),
        lots_traded: lots,
        spread_cost: Math.round(lots * integer(280, 620)) / 100,
        commission: Math.round(lots * 350) / 100,
        currency,
      })
    }
  }

  return { random, integer, pick, signUp, pay, trade, customers, transactions, activity }
}

/** Returns the records of all months. The number of customers grows. */
function yearOf(months: readonly Month[], today: number): Records {
  const made = createRecords(today)
  const { random, integer, pick, signUp, pay, trade } = made
  const drawn = AFFILIATES.flatMap(({ affiliate_id, weight }) =>
    Array.from({ length: weight }, () => affiliate_id),
  )
  for (const [i, { first, last }] of months.entries()) {
    const days = last - first + 1
    const count = Math.round(((14 + 1.8 * i) * days) / 30)
    for (let n = 0; n < count; n++) {
      const day = first + Math.floor(((n + random()) / count) * days)
      const affiliate = pick(drawn)
      const isUs = affiliate.startsWith('US-')
      const currency = isUs ? 'USD' : 'EUR'
      const country = isUs ? 'US' : pick(['DE', 'DE', 'FR', 'ES', 'IT', 'PL', 'AT'])
      const customer = signUp(affiliate, day, country)
      if (random() < 0.28) continue
      const deposit = day + integer(0, 5)
      pay(customer, 'deposit', deposit, integer(2, 20) * 50, currency)
      for (let again = deposit + integer(4, 20); random() < 0.5; again += integer(7, 40)) {
        pay(customer, 'deposit', again, integer(2, 24) * 50, currency)
      }
      if (random() < 0.3) {
        pay(customer, 'withdrawal', deposit + integer(20, 60), integer(1, 8) * 50, currency)
      }
      trade(customer, deposit + integer(1, 6), currency)
    }
  }
  // A deposit in a currency without an exchange rate waits in the month that is a draft.
  const { first, last } = months[DRAFT]!
  const day = Math.floor((first + last) / 2)
  pay(signUp('IB-4', day, 'AE'), 'deposit', day, 2500, 'AED', 'approved')
  return made
}

/** Stores the account with its affiliates, plans and links. Returns the link of each affiliate. */
async function configure(call: Call, from: string, planted: readonly string[]) {
  // What the demo enters can be paid at once.
  await call('POST', 'accounts', { ...YEAR, mode: 'test', payee_hold_hours: 0 })
  const affiliates = [
    ...AFFILIATES.map(({ weight: _, ...one }) => ('parent' in one ? { ...one, from } : one)),
    ...planted.map((affiliate_id) => ({ affiliate_id })),
  ]
  const described = affiliates.map((one) => ({ ...one, ...profileOf(one.affiliate_id) }))
  await call('PUT', `${AT}/affiliates`, described)
  const usPlan = { name: 'US hybrid', currency: 'USD' }
  await call('PUT', `${AT}/plans/ib-standard`, readPlan(IB_PLAN, from))
  await call('PUT', `${AT}/plans/us-hybrid`, {
    ...readPlan('examples/plans/hybrid.json', from),
    ...usPlan,
  })
  const assigned = { '*': 'ib-standard', 'US-1': 'us-hybrid', 'US-2': 'us-hybrid' }
  await call(
    'PUT',
    `${AT}/assignments`,
    Object.entries(assigned).map(([affiliate_id, plan]) => ({
      affiliate_id,
      plan,
      from,
      customers: 'new',
    })),
  )
  const links = affiliates.map(async ({ affiliate_id }) => {
    const link = { affiliate_id, landing_page: 'https://broker.example/start' }
    const { link_id } = await call<{ link_id: string }>('POST', `${AT}/links`, link)
    return [affiliate_id, link_id] as const
  })
  return new Map(await Promise.all(links))
}

/** The days of the account. */
interface Span {
  readonly months: readonly Month[]
  readonly from: string
  readonly today: number
}

/** The seconds between a click and a signup, if a pattern says nothing of it. */
const USUAL_SECONDS = 240

/**
 * Creates the account with twelve months of records that end on a day (counted from 1970), and closes its books as a
 * manager would have: earlier months are paid, the month before the last is approved, and the last one and the open
 * one are drafts. After a failure, the next start repeats every step.
 */
export async function createYear(
  base: string,
  call: Call,
  today: number,
  { approver, manager, TRACKING_KEYS }: DemoKeys,
): Promise<void> {
  const months = monthsUntil(today)
  const from = dayText(months[0]!.first)
  await createBooks(base, call, { months, from, today, trackingKeys: TRACKING_KEYS })
  await putRules(call, from)
  await createPayouts(base, AT, approver, manager)
}

async function createBooks(
  base: string,
  call: Call,
  { months, from, today, trackingKeys }: Span & { trackingKeys: string },
): Promise<void> {
  const patterns = patternsUntil(today)
  const { customers, transactions, activity } = yearOf(months, today)
  const planted = patterns.map(({ affiliate }) => affiliate)
  const links = await configure(call, from, planted)
  const signups = [customers, ...patterns.map((one) => one.customers)].flat()
  const attributed = signups.map(async ({ clicked = USUAL_SECONDS, ...customer }) => {
    const { affiliate_id, signup_date } = customer
    const origin = { link_id: links.get(affiliate_id)!, account: YEAR.account, affiliate_id }
    const click = newClickId(Date.parse(signup_date) - clicked * 1000)
    return { ...customer, tracking_data: await encodeTrackingCode(trackingKeys, origin, click) }
  })
  const issued = await call<object>('POST', `${AT}/clients`)
  const send = await senderOf(base, { ...YEAR, ...issued })
  await send('customers', await Promise.all(attributed))
  await send('transactions', [...transactions, ...patterns.flatMap((one) => one.transactions)])
  await send('trading-activity', [...activity, ...patterns.flatMap((one) => one.activity)])
  // A run computes all open months until its own.
  const compute = () => computeStatements(call, YEAR.account, months.at(-1)!.period)
  await compute()
  for (const [i, { period, last }] of months.slice(0, DRAFT).entries()) {
    if (i === APPROVED) await beginInvoices(call, period)
    await call('POST', `${AT}/periods/${period}/approve`, {})
    // The plan holds what it pays for two weeks.
    if (i < APPROVED) await payByHand(call, AT, dayText(last + 15))
  }
  await send('transactions', [reversalOf(transactions, months[APPROVED - 1]!)])
  await compute()
}

/** Approves what others earned in a period, and begins to write invoices: that of one affiliate waits for their agreement. */
async function beginInvoices(call: Call, period: string): Promise<void> {
  const query = `period=${period}&status=draft&per_page=100`
  const { data } = await call<{ data: { id: string; hash: string; affiliate_id: string }[] }>(
    'GET',
    `${AT}/statements?${query}`,
  )
  for (const { id, hash, affiliate_id } of data)
    if (affiliate_id !== BILLED) await call('POST', `${AT}/statements/${id}/approve`, { hash })
  await call('PATCH', AT, { self_billing: 'invoice', invoicing: INVOICING })
}

/** Stores the usual rules for all days from one on, and evaluates them, so that cases are listed. */
async function putRules(call: Call, from: string): Promise<void> {
  const at = `${AT}/fraud-rules`
  const rules = Object.entries(firstRules(YEAR.vertical, from))
  for (const [rule, terms] of rules) {
    // This one also finds customers who withdrew what they won.
    const scope = rule === 'lot-churn' ? { scope: { affiliates: ['CHURN-1'] } } : {}
    await call('PUT', `${at}/${rule}`, { ...terms, ...scope })
  }
  for (let isDone = false; !isDone; ) {
    isDone = (await call<{ done: boolean }>('POST', `${at}/run`)).done
  }
}

/** Returns the last deposit of a month that is paid, as it is sent once the bank has taken it back. */
function reversalOf(transactions: readonly Payment[], { period }: Month): Payment {
  const found = transactions.findLast(
    ({ transaction_type, transaction_date: at, amount_currency, status }) =>
      transaction_type === 'deposit' &&
      status === 'approved' &&
      amount_currency >= 500 &&
      at.startsWith(period),
  )
  if (!found) throw new Error('The demo has no deposit to reverse.')
  return { ...found, status: 'declined' }
}
