import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { REPORT_LIMITS, REPORT_STEPS } from '../../src/reports/limits.ts'
import { brand, dailyStats, day, deposited, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ada, askAdmin, deposit, json, ORIGIN, partner, traded } from '../partner.ts'
import { countCalls, overridingSessions } from '../watched.ts'

// What long reports keep: it is always what the records say.

const OCTOBER = 'reports?from=2026-10-01&to=2026-10-31'
const STEPS = { ...REPORT_STEPS }
const LIMITS = { ...REPORT_LIMITS }

beforeEach(() => {
  // Two records make a report long.
  Object.assign(REPORT_STEPS, { batch: 2, sums: 2 })
})

afterEach(() => {
  Object.assign(REPORT_STEPS, STEPS)
  Object.assign(REPORT_LIMITS, LIMITS)
})

const run = (sql: string) => env.DB.prepare(sql).run()
const keptParts = async () =>
  (await run('select part from kept_reports order by part')).results.map((row) => `${row.part}`)

type Account = Awaited<ReturnType<typeof partner>>

/** Stores customers with deposits and trading on the first days of October. */
async function firm(more: object = {}) {
  const acme = await partner('forex', more)
  const customers = [1, 2, 3].map((n) => ({ ...ada, customer_id: `c-${n}`, country_code: 'DE' }))
  await acme.post('customers', [...customers, { ...ada, customer_id: 'c-4' }])
  const deposits = [0, 1, 2, 3, 4, 5].map((n) => ({
    ...deposit,
    transaction_id: `t-${n}`,
    customer_id: `c-${(n % 4) + 1}`,
    transaction_date: `2026-10-0${2 + n}T09:30:00Z`,
  }))
  expect((await acme.post('transactions', deposits)).status).toBe(200)
  expect((await acme.post('trading-activity', traded)).status).toBeLessThan(202)
  return acme
}

const QUERIES = [OCTOBER, `${OCTOBER}&group_by=day,affiliate_id,country_code&currency=EUR`]

async function reportsOf(acme: { get: Account['get'] }) {
  const reports = []
  for (const query of QUERIES) {
    await run('delete from totals_leases')
    reports.push(await json(acme.get(query)))
  }
  return reports
}

test('a long report is kept, and then reads no record until one of its days changes', async () => {
  const acme = await firm()
  const ask = () =>
    countCalls(`/api/v1/forex/${OCTOBER}`, {
      headers: { Authorization: `Bearer ${acme.access_token}` },
    })
  const first = await ask()
  const kept = await ask()
  expect(await kept.response.json()).toEqual(await first.response.json())
  // Clicks are always counted.
  expect(kept.rowsRead).toBeLessThan(100)
  expect(kept.rowsRead).toBeLessThan(first.rowsRead / 3)
  expect(kept.trips).toBeLessThanOrEqual(6)
  const parts = await keptParts()
  expect(parts).toHaveLength(5)
  await acme.post('transactions', {
    ...deposit,
    transaction_id: 'n',
    transaction_date: '2026-11-01T00:00:00Z',
  })
  expect(await keptParts()).toEqual(parts)
  await acme.post('transactions', {
    ...deposit,
    transaction_id: 'n2',
    transaction_date: '2026-09-30T00:00:00Z',
  })
  // First deposits depend on earlier days.
  expect(await keptParts()).toHaveLength(4)
  const oct = { ...deposit, transaction_id: 'n3', transaction_date: '2026-10-30T00:00:00Z' }
  await acme.post('transactions', oct)
  expect(await keptParts()).toEqual([])
})

test('a report that one batch reads is not kept', async () => {
  Object.assign(REPORT_STEPS, STEPS)
  const acme = await firm()
  expect((await acme.get(OCTOBER)).status).toBe(200)
  expect(await keptParts()).toEqual([])
})

test('what is kept is not read after a day, and an account keeps 40 parts', async () => {
  const acme = await firm()
  const [before] = await reportsOf(acme)
  await run(`update kept_reports set rows = replace(rows, '6', '7'), kept_at = kept_at - 86400000`)
  expect((await reportsOf(acme))[0]).toEqual(before)
  for (let i = 1; i <= 9; i++) {
    await run('delete from totals_leases')
    await acme.get(`reports?from=2026-10-01&to=2026-11-0${i}`)
  }
  expect(await keptParts()).toHaveLength(40)
})

const at = (path: string) => (acme: Account) => `accounts/${acme.account}/${path}`

/** Changes after which reports must not be what they were. */
const CHANGES: readonly (readonly [string, (acme: Account) => Promise<Response>])[] = [
  ['a new transaction', (acme) => acme.post('transactions', { ...deposit, transaction_id: 'new' })],
  [
    'another amount',
    (acme) => acme.post('transactions', { ...deposit, transaction_id: 't-0', amount_currency: 7 }),
  ],
  [
    'another day of a transaction',
    (acme) =>
      acme.post('transactions', {
        ...deposit,
        transaction_id: 't-0',
        transaction_date: '2026-11-02T09:30:00Z',
      }),
  ],
  [
    'another customer of a transaction',
    (acme) => acme.post('transactions', { ...deposit, transaction_id: 't-0', customer_id: 'c-4' }),
  ],
  [
    'an earlier deposit',
    (acme) =>
      acme.post('transactions', {
        ...deposit,
        transaction_id: 'early',
        customer_id: 'c-2',
        transaction_date: '2026-10-01T09:00:00Z',
      }),
  ],
  ['more trading', (acme) => acme.post('trading-activity', { ...traded, lots_traded: 9 })],
  ['a new customer', (acme) => acme.post('customers', { ...ada, customer_id: 'c-9' })],
  [
    'another signup day',
    (acme) =>
      acme.post('customers', {
        ...ada,
        customer_id: 'c-2',
        country_code: 'DE',
        signup_date: '2026-10-04T00:00:00Z',
      }),
  ],
  [
    'a first field',
    (acme) => acme.post('customers', { ...ada, customer_id: 'c-4', country_code: 'AT' }),
  ],
  [
    'a correction of the affiliates',
    (acme) =>
      askAdmin(at('customers/c-1/affiliations')(acme), 'PUT', {
        reason: 'Wrong link',
        affiliations: [{ affiliate_id: 'other', from: null }],
      }),
  ],
  [
    'another status map',
    (acme) => askAdmin(at('status-map')(acme), 'PUT', { approved: 'declined' }),
  ],
]

