import { DAY_MS } from '../../src/durations.ts'
import { fractions } from './fractions.ts'
import { plantPatterns, putRules, type Target } from './fraud/create.ts'
import { profileOf } from './profiles.ts'
import { sendLocal } from './send-local.ts'

// A demo account with twelve months of records that end today: what a console shows after a year of use.

/** Calls `/admin/v1`. A 404 and a 409 are answers as well. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** The account with a year of records. Its months depend on the day on which it is created. */
export const YEAR = { account: 'demo-broker', name: 'Demo Broker', vertical: 'forex' } as const

const LANDING_PAGE = 'https://broker.example/start'
const AT = `accounts/${YEAR.account}`
const MONTHS = 12
/** Of the months that have ended: the latest is a draft, the one before is approved, all others are paid. */
const DRAFT = 10
const APPROVED = 9
/** The maximum number of records of a request. */
const BULK = 1000

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

/** More people sign up in spring and autumn than in summer: a factor for each month from January. */
const SEASON = [1.1, 1.05, 1.15, 1.1, 1, 0.85, 0.75, 0.8, 1.05, 1.2, 1.15, 0.9]

const currencyOf = (affiliate: string) => (affiliate.startsWith('US-') ? 'USD' : 'EUR')

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
const hourText = (day: number, hour: number) =>
  `${dayText(day)}T${String(hour).padStart(2, '0')}:00:00Z`

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

interface Records {
  readonly customers: object[]
  readonly transactions: Transaction[]
  readonly activity: object[]
}

interface Transaction {
  readonly transaction_id: string
  readonly customer_id: string
  readonly transaction_type: string
  readonly amount_currency: number
  readonly currency: string
  readonly status: string
  readonly transaction_date: string
}

/** Returns the records of all months. The number of customers grows, and depends on the season. */
export function yearOf(months: readonly Month[]): Records {
  const random = fractions(11)
  const integer = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const pick = <T>(values: readonly T[]): T => values[integer(0, values.length - 1)] as T
  const drawn = AFFILIATES.flatMap(({ affiliate_id, weight }) =>
    Array.from({ length: weight }, () => affiliate_id),
  )
  const end = months.at(-1)?.last ?? 0
  const records: Records = { customers: [], transactions: [], activity: [] }

  const add = (customer: string, type: string, day: number, amount: number, currency: string) => {
    if (day > end) return
    records.transactions.push({
      transaction_id: `T-${10_001 + records.transactions.length}`,
      customer_id: customer,
      transaction_type: type,
      amount_currency: amount,
      currency,
      status: random() < 0.04 ? 'declined' : 'approved',
      // The time of a record of today must not be in the future.
      transaction_date: hourText(day, day === end ? 0 : integer(7, 21)),
    })
  }

  const trade = (customer: string, signup: number, currency: string) => {
    for (let day = signup + integer(1, 6); day <= end; day += integer(5, 12)) {
      const lots = integer(1, 60) / 10
      records.activity.push({
        date: dayText(day),
        customer_id: customer,
        instrument: pick(['EURUSD', 'EURUSD', 'GBPUSD', 'XAUUSD', 'USDJPY', 'USOIL']),
        lots_traded: lots,
        spread_cost: Math.round(lots * integer(280, 620)) / 100,
        commission: Math.round(lots * 350) / 100,
        currency,
      })
      // Some leave each time that they trade.
      if (random() < 0.07) return
    }
  }

  months.forEach(({ period, first, last }, i) => {
    const fullMonth = (14 + 1.8 * i) * (SEASON[Number(period.slice(5)) - 1] ?? 1)
    const count = Math.round((fullMonth * (last - first + 1)) / 30)
    for (let n = 0; n < count; n++) {
      const day = first + Math.floor(((n + random()) / count) * (last - first + 1))
      const affiliate = pick(drawn)
      const currency = currencyOf(affiliate)
      const customer = `C-${10_001 + records.customers.length}`
      records.customers.push({
        customer_id: customer,
        signup_date: hourText(day, day === end ? 0 : integer(7, 21)),
        affiliate_id: affiliate,
        tracking_data: `demo-${customer}`,
        country_code: currency === 'USD' ? 'US' : pick(['DE', 'DE', 'FR', 'ES', 'IT', 'PL', 'AT']),
      })
      if (random() < 0.28) continue
      const deposit = day + integer(0, 5)
      add(customer, 'deposit', deposit, integer(2, 20) * 50, currency)
      for (let again = deposit + integer(4, 20); random() < 0.5; again += integer(7, 40)) {
        add(customer, 'deposit', again, integer(2, 24) * 50, currency)
      }
      if (random() < 0.3) {
        add(customer, 'withdrawal', deposit + integer(20, 60), integer(1, 8) * 50, currency)
      }
      trade(customer, deposit, currency)
    }
  })
  return records
}

