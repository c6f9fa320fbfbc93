import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { copyRows } from './copies.ts'
import { ada, deposit, partner, traded } from './partner.ts'
import { countCalls } from './watched.ts'

// The cost of requests as D1 counts it: the sum of `meta` over all statements of the real batch.

type Partner = Awaited<ReturnType<typeof partner>>

/** The records of a bulk, which costs the same for each record; and those that are stored. */
const N = 300
const STORED = 2000
/** The most rows of one request beside its records: the delivery, its count, the total of a list. */
const CONSTANT = 6

const post = (acme: Partner, path: string, body: unknown, headers = {}) =>
  countCalls(`/api/v1/${acme.vertical}/${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${acme.access_token}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })

const get = (acme: Partner, path: string) =>
  countCalls(`/api/v1/${acme.vertical}/${path}`, {
    headers: { Authorization: `Bearer ${acme.access_token}` },
  })

const many = (make: (i: number) => object) => Array.from({ length: N }, (_, i) => make(i))

const resources = [
  {
    // With a row that finds the customer by the affiliate.
    resource: 'customers',
    perInsert: 3,
    first: (i: number) => ({ ...ada, customer_id: `c-${i}` }),
    later: { first_name: 'Ada' },
  },
  {
    resource: 'transactions',
    perInsert: 2,
    first: (i: number) => ({ ...deposit, transaction_id: `t-${i}`, customer_id: `c-${i % 300}` }),
    later: { status: 'reversed' },
  },
  {
    resource: 'trading-activity',
    perInsert: 1,
    first: (i: number) => ({ ...traded, customer_id: `c-${i % 300}`, instrument: `i-${i}` }),
    later: { lots_traded: 2 },
  },
]

/** Creates two accounts with many stored records, so that a table scan exceeds the row limits. */
const busy = async () => {
  const acme = await partner()
  const other = await partner('forex', { account: 'other' })
  for (const account of [acme, other]) {
    await account.post('customers', { ...ada, customer_id: 'c-0' })
    await account.post('transactions', { ...deposit, transaction_id: 'x-0', customer_id: 'c-0' })
    await account.post('trading-activity', { ...traded, customer_id: 'c-0', instrument: 'x-0' })
  }
  await copyRows('customers', 299, { customer_id: `'c-' || n.value` })
  await copyRows('transactions', STORED - 1, {
    transaction_id: `'x-' || n.value`,
    customer_id: `'c-' || (n.value % 300)`,
  })
  await copyRows('activity', STORED - 1, { customer_id: `'c-1'`, instrument: `'x-' || n.value` })
  return acme
}

describe.each(resources)('$resource', ({ resource, perInsert, first, later }) => {
  test('a bulk costs one round trip and a fixed number of rows per record', async () => {
    const acme = await busy()
    const created = many((i) => first(i + 300))
    const updated = created.map((record) => ({ ...record, ...later }))
    if (resource !== 'customers') {
      await acme.post(
        'customers',
        many((i) => ({ ...ada, customer_id: `c-${i}` })),
      )
    }
    for (const [records, summary, perRecord] of [
      [created, { created: N }, perInsert],
      [updated, { updated: N }, 1],
      [updated, { unchanged: N }, 0],
    ] as const) {
      const seen = await post(acme, resource, records)

      expect(await seen.response.json()).toMatchObject({ summary })
      expect(seen.trips).toBe(1)
      expect(seen.calls).toEqual(['admit'])
      expect(seen.rowsWritten).toBeLessThanOrEqual(perRecord * N + CONSTANT)
      expect(seen.rowsRead).toBeLessThanOrEqual(20 * N)
    }
  })
})

test('a bulk looks up no customer twice, however many of its records name them', async () => {
  const acme = await busy()
  const rowsReadFor = async (customers: number) => {
    const records = many((i) => ({
      ...deposit,
      transaction_id: `t-${customers}-${i}`,
      customer_id: `c-${i % customers}`,
    }))
    const { response, rowsRead } = await post(acme, 'transactions', records)
    expect(await response.json()).toMatchObject({ summary: { created: N } })
    return rowsRead
  }

  // For each customer D1 reads three rows: one of the parameter and one of the table to find them, and
  // another one of the table for their signup.
  expect((await rowsReadFor(N)) - (await rowsReadFor(3))).toBe(3 * (N - 3))
})

test('a bulk whose records all lie before the signup of their customer reads a fixed number of rows per record', async () => {
  const acme = await partner()
  const customers = many((i) => ({
    ...ada,
    customer_id: `c-${i}`,
    signup_date: '2026-10-03T08:30:00.000Z',
  }))
  await acme.post('customers', customers)
  const records = many((i) => ({ ...deposit, transaction_id: `t-${i}`, customer_id: `c-${i}` }))
  const seen = await post(acme, 'transactions', records)

  const { results } = await seen.response.json<{ results: { warnings: { code: string }[] }[] }>()
  expect(results.map(({ warnings }) => warnings.map(({ code }) => code))).toEqual(
    many(() => ['before_signup']),
  )
  expect(seen.rowsRead).toBeLessThanOrEqual(20 * N)
})

test('a single record costs one round trip and a few rows', async () => {
  const acme = await busy()
  const seen = await post(acme, 'transactions', { ...deposit, customer_id: 'nobody' })
  expect([seen.response.status, seen.trips, seen.calls]).toEqual([422, 1, ['admit']])

  const stored = await post(acme, 'transactions', { ...deposit, customer_id: 'c-7' })
  expect([stored.response.status, stored.trips, stored.calls]).toEqual([201, 1, ['admit']])
  expect(stored.rowsWritten).toBeLessThanOrEqual(2 + CONSTANT)
  expect(stored.rowsRead).toBeLessThanOrEqual(60)
})

describe('the storage quota and the budget of the log', () => {
  const HOURS = 30 * 24
  const RESOURCES = 5
  /** Fills the counts of 30 days, which the hourly job has added up to this hour. */
  const monthOf = async (account: string, { bytes = 0, logged_bytes = 0 } = {}) => {
    const hour = Math.floor(Date.now() / 3_600_000)
    await env.DB.prepare(
      `insert into arrivals (account, hour, resource, deliveries, received, refused, last_at,
         yesterday, today, logged_bytes)
       select ?1, ?2 - h.value, 'r-' || r.value, 1, 1, 0, 0, 0, 0, ?3
       from json_each(?4) h cross join json_each(?5) r`,
    )
      .bind(
        account,
        hour,
        logged_bytes,
        JSON.stringify(Array.from({ length: HOURS }, (_, i) => i)),
        JSON.stringify(Array.from({ length: RESOURCES }, (_, i) => i)),
      )
      .run()
    await env.DB.prepare('insert into storage (account, bytes, until_hour) values (?, ?, ?)')
      .bind(account, bytes, hour)
      .run()
  }

  test('a single record reads the counts of this hour only', async () => {
    const acme = await busy()
    const first = await post(acme, 'transactions', { ...deposit, transaction_id: 'f' })
    await monthOf(acme.account)
    const seen = await post(acme, 'transactions', { ...deposit, customer_id: 'c-7' })

    expect([seen.response.status, seen.trips]).toEqual([201, 1])
    expect(seen.rowsWritten).toBe(first.rowsWritten)
    expect(seen.rowsRead - first.rowsRead).toBeLessThanOrEqual(RESOURCES + 5)
  })

  test('a refused request reads the counts of one day, and beyond the budget leaves no row', async () => {
    const acme = await busy()
    await monthOf(acme.account, { logged_bytes: 16 * 1024 ** 2 })
    const seen = await post(acme, 'transactions', [{}])

    expect([seen.response.status, seen.trips]).toEqual([422, 1])
    expect(seen.rowsWritten).toBeLessThanOrEqual(3)
    expect(seen.rowsRead).toBeLessThanOrEqual(2 * 24 * (RESOURCES + 3) + 20)
  })

  test('a request beyond the quota costs two round trips and leaves no row', async () => {
    const acme = await busy()
    await monthOf(acme.account, { bytes: 4 * 1024 ** 3 })
    // Measured just now: otherwise the first refused request has the account measured.
    await env.DB.prepare('update storage set measured_at = ?1').bind(Date.now()).run()
    for (const name of ['new', 'x']) {
      // Those of `x` are stored, and move to another customer.
      const records = many((i) => ({
        ...deposit,
        transaction_id: `${name}-${i}`,
        customer_id: `c-${(i + 1) % 300}`,
      }))
      const seen = await post(acme, 'transactions', records)

      expect([seen.response.status, seen.calls]).toEqual([403, ['admit']])
      // The second one finds out whether anything would be written. The first request of a minute also
      // reads when the account was measured.
      expect(seen.trips).toBeLessThanOrEqual(3)
      expect(seen.rowsWritten).toBeLessThanOrEqual(5)
      expect(seen.rowsRead).toBeLessThanOrEqual(30 * N)
    }
  })
})

test('a request in which no record moves costs one round trip', async () => {
  const acme = await partner()
  await acme.post('customers', { ...ada, customer_id: 'c-1' })
  const huge = many((i) => ({
    ...deposit,
    transaction_id: `h-${i}`,
    customer_id: 'c-1',
    note: '€'.repeat(500),
    status: '€'.repeat(500),
  }))
  const lenient = { Prefer: 'handling=lenient' }

  expect(await post(acme, 'transactions', huge)).toMatchObject({ trips: 1 })
  expect(await post(acme, 'transactions', [deposit, ...huge], lenient)).toMatchObject({ trips: 1 })
  expect(await post(acme, 'transactions?dry_run=true', huge)).toMatchObject({ trips: 1 })
  expect(await post(acme, 'transactions', [{}])).toMatchObject({ trips: 1 })
})

describe('records that move', () => {
  test('transactions that move to another day and customer cost two round trips', async () => {
    const acme = await busy()
    const moved = many((i) => ({
      ...deposit,
      transaction_id: `x-${i}`,
      customer_id: `c-${(i + 1) % 300}`,
      transaction_date: '2026-10-20T00:00:00Z',
    }))
    const seen = await post(acme, 'transactions', moved)

    expect(await seen.response.json()).toMatchObject({ summary: { updated: N } })
    expect([seen.trips, seen.calls]).toEqual([2, ['admit']])
    expect(seen.rowsWritten).toBeLessThanOrEqual(2 * N + CONSTANT)
    expect(seen.rowsRead).toBeLessThanOrEqual(25 * N)
    expect(await post(acme, 'transactions', moved)).toMatchObject({ trips: 1 })
  })

  test('customers that move to another day cost two round trips', async () => {
    const acme = await busy()
    const moved = Array.from({ length: 300 }, (_, i) => ({
      ...ada,
      customer_id: `c-${i}`,
      signup_date: '2026-10-20T00:00:00Z',
    }))
    const seen = await post(acme, 'customers', moved)

    expect(await seen.response.json()).toMatchObject({ summary: { updated: 300 } })
    expect([seen.trips, seen.calls]).toEqual([2, ['admit']])
    expect(seen.rowsWritten).toBeLessThanOrEqual(2 * 300 + CONSTANT)
  })

  test('one moved record does not raise the cost of the others', async () => {
    const acme = await busy()
    const records = many((i) => ({
      ...deposit,
      transaction_id: `x-${i}`,
      customer_id: `c-${i % 300}`,
      status: 'reversed',
      ...(i === 7 && { transaction_date: '2026-10-20T00:00:00Z' }),
    }))
    const seen = await post(acme, 'transactions', records)

    expect(await seen.response.json()).toMatchObject({ summary: { updated: N } })
    expect(seen.trips).toBe(2)
    expect(seen.rowsWritten).toBeLessThanOrEqual(N + 2 + CONSTANT)
    expect(seen.rowsRead).toBeLessThanOrEqual(20 * N)
  })

  test('a moved record that is not stored costs no second round trip', async () => {
    const acme = await partner()
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-9' }])
    await acme.post('transactions', { ...deposit, transaction_id: 'x-1' })
    const moved = { ...deposit, transaction_id: 'x-1', customer_id: 'c-9' }
    expect(await post(acme, 'transactions?dry_run=true', moved)).toMatchObject({ trips: 1 })
    expect(await post(acme, 'transactions', [moved, {}])).toMatchObject({ trips: 1 })
    const unknown = { ...deposit, transaction_id: 'new', customer_id: 'nobody' }
    expect(await post(acme, 'transactions', [moved, unknown])).toMatchObject({ trips: 1 })
    const lenient = { Prefer: 'handling=lenient' }
    expect(await post(acme, 'transactions', [moved, unknown], lenient)).toMatchObject({ trips: 2 })
  })
})

test('a held transaction costs one extra row, and its release reads only held rows', async () => {
  const acme = await partner('forex', { unknown_customer: 'hold' })
  await acme.post('customers', { ...ada, customer_id: 'known-0' })
  await acme.post('transactions', { ...deposit, transaction_id: 'a-0', customer_id: 'known-0' })
  await copyRows('customers', N - 1, { customer_id: `'known-' || n.value` })
  await copyRows('transactions', 3 * N - 1, {
    transaction_id: `'a-' || n.value`,
    customer_id: `'known-' || (n.value % ${N})`,
  })
  const held = await post(
    acme,
    'transactions',
    many((i) => ({ ...deposit, transaction_id: `t-${i}`, customer_id: `c-${i}` })),
  )
  expect(await held.response.json()).toMatchObject({ summary: { held: N } })
  expect(held.rowsWritten).toBeLessThanOrEqual(3 * N + CONSTANT)

  const released = await post(
    acme,
    'customers',
    many((i) => ({ ...ada, customer_id: `c-${i}` })),
  )
  expect(await released.response.json()).toMatchObject({ summary: { created: N } })
  expect(held.rowsWritten + released.rowsWritten).toBeLessThanOrEqual((3 + 4) * N + 2 * CONSTANT)
  expect(released.rowsRead).toBeLessThanOrEqual(20 * N)
})

test('the cost of a customer does not depend on the stored transactions', async () => {
  const acme = await partner()
  await env.DB.prepare(
    `insert into transactions (account, transaction_id, customer_id, transaction_type,
       amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
     select ?1, 't-' || value, 'c-' || (value % 1000), 'deposit', 1, 'EUR', 1790899200000,
       'ok', 20728, 0, 'd', 0, 1 from json_each(?2)`,
  )
    .bind(acme.account, JSON.stringify(Array.from({ length: 10_000 }, (_, i) => i)))
    .run()
  for (const status of [201, 200]) {
    const seen = await post(acme, 'customers', ada)
    expect(seen.response.status).toBe(status)
    expect(seen.rowsRead).toBeLessThanOrEqual(60)
  }
})

describe('reading', () => {
  test('an unfiltered page reads only the rows it shows at any depth', async () => {
    const acme = await busy()
    let cursor: string | null = ''
    for (let i = 0; i < 5 && cursor !== null; i++) {
      const query = cursor ? `cursor=${cursor}` : 'per_page=200'
      const seen = await get(acme, `transactions?${query}`)
      cursor = (await seen.response.json<{ meta: { next_cursor: string } }>()).meta.next_cursor

      expect(seen.trips).toBe(1)
      expect(seen.rowsRead).toBeLessThanOrEqual(6 * 200 + 20)
    }
  })

  test('a filtered page also reads only the matching index entries', async () => {
    const acme = await busy()
    await acme.post(
      'transactions',
      Array.from({ length: 300 }, (_, i) => ({
        ...deposit,
        transaction_id: `t-${i}`,
        customer_id: 'c-7',
        transaction_date: '2026-11-01T00:00:00Z',
      })),
    )
    const matches = 300
    for (const filter of ['from=2026-11-01', 'customer_id=c-299&to=2026-10-31']) {
      const seen = await get(acme, `transactions?${filter}&per_page=20`)
      expect(seen.rowsRead).toBeLessThanOrEqual(3 * matches + 7 * 20)
    }
    const days = await get(acme, 'totals?from=2026-11-01&to=2026-11-30')
    expect(days.rowsRead).toBeLessThanOrEqual(3 * matches + 50)
  })

  test('reading one record by its key reads one row', async () => {
    const acme = await busy()

    expect((await get(acme, 'transactions/x-500')).rowsRead).toBe(1)
  })
})
