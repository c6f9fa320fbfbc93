import { env } from 'cloudflare:workers'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { DAY_MS } from '../../src/durations.ts'
import { brand, dailyStats, day, deposited, eve } from '../brand.ts'
import { bookRequests, bookRuns } from '../commission/book-firm.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { at, linkOf } from '../dated.ts'
import { ada, askAdmin, deposit, json, partner, traded } from '../partner.ts'

// Accounts with three years of records, whose statements are approved month by month.

/** The time of the accounts: November is over, and the records until October of the year before are old. */
export const NOW = '2030-12-05T00:00:00.000Z'
/** The month that is not over. */
export const OPEN = '2030-12'
/** The months of the accounts. The statements of all but the last are approved. */
export const MONTHS = ['2028', '2029', '2030'].flatMap((year) =>
  Array.from({ length: 12 }, (_, i) => `${year}-${String(i + 1).padStart(2, '0')}`),
)
/** The months that are older than 13 months. */
export const OLD_MONTHS = MONTHS.filter((month) => month <= '2029-10')

/** `below` is below `own`, which is below `top`. */
export const AFFILIATES = ['top', 'own', 'below', 'other'] as const
const FROM = '2028-01-01'

const DEPOSITS = { transactions: ['deposit'] }
const WITHDRAWALS = { transactions: ['withdrawal'], times: '-1' }

const FOREX: Rule[] = [
  {
    ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'], min: '50' } },
    qualify: [
      { sum: [{ transactions: ['deposit'] }], min: '200', within_days: 90 },
      { count: { activity: 'lots_traded' }, min: 2, within_days: 120 },
    ],
    void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 20 },
    amount: '100',
    max_count: 500,
  },
  {
    ...{ id: 'net', kind: 'share', base: [DEPOSITS, WITHDRAWALS], negative: 'carry' },
    tiers: {
      ...{ mode: 'slice', window: 'quarter' },
      steps: [
        { from: '0', percent: '10' },
        { from: '1000', percent: '15' },
      ],
    },
  },
  {
    ...{ id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, months: 18 },
    tiers: {
      ...{ mode: 'whole', window: 'lifetime' },
      steps: [
        { from: '0', amount: '2' },
        { from: '100', amount: '3' },
      ],
    },
  },
  {
    ...{ id: 'up', kind: 'override', level: 1 },
    ...{ of: { lines: ['once', 'share', 'unit'] }, percent: '5' },
  },
  {
    ...{ id: 'far', kind: 'override', level: 2, of: { base: [DEPOSITS] }, percent: '1' },
  },
]

const DOLLARS: Rule[] = [
  {
    ...{ id: 'spread', kind: 'share', percent: '20', per: 'customer' },
    ...{ base: [{ activity: 'spread_cost' }], negative: 'zero', max_per_customer: '400' },
  },
]

const CASINO: Rule[] = [
  {
    ...{ id: 'cpa', kind: 'once', trigger: { event: 'Deposit', min: '20' }, amount: '50' },
    qualify: [{ sum: [{ event: 'Deposit' }], min: '150', within_days: 60 }],
    void_by: { terms: [{ event: 'Chargeback' }], within_days: 30 },
  },
  {
    ...{ id: 'ngr', kind: 'share', negative: 'carry', recoups: 'cpa' },
    base: [
      { name: 'ngr', event: 'DailyStats', kpi: 'NGR' },
      { of: ['ngr'], times: '-0.1' },
    ],
    tiers: {
      ...{ mode: 'whole', by: { once: 'cpa' } },
      steps: [
        { from: '0', percent: '25' },
        { from: '1', percent: '30' },
      ],
    },
  },
  { id: 'up', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '5' },
]

/** Stores rates of four days of each month. */
async function publishRates() {
  const rates = MONTHS.flatMap((month) =>
    Array.from({ length: 4 }, (_, week) => {
      const published = Date.parse(`${month}-${String(1 + week * 7).padStart(2, '0')}`) / DAY_MS
      return [
        ['USD', published, (1.05 + (published % 17) / 100).toFixed(4)],
        ['GBP', published, (0.83 + (published % 11) / 100).toFixed(4)],
      ]
    }).flat(),
  )
  await env.DB.prepare(
    `insert into fx_rates (source, currency, day, rate, known_from)
     select 'ECB', value ->> 0, value ->> 1, value ->> 2, 0 from json_each(?) where true
     on conflict do nothing`,
  )
    .bind(JSON.stringify(rates))
    .run()
}