/** A customer of the month that is a draft, whose deposit is in a currency without an exchange rate: it waits. */
function heldRecords({ first, last }: Month): Records {
  const day = Math.floor((first + last) / 2)
  const customer_id = 'C-9001'
  return {
    customers: [
      {
        customer_id,
        signup_date: hourText(day, 9),
        affiliate_id: 'IB-4',
        tracking_data: `demo-${customer_id}`,
        country_code: 'AE',
      },
    ],
    transactions: [
      {
        transaction_id: 'T-9001',
        customer_id,
        transaction_type: 'deposit',
        amount_currency: 2500,
        currency: 'AED',
        status: 'approved',
        transaction_date: hourText(day, 12),
      },
    ],
    activity: [],
  }
}

const IB_RULES = [
  {
    id: 'cpa',
    kind: 'once',
    trigger: { transactions: ['deposit'], min: '100' },
    qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500', within_days: 30 }],
    amount: '150.00',
  },
  {
    id: 'lots',
    kind: 'unit',
    unit: { activity: 'lots_traded' },
    tiers: {
      mode: 'whole',
      steps: [
        { from: '0', amount: '1.50' },
        { from: '50', amount: '2.00' },
        { from: '200', amount: '2.50' },
      ],
    },
  },
  { id: 'master', kind: 'override', level: 1, of: { lines: ['once', 'unit'] }, percent: '10' },
]

const SHARE_RULES = [
  {
    id: 'revenue',
    kind: 'share',
    percent: '30',
    base: [
      { name: 'spread', activity: 'spread_cost' },
      { name: 'fees', activity: 'commission' },
    ],
    negative: 'carry',
  },
  {
    id: 'cpa',
    kind: 'once',
    trigger: { transactions: ['deposit'], min: '250' },
    amount: '80.00',
  },
]

/** The plans of the account. The second governs the affiliates that are paid in another currency. */
const plansFrom = (from: string) => {
  const terms = { period: 'month', effective_from: from, terms: 'signup', negative: 'carry' }
  const paid = { minimum_payout: '50.00', hold_days: 14 }
  return {
    'ib-standard': { name: 'Standard IB', currency: 'EUR', ...terms, ...paid, rules: IB_RULES },
    'us-hybrid': { name: 'US hybrid', currency: 'USD', ...terms, ...paid, rules: SHARE_RULES },
  }
}

async function configure(call: Call, from: string): Promise<void> {
  await call('POST', 'accounts', { ...YEAR, mode: 'test' })
  const affiliates = AFFILIATES.map(({ weight: _, ...one }) => ({
    ...one,
    ...profileOf(one.affiliate_id),
    from,
  }))
  await call(
    'PUT',
    `${AT}/affiliates`,
    affiliates.map(({ from, ...one }) => ('parent' in one ? { ...one, from } : one)),
  )
  for (const [plan, terms] of Object.entries(plansFrom(from))) {
    await call('PUT', `${AT}/plans/${plan}`, terms)
  }
  const assigned = ['*', 'US-1', 'US-2'].map((affiliate_id) => ({
    affiliate_id,
    plan: affiliate_id === '*' ? 'ib-standard' : 'us-hybrid',
    from,
    customers: 'new',
  }))
  await call('PUT', `${AT}/assignments`, assigned)
  const links = AFFILIATES.map(({ affiliate_id }) =>
    call('POST', `${AT}/links`, { affiliate_id, landing_page: LANDING_PAGE }),
  )
  await Promise.all(links)
}

