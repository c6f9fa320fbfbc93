import { randomBytes, randomInt } from 'node:crypto'
import { newSecret } from '../../src/auth/secret.ts'
import { DAY_MS } from '../../src/durations.ts'
import { expectBody } from '../ask.ts'
import { type Attack, type Attacker, customer, KIB, range, text, transaction } from './attacks.ts'

// Attacks on reports, the log of deliveries, webhooks, the console and what customers accumulate.

/** How many customers have as many additional fields as a brand may store. */
const FULL_CUSTOMERS = 64

/** Stores customers with almost 64 KiB of additional fields each. */
async function storeFullCustomers({ brand }: Attacker): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd']) {
    const value = name.repeat(15 * KIB)
    const body = range(FULL_CUSTOMERS, (i) => ({ customerId: `f${i}`, [name]: value }))
    await expectBody(200, brand('POST', 'customers', { body })).catch(() =>
      expectBody(201, brand('POST', 'customers', { body })),
    )
  }
}

/** How many customers have so many fields that each search for a customer beside them is expensive. */
const LARGE_NEIGHBOURS = 1000

/** Stores full customers, and beside each of them one without additional fields. */
async function storeLargeNeighbours({ brand }: Attacker): Promise<void> {
  const step = 50
  for (let from = 0; from < LARGE_NEIGHBOURS; from += step) {
    for (const name of ['a', 'b', 'c', 'd']) {
      const value = name.repeat(15 * KIB)
      const body = range(step, (i) => ({ customerId: `n${from + i}`, [name]: value }))
      await expectBody(200, brand('POST', 'customers', { body }))
    }
    const body = range(step, (i) => ({ customerId: `n${from + i}-` }))
    await expectBody(200, brand('POST', 'customers', { body }))
  }
}

/** Small changes of these customers; those beyond the limit are refused. */
const smallChanges = (count: number, turn: number) =>
  text(
    JSON.stringify(
      range(count, (i) => ({ customerId: `f${i % FULL_CUSTOMERS}`, vip: `${turn} ${i}` })),
    ),
  )

/** Returns a day so many days before today. */
export const dayBefore = (days: number) =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

/** The days of the records that attacks store. */
export const YEAR = 365

/** Stores transactions of a year, of many customers. */
export async function storeYear({ firm }: Attacker): Promise<void> {
  await firm('POST', 'customers', { body: range(1000, (i) => customer(`y${i}`)) })
  for (let turn = 0; turn < 30; turn++) {
    const body = range(1000, (i) => ({
      ...transaction(`y${turn}-${i}`, `y${i}`),
      transaction_date: `${dayBefore((turn * 1000 + i) % YEAR)}T10:00:00Z`,
      status: `s${i % 50}`,
      currency: ['EUR', 'USD', 'GBP'][i % 3],
    }))
    await firm('POST', 'transactions', { body })
  }
}

const REPORTS = [
  'day,transaction_type,country_code',
  'day,affiliate_id,kyc_status_id',
  'week,link,transaction_type',
]

const year = () => `from=${dayBefore(YEAR)}&to=${dayBefore(0)}`

const SEARCHES = [
  'deliveries?code=required',
  'deliveries?status=422',
  'deliveries?status=stored&resource=customers',
  'deliveries?record_id=nobody',
  'deliveries?resource=transactions&per_page=500',
]

/** Returns a request of the sign-in form from a new address, for which the service needs a new object. */
const signIn = (key: string) => ({
  body: new URLSearchParams({ key, next: '/console' }),
  headers: {
    Origin: 'http://127.0.0.1',
    'Sec-Fetch-Site': 'same-origin',
    'CF-Connecting-IP': range(4, () => randomInt(1, 255)).join('.'),
  },
})

const SIDES = 500
const ACTIVE_DAYS = 40

/** Stores trading activity of the last days: customers who hold opposite sides of the same trade. */
export async function storeTrades({ firm }: Attacker): Promise<void> {
  for (let day = 1; day <= ACTIVE_DAYS; day++) {
    const body = range(SIDES, (i) => ({
      date: dayBefore(day),
      customer_id: `y${i}`,
      instrument: 'EURUSD',
      currency: 'EUR',
      lots_traded: 1,
      pnl: i % 2 ? 100 : -100,
    }))
    await firm('POST', 'trading-activity', { body })
  }
}

/** A rule of each kind that reads as many days and finds as much as its parameters allow. */
const MAXIMAL_RULES: Readonly<Record<string, object>> = {
  shared_identity: { names: true },
  click_to_signup: { min_signups: 1, days: 400, share_percent: '1', seconds: 3600, hours: 1 },
  signup_burst: { min: 1, times: '0.1' },
  country_mix: { min_signups: 1, days: 300, points: '0.1' },
  minimum_deposit: { min_customers: 1, days: 370, idle_days: 30, share_percent: '1' },
  short_life: { min_customers: 1, share_percent: '1', active_days: 200, days: 200 },
  deposit_withdrawal: { percent: '0.1', days: 370, share_percent: '1', min_customers: 1 },
  reversals: { percent: '0.1', min_count: 1, days: 400 },
  hedge_pair: { days: 1, window_days: 400, lots_percent: '100', pnl_percent: '100' },
  activity_outlier: { times: '0.01' },
  lot_churn: { percent: '0.01', days: 400 },
  commission_over_revenue: { periods: 12, percent: '0.01', min: '0' },
}

