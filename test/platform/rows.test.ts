import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { brand } from '../brand.ts'
import { countCalls } from '../ingest/watched.ts'
import { ada, deposit, issuedPartner, traded } from '../partner.ts'

// What requests cost as D1 counts it: a bulk is two round trips and a fixed number of rows for each record, and a
// page reads a few rows for each row that it shows, however much is stored.

/** The most rows of a request beside its records: the delivery, its count, the total of a list. */
const CONSTANT = 10

/** The most rows that a page reads for each row that it shows, and beside them. */
const PAGE = { each: 6, fixed: 60 }

const many = (count: number, make: (i: number) => object) =>
  Array.from({ length: count }, (_, i) => make(i))

const player = { customerId: 'p-0', regtime: '2026-10-01 08:00' }
const stake = { eventname: 'Bet', customerid: 'p-0', createtime: '2026-10-02 09:30', Value: '1.00' }

/** Each resource: how its records are made, what changes them, and the rows that a new record writes. */
const RESOURCES = [
  {
    path: '/api/v1/forex/customers',
    perInsert: 3,
    record: (i: number) => ({ ...ada, customer_id: `new-${i}` }),
    changed: { first_name: 'Grace' },
  },
  {
    path: '/api/v1/forex/transactions',
    perInsert: 2,
    record: (i: number) => ({ ...deposit, transaction_id: `t-${i}` }),
    changed: { status: 'reversed' },
  },
  {
    path: '/api/v1/forex/trading-activity',
    perInsert: 1,
    record: (i: number) => ({ ...traded, instrument: `i-${i}` }),
    changed: { lots_traded: 2 },
  },
  {
    path: '/tracking/events/customers',
    perInsert: 3,
    record: (i: number) => ({ ...player, customerId: `new-${i}` }),
    changed: { firstName: 'Grace' },
  },
  {
    path: '/tracking/events/activities',
    perInsert: 2,
    record: (i: number) => ({ ...stake, eventid: `e-${i}` }),
    changed: { Value: '2.00' },
  },
]

/** Returns a firm and a brand with a customer each, and a function that sends requests as their owner and counts. */
async function callers() {
  const firm = await issuedPartner('forex')
  const casino = await brand({ account: 'casino' })
  await firm.post('customers', ada)
  await casino.post('customers', [player])
  const headersOf = (path: string): Record<string, string> =>
    path.startsWith('/api')
      ? { Authorization: `Bearer ${firm.access_token}` }
      : path.startsWith('/admin')
        ? { Authorization: `Bearer ${env.ADMIN_KEY}` }
        : { 'x-api-key': casino.brand_token }
  return {
    firm: firm.account,
    get: (path: string) => countCalls(path, { headers: headersOf(path) }),
    post: (path: string, body: unknown) =>
      countCalls(path, {
        method: 'POST',
        headers: { ...headersOf(path), 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}

test.each(RESOURCES)(
  'a bulk costs two round trips and a·n + b rows: $path',
  async ({ path, perInsert, record, changed }) => {
    const { post } = await callers()
    const records = many(300, (i) => record(i + 1))
    const updated = records.map((one) => ({ ...one, ...changed }))
    for (const [sent, summary, perRecord] of [
      [records, { created: 300 }, perInsert],
      [updated, { updated: 300 }, 1],
      [updated, { unchanged: 300 }, 0],
    ] as const) {
      const { response, trips, calls, rowsWritten, rowsRead } = await post(path, sent)
      expect(await response.json()).toMatchObject({ summary })
      expect([trips, calls]).toEqual([2, ['admit']])
      expect(rowsWritten).toBeLessThanOrEqual(perRecord * 300 + CONSTANT)
      expect(rowsRead).toBeLessThanOrEqual(20 * 300 + CONSTANT)
    }
  },
)

test('a page reads a few rows for each row that it shows, whatever else is stored', {
  timeout: 300_000,
}, async () => {
  const { firm, get, post } = await callers()
  const lists = [
    ...RESOURCES.map(({ path }) => path),
    '/api/v1/forex/deliveries',
    '/tracking/events/deliveries',
    '/api/v1/forex/held',
    '/api/v1/forex/statements',
    ...['affiliates', 'links', 'cases', 'assignments', 'payouts'].map(
      (name) => `/admin/v1/accounts/${firm}/${name}`,
    ),
    '/admin/v1/audit-log',
    '/admin/v1/accounts',
  ]
  const exceeded: string[] = []
  for (const size of [1, 9]) {
    for (const { path, record } of RESOURCES)
      for (let n = 0; n < size; n++)
        await post(
          path,
          many(300, (i) => record((size * 10 + n) * 1000 + i)),
        )
    for (const path of lists) {
      let query = 'per_page=50'
      for (let page = 0; page < 2; page++) {
        const { response, rowsRead } = await get(`${path}?${query}`)
        expect([path, response.status]).toEqual([path, 200])
        const body = await response.json<{
          data: unknown[]
          meta?: { next_cursor: string | null }
        }>()
        const most = PAGE.each * body.data.length + PAGE.fixed
        if (rowsRead > most)
          exceeded.push(`${path}?${query} of ${size}: ${rowsRead} rows, not ${most}`)
        if (!body.meta?.next_cursor) break
        query = `per_page=50&cursor=${encodeURIComponent(body.meta.next_cursor)}`
      }
    }
  }
  expect(exceeded).toEqual([])
})
