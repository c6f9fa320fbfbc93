import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { storedBrand as brand, day, deposited, eve } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { copyRows } from './copies.ts'
import { CURABLE, faulty, OVERLOAD } from './faulty.ts'
import { askAdmin, json } from './partner.ts'
import { countCalls } from './watched.ts'

// The cost of brand requests as D1 counts it, and their outcomes when D1 fails.

type Brand = Awaited<ReturnType<typeof brand>>

/** The records of a bulk, which costs the same for each record; and those that are stored. */
const N = 300
const STORED = 2000
/** The most rows that one request writes beside its records: see cost.test.ts. */
const CONSTANT = 6

const many = (make: (i: number) => object, n = N) => Array.from({ length: n }, (_, i) => make(i))
const request = (acme: Brand, body: unknown, headers = {}) => ({
  method: 'POST',
  headers: { 'x-api-key': acme.brand_token, 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const post = (acme: Brand, path: string, body: unknown, headers = {}) =>
  countCalls(`/tracking/events/${path}`, request(acme, body, headers))

/** Creates a brand with many stored records, so that a table scan exceeds the row limits. */
const busy = async (name = 'acme-casino', otherName = 'other') => {
  const acme = await brand({ account: name })
  const other = await brand({ account: otherName })
  for (const account of [acme, other]) {
    await account.post('customers', { ...eve, customerId: 'p-0' })
    await account.post('activities', { ...deposited, eventid: '0', customerid: 'p-0' })
  }
  await copyRows('customers', STORED / 2 - 1, { customer_id: `'p-' || n.value` })
  await copyRows('events', STORED - 1, {
    id: `'e ' || n.value`,
    eventid: 'n.value',
    customer_id: `'p-' || (n.value % 300)`,
    record: `json_set(record, '$.eventid', '' || n.value, '$.customerid', 'p-' || (n.value % 300))`,
  })
  return acme
}

const resources = [
  {
    resource: 'customers',
    perInsert: 2,
    first: (i: number) => ({ ...eve, customerId: `new-${i}`, vip: i, tracking_data: `t-${i}` }),
    later: { firstName: 'Eve', vip: 'gold' },
  },
  {
    resource: 'activities',
    perInsert: 2,
    first: (i: number) => ({ ...day, eventid: `new-${i}`, customerid: `p-${i % 300}` }),
    later: { GGR: '11.00' },
  },
]

describe.each(resources)('$resource', ({ resource, perInsert, first, later }) => {
  test('a bulk costs one round trip and a fixed number of rows per record', async () => {
    const acme = await busy()
    const created = many(first)
    const updated = created.map((record) => ({ ...record, ...later }))
    for (const [records, summary, perRecord] of [
      [created, { created: N }, perInsert],
      [updated, { updated: N }, 1],
      [updated, { unchanged: N }, 0],
    ] as const) {
      const seen = await post(acme, resource, records)
      expect(await seen.response.json()).toMatchObject({ summary })
      expect([seen.trips, seen.calls]).toEqual([1, ['admit']])
      expect(seen.rowsWritten).toBeLessThanOrEqual(perRecord * N + CONSTANT)
      expect(seen.rowsRead).toBeLessThanOrEqual(20 * N)
    }
  })
})

test('every brand request costs one round trip and one object call', async () => {
  const acme = await brand()
  await acme.post('customers', eve)
  // Two statements bind its rows.
  const huge = many(
    (i) => ({ ...deposited, eventid: `h-${i}`, customerid: 'p-1', note: '€'.repeat(2600) }),
    250,
  )
  const twice = many((i) => ({ ...deposited, eventid: `${i % 10}`, Value: i }), 100)
  for (const [path, body, headers] of [
    ['activities', huge, {}],
    ['activities?dry_run=true', huge, {}],
    ['activities', twice, { 'Idempotency-Key': 'k' }],
    // Without its key, which other records have used, this record would move.
    [
      'activities',
      [{ ...deposited, eventid: '1', createtime: day.createtime }],
      { 'Idempotency-Key': 'k' },
    ],
    ['activities', [{}], {}],
    ['activities', [deposited, {}], { Prefer: 'handling=lenient' }],
    ['customers', many((i) => ({ customerId: `${i % 10}`, n: i }), 100), {}],
  ] as const) {
    const seen = await post(acme, path, body, headers)
    expect([path, seen.trips, seen.calls]).toEqual([path, 1, ['admit']])
    expect(seen.response.status).toBeLessThan(500)
  }
})

test('a held event costs one extra row, and its release reads only held rows', async () => {
  const acme = await busy()
  const held = await post(
    acme,
    'activities',
    many((i) => ({ ...day, eventid: `h-${i}`, customerid: `late-${i}` })),
  )
  expect(await held.response.json()).toMatchObject({ summary: { held: N } })
  expect(held.rowsWritten).toBeLessThanOrEqual(3 * N + CONSTANT)
  const released = await post(
    acme,
    'customers',
    many((i) => ({ ...eve, customerId: `late-${i}` })),
  )
  expect(await released.response.json()).toMatchObject({ summary: { created: N } })
  expect(held.rowsWritten + released.rowsWritten).toBeLessThanOrEqual((3 + 3) * N + 2 * CONSTANT)
  expect(released.rowsRead).toBeLessThanOrEqual(20 * N)
  expect((await json(acme.get('held'))).meta.total).toBe(0)
})

test('the cost of a customer does not depend on the stored events', async () => {
  const acme = await brand({ account: 'acme-with-events' })
  const stored = (held: number, from: number, n: number) =>
    env.DB.prepare(
      `insert into events (account, id, eventname, customer_id, record, day, first_day, held,
         delivery, idx, revision)
       select ?1, 'e ' || value, 'Bet', 'p-' || (value % 1000), '{}', 20728, 20728,
         ?2, 'd', 0, 1 from json_each(?3)`,
    )
      .bind(acme.account, held, JSON.stringify(Array.from({ length: n }, (_, i) => from + i)))
      .run()
  await stored(0, 100_000, 10_000)
  await stored(1, 200_000, 3000)
  await env.DB.prepare(
    "insert into totals (account, resource, total, held) values (?, 'activities', 0, 3000)",
  )
    .bind(acme.account)
    .run()
  const single = await post(acme, 'customers', { customerId: 'p-7' })
  expect(single.response.status).toBe(201)
  // Of the customer's three held events the earliest time is read, too: they have no `regtime`.
  expect(single.rowsRead).toBeLessThanOrEqual(75)
  const replay = await post(acme, 'customers', { customerId: 'p-7' })
  expect(replay.rowsRead).toBeLessThanOrEqual(60)
  const all = await post(
    acme,
    'customers',
    many((i) => ({ customerId: `p-${i}` }), 1000),
  )
  expect(all.rowsRead).toBeLessThanOrEqual(28 * 1000)
  const countHeld = () =>
    env.DB.prepare('select count(*) as n from events where held = 1').first('n')
  await expect.poll(countHeld, { timeout: 15_000 }).toBe(0)
})

test('the fields of a customer are counted only where they could be too many', async () => {
  const acme = await brand()
  const sent = (customers: number, count: number, from = 0) =>
    many(
      (i) => ({
        customerId: `p-${i}`,
        ...Object.fromEntries(Array.from({ length: count }, (_, f) => [`f${from + f}`, '1'])),
      }),
      customers,
    )
  await post(acme, 'customers', sent(100, 64))
  const few = await post(acme, 'customers', sent(100, 64))
  expect(few.rowsRead).toBeLessThanOrEqual(20 * 100)
  for (const from of [64, 128, 192]) await post(acme, 'customers', sent(100, 64, from))
  const replays = await Promise.all(
    [50, 100].map(async (count) => (await post(acme, 'customers', sent(count, 64))).rowsRead),
  )
  // Both forms of the batch and the search for undecided records count the stored fields; the look
  // reads them.
  expect(replays[1]).toBeLessThanOrEqual(100 * (4 * 256 + 40))
  expect(replays[1]! / replays[0]!).toBeCloseTo(2, 1)
})

test('details cost no more rows unless the account has erasures', async () => {
  const acme = await busy()
  const other = await brand({ account: 'erased' })
  await other.post(
    'customers',
    many((i) => ({ ...eve, customerId: `p-${i}` }), 300),
  )
  await askAdmin('accounts/erased/customers/p-7/personal-data', 'DELETE')
  const bulk = (name: string, more: object) =>
    many((i) => ({
      ...{ ...deposited, eventid: `${name}-${i}`, customerid: `p-${i % 300}` },
      ...more,
    }))
  const plain = await post(acme, 'activities', bulk('plain', {}))
  const detailed = await post(acme, 'activities', bulk('detailed', { method: 'card' }))
  const masked = await post(other, 'activities', bulk('masked', { method: 'card' }))

  expect(detailed.rowsWritten).toBe(plain.rowsWritten)
  expect(detailed.rowsRead).toBeLessThanOrEqual(plain.rowsRead)
  expect([masked.trips, masked.rowsWritten]).toEqual([1, plain.rowsWritten])
  expect(masked.rowsRead).toBeLessThanOrEqual(plain.rowsRead + 5 * N)
})

test('a page of activities and their totals read only the rows they show', async () => {
  const acme = await busy()
  const get = (path: string) =>
    countCalls(`/tracking/events/${path}`, { headers: { 'x-api-key': acme.brand_token } })
  const page = await get('activities?per_page=200')
  expect(page.rowsRead).toBeLessThanOrEqual(6 * 200 + 20)
  await acme.post(
    'activities',
    many((i) => ({ ...day, eventid: `d-${i}`, customerid: 'p-1', createtime: '2026-11-05' }), 100),
  )
  const days = await get('totals?from=2026-11-01&to=2026-11-30')
  // To find the end of the step; the table and the sort; and both again with the four KPIs.
  expect(days.rowsRead).toBeLessThanOrEqual(13 * 100)
  expect((await json(askAdmin('feeds'))).data).toHaveLength(2)
})

describe('when D1 fails', () => {
  const bet = { eventname: 'Bet', customerid: 'p-1', createtime: '2026-10-02 10:00', Value: 1 }
  const bodies = [
    // The records of one event are merged: each has the outcome of the stored one.
    { path: 'activities', body: [bet, bet, deposited, { ...deposited, Value: 2 }, day], stored: 4 },
    { path: 'customers', body: [eve, { ...eve, vip: 1 }, { customerId: 'p-2' }], stored: 2 },
  ]
  const at = async (world: ReturnType<typeof faulty>, acme: Brand, path: string, body: unknown) => {
    const url = `https://api.example/tracking/events/${path}`
    return fetchWith(world.env, new Request(url, request(acme, body)))
  }

  test.each(
    bodies.flatMap((request) => [
      { ...request, after: false, fault: 'before' },
      { ...request, after: true, fault: 'after' },
    ]),
  )(
    'a fault $fault the write of $path never loses or doubles records',
    async ({ path, body, stored, after }) => {
      for (const message of CURABLE) {
        const acme = await brand({ account: `a-${Math.random().toString(36).slice(2)}` })
        if (path === 'activities') await acme.post('customers', eve)
        const response = await at(faulty([{ message, after }]), acme, path, body)
        expect(response.status).toBe(200)
        const { summary } = await json(response)
        expect(summary).toMatchObject({ received: body.length, created: body.length, updated: 0 })
        expect((await json(acme.get(path))).meta.total).toBe(stored)
      }
    },
  )

  test('a lasting fault is 503, and an Idempotency-Key makes the retry safe', async () => {
    const acme = await brand()
    await acme.post('customers', eve)
    const send = (world: { env: Env }) =>
      fetchWith(
        world.env,
        new Request(
          'https://api.example/tracking/events/activities',
          request(acme, [bet, bet], { 'Idempotency-Key': 'k' }),
        ),
      )
    for (const [message, faults] of [
      [CURABLE[0]!, 3],
      [OVERLOAD[0]!, 1],
    ] as const) {
      const world = faulty(Array.from({ length: faults }, () => ({ message, after: true })))
      const response = await send(world)
      expect([response.status, world.seen.tries]).toEqual([503, faults])
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
    }
    expect((await json(send({ env: env as Env }))).summary).toMatchObject({ unchanged: 2 })
    expect((await json(acme.get('activities'))).meta.total).toBe(2)
  })
})
