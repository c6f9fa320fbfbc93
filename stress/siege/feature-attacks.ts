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
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

const YEAR = 365

/** Stores transactions of a year, of many customers. */
async function storeYear({ firm }: Attacker): Promise<void> {
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