/** Lets a second pass: what comes later is listed later. */
export const tick = () => at(new Date(Date.now() + 1000).toISOString())

const dayOf = (month: string, n: number) => `${month}-${String(1 + (n % 28)).padStart(2, '0')}`

/** A customer of each third month, each of another affiliate. */
const CUSTOMERS = Array.from({ length: 12 }, (_, i) => ({
  customer_id: `c-${i}`,
  month: MONTHS[i * 3]!,
  affiliate_id: AFFILIATES[i % AFFILIATES.length]!,
}))

/** The customers who have signed up by a month. */
const knownIn = (month: string) => CUSTOMERS.filter((one) => one.month <= month)

/** Throws unless the service has accepted a request. A second passes. */
export async function accepted(work: Promise<Response>): Promise<Response> {
  const response = await work
  tick()
  if (!response.ok) throw new Error(`${response.url} ${response.status}: ${await response.text()}`)
  return response
}

async function storeTerms(account: string, rules: Rule[]) {
  const path = `accounts/${account}`
  await accepted(
    askAdmin(`${path}/affiliates`, 'PUT', [
      { affiliate_id: 'top' },
      { affiliate_id: 'own', parent: 'top', from: FROM },
      { affiliate_id: 'below', parent: 'own', from: FROM },
      { affiliate_id: 'other' },
    ]),
  )
  await storePlan(account, 'main', monthly(rules, { effective_from: FROM, minimum_payout: '20' }))
  await assign(account, 'main', '*', FROM)
  const keys: Record<string, string> = {}
  for (const affiliate of AFFILIATES) {
    const made = await json(
      accepted(askAdmin(`${path}/affiliates/${affiliate}/keys`, 'POST', { name: 'Tracker' })),
    )
    keys[affiliate] = made.affiliate_key
  }
  return keys
}

/** The transactions of a month: some are withdrawn, charged back, declined or in another currency. */
export const transactionsOf = (month: string) => {
  const m = MONTHS.indexOf(month)
  return knownIn(month).flatMap(({ customer_id }, i) =>
    [0, 1].map((n) => ({
      ...deposit,
      transaction_id: `t-${month}-${i}-${n}`,
      customer_id,
      transaction_type: n === 0 ? 'deposit' : ['deposit', 'withdrawal', 'bonus'][(m + i) % 3],
      amount_currency: 40 + ((m * 37 + i * 53 + n * 29) % 190) + 0.25,
      currency: ['EUR', 'USD', 'GBP'][(i + m) % 3],
      status: (m + i + n) % 9 === 0 ? 'declined' : 'approved',
      transaction_date: `${dayOf(month, 3 + i * 5 + n * 11)}T1${n}:20:30.400Z`,
      ...(i % 4 === 0 && { note: `Größe ${month} 🙂` }),
    })),
  )
}

/** The trading of a month. */
export const tradingOf = (month: string) => {
  const m = MONTHS.indexOf(month)
  return knownIn(month).flatMap(({ customer_id }, i) =>
    ['EURUSD', 'XAUUSD'].map((instrument, n) => ({
      ...{ ...traded, customer_id, instrument, currency: n === 0 ? 'USD' : 'EUR' },
      date: dayOf(month, 5 + i * 3 + n * 7),
      lots_traded: ((m * 7 + i * 11 + n) % 40) / 10,
      spread_cost: ((m * 13 + i * 17 + n) % 300) / 4,
      pnl: ((m * 31 + i * 41) % 200) - 100.25,
    })),
  )
}

/** What both kinds of accounts have. */
interface Parts {
  readonly account: string
  readonly vertical: 'forex' | 'igaming'
  readonly headers: Record<string, string>
  readonly keys: Record<string, string>
  readonly post: (path: string, body: unknown) => Promise<Response>
  readonly sendMonth: (month: string) => Promise<unknown>
}