/** The most rules that an account may have. */
const RULES = 50

/** Puts as many rules as an account may have, each of which holds payouts. */
async function putMaximalRules({ service: { admin } }: Attacker): Promise<void> {
  const kinds = Object.entries(MAXIMAL_RULES)
  for (let i = 0; i < RULES; i++) {
    const [kind, parameters] = kinds[i % kinds.length]!
    const body = {
      name: `Rule ${i}`,
      ...{ kind, parameters, severity: 'high', action: 'hold', effective_from: dayBefore(YEAR) },
      scope: { affiliates: ['*'], not_affiliates: [`NONE-${i}`] },
    }
    const rule = i < kinds.length ? kind.replaceAll('_', '-') : `rule-${i}`
    const path = `accounts/attacker-firm/fraud-rules/${rule}`
    const { status, body: answer } = await admin('PUT', path, { body })
    if (status >= 300 && i < kinds.length) throw new Error(`${kind}: ${JSON.stringify(answer)}`)
  }
}

/** What an attacker asks of the fraud review, one after the other. */
async function reviewAll({ service: { admin }, firm }: Attacker, turn: number): Promise<void> {
  const path = 'accounts/attacker-firm'
  const kinds = Object.keys(MAXIMAL_RULES)
  const rule = kinds[turn % kinds.length]!.replaceAll('_', '-')
  const days = { from: dayBefore(YEAR), to: dayBefore(1) }
  await admin('POST', `${path}/fraud-rules/run`)
  await admin('POST', `${path}/fraud-rules/${rule}/simulate`, { body: days })
  const { body } = await admin('GET', `${path}/cases?per_page=500`)
  const id = body?.data?.[turn % 50]?.case_id
  if (id) await admin('GET', `${path}/cases/${id}/evidence?per_page=500`)
  await firm('GET', 'cases?per_page=500')
}

/** The attacks on what is beside the feeds of records. */
export const FEATURE_ATTACKS: readonly Attack[] = [
  {
    name: 'rewrites: one field of full customers',
    lanes: 4,
    prepare: storeFullCustomers,
    act: ({ brand }, _, turn) =>
      brand('POST', 'customers', smallChanges(turn % 2 ? 1000 : FULL_CUSTOMERS, turn)),
  },
  {
    name: 'customers beside full customers',
    lanes: 8,
    prepare: storeLargeNeighbours,
    act: ({ brand }, lane, turn) =>
      brand('POST', 'customers', {
        body: range(1000, (i) => ({ customerId: `n${i}-`, vip: `${lane} ${turn}` })),
      }),
  },
  {
    name: 'activity of full customers',
    lanes: 8,
    prepare: storeLargeNeighbours,
    act: ({ brand }, lane, turn) =>
      brand('POST', 'activities', {
        body: range(1000, (i) => ({
          eventname: 'Spin',
          customerid: `n${i}`,
          eventid: `${lane}-${turn}-${i}`,
          createtime: '2026-10-02 10:00',
          Value: 1,
        })),
      }),
  },
  {
    name: 'reports of a year by three groups',
    lanes: 8,
    prepare: storeYear,
    act: ({ firm }, lane, turn) =>
      firm('GET', `reports?${year()}&group_by=${REPORTS[(lane + turn) % REPORTS.length]}`, {
        headers: { Accept: turn % 2 ? 'text/csv' : 'application/json' },
      }),
  },
  {
    name: 'search in the log of deliveries',
    lanes: 8,
    prepare: async ({ firm }) => {
      for (let turn = 0; turn < 20; turn++) {
        await Promise.all(range(50, (i) => firm('POST', 'transactions', { body: { i, turn } })))
      }
    },
    act: ({ firm }, lane, turn) => firm('GET', SEARCHES[(lane + turn) % SEARCHES.length]!),
  },
  {
    name: 'the account, its feeds and what to attend to',
    lanes: 8,
    prepare: storeYear,
    act: ({ firm }, lane) => firm('GET', lane % 2 ? 'account' : 'feed'),
  },
  {
    name: 'refusals with ten webhooks that fail',
    lanes: 8,
    prepare: async ({ service: { admin } }) => {
      for (const path of range(10, (i) => `${i}`)) {
        // Nothing listens on port 9.
        const body = { url: `http://127.0.0.1:9/${path}`, events: ['delivery.refused'] }
        await expectBody(201, admin('POST', 'accounts/attacker-firm/webhooks', { body }))
      }
    },
    act: ({ firm }, lane, turn) => firm('POST', 'transactions', { body: { lane, turn } }),
  },
  {
    name: 'fraud review with maximal rules',
    lanes: 8,
    prepare: async (attacker) => {
      await storeYear(attacker)
      await storeTrades(attacker)
      await putMaximalRules(attacker)
    },
    act: (attacker, lane, turn) => reviewAll(attacker, lane + turn),
  },
  {
    name: 'anonymous: sign-in with invented keys',
    lanes: 16,
    newObjects: 16,
    act: ({ anonymous }, lane) =>
      anonymous(
        'POST',
        'console/sign-in',
        signIn(lane % 2 ? randomBytes(512 * KIB).toString('hex') : newSecret('tcs', 'live')),
      ),
  },
]