/** Returns a function that sends records of the account, in parts that a request can have. */
async function senderOf(base: string, call: Call) {
  const issued = await call<{ client_id: string; client_secret: string }>('POST', `${AT}/clients`)
  const { client_id, client_secret } = issued
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
  })
  const answer = await sendLocal(`${base}/oauth/token`, { method: 'POST', body })
  const { access_token } = (await answer.json()) as { access_token: string }
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${access_token}` }
  return async (path: string, records: readonly object[]) => {
    for (let i = 0; i < records.length; i += BULK) {
      const part = JSON.stringify(records.slice(i, i + BULK))
      const url = `${base}/api/v1/${YEAR.vertical}/${path}`
      const response = await sendLocal(url, { method: 'POST', headers, body: part })
      if (!response.ok) throw new Error(`POST ${path} answered ${await response.text()}`)
    }
  }
}

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

async function compute(call: Call, period: string): Promise<void> {
  const { id } = await call<{ id: string }>('POST', `${AT}/periods/${period}/run`)
  for (let polls = 0; polls < 400; polls++) {
    const { status } = await call<{ status: string }>('GET', `${AT}/runs/${id}`)
    if (status !== 'running') return
    await wait(25)
  }
}

interface Due {
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly payable_on: string
  readonly reference: string
}

async function pay(call: Call): Promise<void> {
  const { data } = await call<{ data: Due[] }>('GET', `${AT}/payouts?per_page=100`)
  const payments = data.map(({ affiliate_id, currency, amount, reference, payable_on }) => ({
    affiliate_id,
    currency,
    amount,
    reference,
    paid_on: payable_on,
  }))
  if (payments.length > 0) await call('POST', `${AT}/payouts`, payments)
}

/**
 * Creates the account with twelve months of records that end on the day of `now` (milliseconds), and closes
 * its books as a manager would have: earlier months are paid, the month before the last is approved, and the
 * last one and the open one are drafts. An account whose books are closed stays as it is, but for fraud rules that
 * a failure left out. After an earlier failure, the next start repeats every step.
 */
export async function createYear(
  base: string,
  call: Call,
  now: number,
  trackingKeys: string,
): Promise<void> {
  const today = Math.floor(now / DAY_MS)
  const months = monthsUntil(today)
  const from = dayText(months[0]?.first ?? 0)
  const { data = [] } = await call<{ data?: { status: string }[] }>('GET', `${AT}/payouts`)
  if (data.length > 0) return putRules({ ...YEAR, call }, from)
  const records = yearOf(months)
  await configure(call, from)
  const send = await senderOf(base, call)
  const held = months.slice(DRAFT, DRAFT + 1).map(heldRecords)
  await send('customers', [...records.customers, ...held.flatMap((one) => one.customers)])
  await Promise.all([
    send('transactions', [...records.transactions, ...held.flatMap((one) => one.transactions)]),
    send('trading-activity', records.activity),
  ])
  const target: Target = { ...YEAR, landing_page: LANDING_PAGE, call, send, trackingKeys }
  await plantPatterns(target, today)
  await Promise.all(months.map(({ period }) => compute(call, period)))
  for (const [i, { period }] of months.slice(0, DRAFT).entries()) {
    await call('POST', `${AT}/periods/${period}/approve`, {})
    if (i < APPROVED) await pay(call)
  }
  await send('transactions', [reversalOf(records, months[APPROVED - 1])])
  for (const { period } of months.slice(DRAFT)) await compute(call, period)
  // Each run evaluates the rules, so they come after the last one.
  await putRules(target, from)
}

/** Returns the last deposit of a month that is paid, as it is sent once the bank has taken it back. */
function reversalOf({ transactions }: Records, month: Month | undefined): Transaction {
  const found = transactions.findLast(
    ({ transaction_type, transaction_date: at, amount_currency, status }) =>
      transaction_type === 'deposit' &&
      status === 'approved' &&
      amount_currency >= 500 &&
      at.slice(0, 7) === month?.period,
  )
  if (!found) throw new Error('The demo has no deposit to reverse.')
  return { ...found, status: 'declined' }
}