async function tradingFirm(account: string): Promise<Parts> {
  const firm = await partner('forex', { account, affiliates: [], unknown_customer: 'hold' })
  const keys = await storeTerms(account, FOREX)
  const dollars = monthly(DOLLARS, { effective_from: FROM, currency: 'USD', minimum_payout: '5' })
  await storePlan(account, 'dollars', dollars)
  await assign(account, 'dollars', 'other', FROM)
  await assign(account, 'dollars', 'top', '2029-07-01', 'all')
  const sendMonth = async (month: string) => {
    const signed = CUSTOMERS.filter((one) => one.month === month)
    if (signed.length > 0) {
      const sent = signed.map(({ customer_id, affiliate_id }, i) => ({
        ...{ ...ada, customer_id, affiliate_id, country_code: ['DE', 'AT', 'US'][i % 3] },
        ...{ signup_date: `${month}-02T08:00:00Z`, email: `${customer_id}@person.example` },
      }))
      await accepted(firm.post('customers', sent))
    }
    await accepted(firm.post('transactions', transactionsOf(month)))
    await accepted(firm.post('trading-activity', tradingOf(month)))
  }
  const headers = { Authorization: `Bearer ${firm.access_token}` }
  return { account, vertical: 'forex', headers, keys, post: firm.post, sendMonth }
}

/** The activities of a month. */
export const eventsOf = (month: string) => {
  const m = MONTHS.indexOf(month)
  return knownIn(month).flatMap(({ customer_id }, i) => [
    ...[0, 1].map((n) => ({
      ...{ ...day, customerid: customer_id, createtime: dayOf(month, 2 + i + n * 13) },
      GGR: (((m * 19 + i * 23) % 160) - 20).toFixed(2),
      NGR: (((m * 29 + i * 31 + n * 7) % 150) - 60).toFixed(2),
      Product: n === 0 ? 'Casino' : 'Poker',
    })),
    ...((m + i) % 2 === 0
      ? [
          {
            ...{ ...deposited, customerid: customer_id, eventid: `e-${month}-${i}` },
            ...{
              createtime: `${dayOf(month, 4 + i * 2)} 10:30`,
              Value: String(30 + ((m * i) % 90)),
            },
            ...{ Currency: ['EUR', 'USD'][i % 2], note: `Note of ${customer_id}` },
          },
        ]
      : []),
    ...((m + i) % 13 === 0
      ? [
          {
            ...{ ...deposited, eventname: 'Chargeback', customerid: customer_id },
            ...{ eventid: `b-${month}-${i}`, createtime: `${dayOf(month, 9 + i)} 11:30` },
          },
        ]
      : []),
  ])
}

async function casinoFirm(account: string): Promise<Parts> {
  const casino = await brand({
    ...{ account, unknown_customer: 'hold' },
    events: {
      DailyStats: dailyStats,
      Deposit: { granularity: 'event', eventid: 'used' },
      Chargeback: { granularity: 'event', eventid: 'used' },
    },
  })
  const keys = await storeTerms(account, CASINO)
  const links: Record<string, string> = {}
  for (const affiliate of AFFILIATES) {
    links[affiliate] = (await linkOf(account, affiliate)).tracking_data
  }
  const sendMonth = async (month: string) => {
    for (const { customer_id, affiliate_id } of CUSTOMERS.filter((one) => one.month === month)) {
      const tracking_data = links[affiliate_id]
      const regtime = `${month}-02 08:30`
      await accepted(
        casino.post('customers', { ...eve, customerId: customer_id, regtime, tracking_data }),
      )
    }
    await accepted(casino.post('activities', eventsOf(month)))
  }
  const headers = { 'x-api-key': casino.brand_token }
  return { account, vertical: 'igaming', headers, keys, post: casino.post, sendMonth }
}

const FIRMS = { forex: tradingFirm, igaming: casinoFirm }

/** An account with three years of records. */
export type Twin = Awaited<ReturnType<typeof openTwin>>

/** Creates an account with three years of records, whose months were computed and approved one by one. */
export async function openTwin(vertical: keyof typeof FIRMS, account: string) {
  at(NOW)
  await publishRates()
  const firm = await FIRMS[vertical](account)
  const books = { ...bookRequests(`accounts/${account}`), ...bookRuns(account) }
  for (const [i, month] of MONTHS.entries()) {
    await firm.sendMonth(month)
    if (i % 6 === 5)
      await accepted(books.enter('own', 'main', i % 12 === 5 ? '25' : '-10', `m-${i}`))
    if (month === MONTHS.at(-1)) break
    await books.run(month)
    await accepted(books.approvePeriod(month))
    const due = i % 6 === 3 ? await books.payouts() : []
    if (due.length > 0) await accepted(books.importPayouts(due))
  }
  await books.run(OPEN)
  return { ...firm, ...books }
}