describe('after', () => {
  test.each(CHANGES)('%s a report is what the records say', async (_, change) => {
    const acme = await firm()
    const before = await reportsOf(acme)
    expect(await reportsOf(acme)).toEqual(before)
    expect((await keptParts()).length).toBeGreaterThan(5)
    const response = await change(acme)
    expect(response.status, await response.clone().text()).toBeLessThan(300)
    const after = await reportsOf(acme)
    await run('delete from kept_reports')
    expect(after).toEqual(await reportsOf(acme))
    expect(after).not.toEqual(before)
  })

  test('the release of held records a report is what the records say', async () => {
    const acme = await firm({ unknown_customer: 'hold' })
    await acme.post('transactions', { ...deposit, transaction_id: 'held', customer_id: 'later' })
    const before = await reportsOf(acme)
    await acme.post('customers', {
      ...ada,
      customer_id: 'later',
      signup_date: '2026-08-01T00:00:00Z',
    })
    const after = await reportsOf(acme)
    await run('delete from kept_reports')
    expect(after).toEqual(await reportsOf(acme))
    expect(after[0].totals.metrics.deposit_count).toBe(before[0].totals.metrics.deposit_count + 1)
  })

  test('another event of a brand a report is what the records say', async () => {
    const casino = await brand({ events: { DailyStats: dailyStats } })
    await casino.post('customers', [eve])
    await casino.post('activities', [deposited, { ...deposited, eventid: 'e-2' }, day])
    const ask = async () => {
      await run('delete from totals_leases')
      return (await json(casino.get(`${OCTOBER}&currency=EUR`))).totals.metrics
    }
    const before = await ask()
    expect(await ask()).toEqual(before)
    await casino.post('activities', [{ ...day, GGR: '11' }])
    const after = await ask()
    await run('delete from kept_reports')
    expect(after).toEqual(await ask())
    expect(after).not.toEqual(before)
  })
})

/** Requests a report while something happens after so many batches. */
async function whileReading(acme: Account, after: number, happen: () => Promise<unknown>) {
  let batches = 0
  const DB = overridingSessions(env.DB, (real) => ({
    prepare: (text: string) => real.prepare(text),
    batch: async (list: D1PreparedStatement[]) => {
      batches += 1
      if (batches === after) await happen()
      return real.batch(list)
    },
  }))
  const headers = { Authorization: `Bearer ${acme.access_token}` }
  const request = new Request(new URL(`/api/v1/forex/${OCTOBER}`, ORIGIN), { headers })
  return fetchWith({ ...env, DB } as Env, request)
}

describe('while a report is read', () => {
  test('what changes is not kept', async () => {
    const acme = await firm()
    const change = () => acme.post('trading-activity', { ...traded, instrument: 'XAUUSD' })
    expect((await whileReading(acme, 5, change)).status).toBe(200)
    expect(await keptParts()).toEqual([])
    const later = { ...deposit, transaction_id: 'n', transaction_date: '2026-11-01T00:00:00Z' }
    expect((await whileReading(acme, 5, () => acme.post('transactions', later))).status).toBe(200)
    expect(await keptParts()).toHaveLength(5)
  })

  test('a record that moves to another day counts once', async () => {
    const acme = await firm()
    // From the last day to the first: the report has read neither, one or both of them.
    for (const after of [4, 5, 6, 8]) {
      await run('delete from kept_reports')
      await run('delete from totals_leases')
      let turn = 0
      const response = await whileReading(acme, after, () =>
        acme.post('transactions', {
          ...deposit,
          transaction_id: 't-5',
          customer_id: 'c-2',
          transaction_date: `2026-10-${turn++ % 2 ? '07' : '01'}T09:30:00Z`,
        }),
      )
      expect((await json(response)).totals.metrics.deposit_count).toBe(6)
      await acme.post('transactions', {
        ...deposit,
        transaction_id: 't-5',
        customer_id: 'c-2',
        transaction_date: '2026-10-07T09:30:00Z',
      })
    }
  })

  test('records that move all the time are 503', async () => {
    const acme = await firm()
    let batches = 0
    const DB = overridingSessions(env.DB, (real) => ({
      prepare: (text: string) => real.prepare(text),
      batch: async (list: D1PreparedStatement[]) => {
        batches += 1
        const transaction_date = `2026-10-0${1 + (batches % 2)}T09:30:00Z`
        await acme.post('transactions', { ...deposit, transaction_id: 't-0', transaction_date })
        return real.batch(list)
      },
    }))
    const headers = { Authorization: `Bearer ${acme.access_token}` }
    const request = new Request(new URL(`/api/v1/forex/${OCTOBER}`, ORIGIN), { headers })
    const response = await fetchWith({ ...env, DB } as Env, request)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5'])
    const { results } = await run('select running, watch from totals_leases')
    expect(results).toEqual([{ running: 0, watch: null }])
  })
})
